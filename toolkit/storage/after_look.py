"""A removal that relies on a look: it follows at once and in one try, or whoever looked looks again (ADR 0021)."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from toolkit.storage.errors import Unreachable

LOOK_SECONDS = 2.0
"""So old a look may be when the request that relies on it is sent."""


class LookAgain(Exception):  # noqa: N818 - named for what is to be done; only who opened an `AfterLook` ever gets it
    """What was seen may have changed: nothing was sent, or what was sent had no answer and the waiting is over."""


@dataclass(kw_only=True)
class AfterLook:
    """A look and the removal that relies on it; while it is entered, it holds for the calls of this thread.

    The look begins when it is entered, and its age is counted from there: what comes into the first of many directories
    while the others are listed is not seen.

    Neither the listings nor the removal are repeated by `PatientFileSystem`: it waits and raises `LookAgain`. So does
    `seen_lately` when the run rested between the look and the request: for its turn (`delete_rate`), or suspended.

    Attributes:
        now: seconds of a clock that only goes forward.
        too_late: how often the look was too old.
        is_unanswered: a removal was sent and not answered, so that it **may still take effect**.
        has_had_turn: the removal has waited for its turn already, and was then called off.
        wait: waits after a call that was not answered, longer each time; raises its error when patience is over.
    """

    now: Callable[[], float] = time.monotonic
    too_late: int = 0
    is_unanswered: bool = False
    has_had_turn: bool = False
    wait: Callable[[Unreachable], None] | None = None
    _began: float = field(default=float("-inf"), init=False)
    _entered: Token[AfterLook | None] | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        self._began = self.now()
        self._entered = _CURRENT.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._entered is not None:
            _CURRENT.reset(self._entered)

    @property
    def is_old(self) -> bool:
        """Whether what was seen first may have changed too long ago."""
        return self.now() - self._began > LOOK_SECONDS

    def refuse_old(self) -> None:
        """Called last before the request is sent.

        Raises:
            LookAgain: the look is too old; the request must not be sent.
        """
        self.has_had_turn = True
        if self.is_old:
            self.too_late += 1
            raise LookAgain


_CURRENT: ContextVar[AfterLook | None] = ContextVar("after_look", default=None)


def current_look() -> AfterLook | None:
    """The one that this thread has entered."""
    return _CURRENT.get()


def has_had_turn() -> bool:
    """Whether the coming request has waited for its turn before; it need not do so again."""
    look = _CURRENT.get()
    return look is not None and look.has_had_turn


def seen_lately(before_effect: Callable[[], None]) -> Callable[[], None]:
    """What is called before every single change, with the age of the look as the last thing that is asked."""

    def checked() -> None:
        before_effect()
        look = _CURRENT.get()
        if look is not None:
            look.refuse_old()

    return checked
