"""How a run is told to stop."""

from __future__ import annotations

from toolkit.errors import FeedctlError


class Stopped(FeedctlError):  # noqa: N818 - not an error of anybody's: the run was told to stop
    """The run was told to stop; no new effect may start (DESIGN section 1, Life and death of a run).

    Args:
        reason: who or what said so, in words.
        interrupted: Ctrl-C rather than a termination.
    """

    def __init__(self, *, reason: str, interrupted: bool = False) -> None:
        self.reason, self.interrupted = reason, interrupted
        super().__init__(f"stopped: {reason}; nothing more was touched, a rerun goes on from here")
