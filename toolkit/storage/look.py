"""A removal that relies on what was seen a moment ago: a directory that held nothing but what is to go (ADR 0021)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.errors import StopRequested

LOOK_SECONDS = 2.0
"""So long what was seen is relied on: a listing of some thousand names takes less, and it is no time to write much."""


class LookTooOld(StopRequested):
    """Error for a listing that is too old to rely on; nothing was sent."""

    def __init__(self) -> None:
        super().__init__(f"what was seen is older than {LOOK_SECONDS:g} s")


@dataclass(kw_only=True)
class Look:
    """A look, and the removal that relies on it; given to `FileSystem.delete`. Used by one thread.

    Its age is counted from `begin`: what comes into the first of many directories while the last is listed counts too.

    Attributes:
        before_effect: asked instead of the store's own hook: the caller has waited for the store's rate before.
        now: seconds of a clock that only goes forward.
    """

    before_effect: Callable[[], None]
    now: Callable[[], float] = time.monotonic
    _began: float = field(default=float("-inf"), init=False)

    def begin(self) -> None:
        """Look from now on."""
        self._began = self.now()

    def let_through(self) -> None:
        """Return when the removal may be sent; called by the store just before it is.

        Raises:
            LookTooOld: what was seen must not be relied on any more; nothing was sent.
            StopRequested: what `before_effect` raises.
        """
        self.before_effect()
        if self.now() - self._began > LOOK_SECONDS:
            raise LookTooOld
