"""Result of the items of an effect that raised an exception: one rule for all actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from toolkit.actions.guard import CalledOff, Refusal
from toolkit.actions.model import INTERRUPTED, I, ItemResult
from toolkit.errors import FeedctlError, Unavailable
from toolkit.runs.errors import Stopped
from toolkit.storage import Unreachable

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext

R = TypeVar("R")

UNKNOWN = frozenset({INTERRUPTED, Unreachable.code})
"""Codes of items whose effect is unknown: they stay open, and the next run recovers them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FailedAttempt:
    """An effect that did not come to its end.

    Attributes:
        code: stable.
        message: for people.
        refusal: the condition that called it off; None: it failed, or the run was stopped.
        names_item: the message lacks the item that it is about.
        error: with which it failed; None: it was stopped, called off, or executors were lost.
    """

    code: str = ""
    message: str = ""
    refusal: Refusal | None = None
    names_item: bool = False
    error: FeedctlError | None = None

    @property
    def was_stopped(self) -> bool:
        """True if the run was stopped or a condition called the effect off; else the attempt has failed."""
        return self.refusal is not None or self.code == INTERRUPTED

    def of(self, item: I) -> ItemResult[I]:
        """Return the result of an item that the effect was about."""
        if self.refusal is not None:
            return self.refusal.of(item)
        message = f"{item.uri}: {self.message}" if self.names_item else self.message
        return ItemResult.failed(item, self.code, message)


def attempted(
    work: RunContext, effect: Callable[[], R], *, failures: tuple[type[FeedctlError], ...]
) -> R | FailedAttempt:
    """Do an effect; return its result, or the reason for which it did not come to its end.

    A stop ends the run, and a store that does not answer is left alone from now on.

    Args:
        work: of the run.
        effect: asks the guard before each change.
        failures: errors with a code that are failures of the items; others end the run.
    """
    of_items: tuple[type[FeedctlError], ...] = (Unreachable, *failures)
    try:
        return effect()
    except CalledOff as called_off:
        return FailedAttempt(refusal=called_off.refusal)
    except Stopped as stopped:
        work.guard.stop(stopped)
        return FailedAttempt(code=INTERRUPTED, message=f"{stopped.reason}; the next run goes on", names_item=True)
    except of_items as error:
        return failure_of(work, error)
    except Unavailable as error:  # executors; what they have written is thrown away
        return FailedAttempt(code=Unreachable.code, message=str(error), names_item=True)


def failure_of(work: RunContext, error: FeedctlError) -> FailedAttempt:
    """Return the failure that an error is; when the store did not answer, it is left alone from now on."""
    if isinstance(error, Unreachable):
        work.guard.note_unanswered(work.stores(error.path), error.path)
    code = Unreachable.code if isinstance(error, Unavailable) else str(getattr(error, "code", "failed"))
    return FailedAttempt(code=code, message=str(error), error=error)
