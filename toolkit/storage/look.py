"""A removal that relies on what was seen a moment ago: a directory that held nothing but what is to go (ADR 0021)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.errors import StopRequested
from toolkit.storage.errors import Unreachable

LOOK_SECONDS = 2.0
"""So long what was seen is relied on: a listing of some thousand names takes less, and it is no time to write much."""


class LookAgain(StopRequested):
    """Error for a listing that is too old, or a removal that **may still happen**: look before repeating it.

    Args:
        why: which of the two.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"look again: {why}")


@dataclass(kw_only=True)
class Look:
    """A look, and the removal that relies on it; given to `FileSystem.delete`. Used by one thread.

    Its age is counted from `begin`: what comes into the first of many directories while the last is listed counts too.

    Attributes:
        before_effect: asked instead of the store's own hook: whoever looks has waited for the store's rate before.
        now: seconds of a clock that only goes forward.
        too_late: so often it was too old when the removal was about to be sent.
        is_unanswered: a removal was sent and not answered, so that it may still happen.
        wait: waits before a store that does not answer is asked again; the store sets it, and knows how long it has.
    """

    before_effect: Callable[[], None]
    now: Callable[[], float] = time.monotonic
    too_late: int = field(default=0, init=False)
    is_unanswered: bool = field(default=False, init=False)
    wait: Callable[[Unreachable], None] | None = field(default=None, init=False)
    _began: float = field(default=float("-inf"), init=False)

    def begin(self) -> None:
        """Look from now on."""
        self._began = self.now()

    @property
    def is_old(self) -> bool:
        """Whether what was seen must not be relied on any more."""
        return self.now() - self._began > LOOK_SECONDS

    def let_through(self) -> None:
        """Return when the removal may be sent; called by the store just before it is.

        Raises:
            LookAgain: what was seen is too old by now; nothing was sent.
            StopRequested: what `before_effect` raises.
        """
        self.before_effect()
        if self.is_old:
            self.too_late += 1
            raise LookAgain(why=f"what was seen is older than {LOOK_SECONDS:g} s")
