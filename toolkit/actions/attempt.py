"""One rule for all actions: what an exception in the middle of an effect makes of the items that it is about."""

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
    from toolkit.el import CanonicalPath

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
    """

    code: str = ""
    message: str = ""
    refusal: Refusal | None = None
    names_item: bool = False

    def of(self, item: I) -> ItemResult[I]:
        """Return the result of an item that the effect was about."""
        if self.refusal is not None:
            return self.refusal.of(item)
        message = f"{item.uri}: {self.message}" if self.names_item else self.message
        return ItemResult.failed(item, self.code, message)


def attempted(
    work: RunContext, base: CanonicalPath, effect: Callable[[], R], *, failures: tuple[type[FeedctlError], ...]
) -> R | FailedAttempt:
    """Do an effect; return its result, or the reason for which it did not come to its end.

    A stop ends the run, and a store that does not answer is left alone from now on.

    Args:
        work: of the run.
        base: of the items; on the store that is asked whether it still answers.
        effect: asks the guard before each change.
        failures: errors with a code that are failures of the items; others end the run.
    """
    try:
        return effect()
    except CalledOff as called_off:
        return FailedAttempt(refusal=called_off.refusal)
    except Stopped as stopped:
        work.guard.stop(stopped)
        return FailedAttempt(code=INTERRUPTED, message=f"{stopped.reason}; the next run goes on", names_item=True)
    except Unreachable as error:
        work.guard.note_unanswered(work.stores(base), base)
        return FailedAttempt(code=error.code, message=str(error))
    except failures as error:
        is_away = isinstance(error, Unavailable)
        code = Unreachable.code if is_away else str(getattr(error, "code", "failed"))
        return FailedAttempt(code=code, message=str(error))
    except Unavailable as error:  # executors; what they have written is thrown away
        return FailedAttempt(code=Unreachable.code, message=str(error), names_item=True)
