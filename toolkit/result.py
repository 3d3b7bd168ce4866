"""Result of an action: typed outcomes per item, a status derived from them, the exit code (DESIGN section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum

SCHEMA_VERSION = 1
"""Version of every JSON document that feedctl prints; it rises when a key changes its meaning or goes."""


class ExitCode(IntEnum):
    """The process exit codes; a scheduler may rely on them."""

    DONE = 0
    """Done, or nothing to do."""
    FAILED = 1
    """Failed; for `feedctl lint`: findings."""
    INVALID = 2
    """Wrong usage, or an invalid entity; nothing was touched."""
    REFUSED = 3
    """A safety limit refused the run before its first effect."""
    PARTIAL = 4
    """Partly done; the failed items are named."""
    SKIPPED = 5
    """Suspended, in safe mode, or another run holds the lease."""
    BUG = 70
    """A bug in feedctl; a report file was written."""
    NOT_YET = 75
    """Inputs are missing; try again later."""
    INTERRUPTED = 130
    """Ctrl-C."""
    TERMINATED = 143
    """SIGTERM, or `feedctl instance kill`."""


class Outcome(StrEnum):
    """Outcome of one item of a plan."""

    PLANNED = "planned"
    """A dry run: it would be done."""
    DONE = "done"
    """The effect happened."""
    SKIPPED = "skipped"
    """On purpose not done; the reason says why."""
    FAILED = "failed"
    """Tried, or meant to be tried, and not done; the code says why."""


class Status(StrEnum):
    """Status of a run."""

    SUCCEEDED = "succeeded"
    """Everything planned was done, or there was nothing to do."""
    PARTIAL = "partial"
    """Some items were done, some failed."""
    FAILED = "failed"
    """Items failed and none was done."""
    INVALID = "invalid"
    """The input cannot be used; nothing was touched."""
    REFUSED = "refused"
    """A safety limit said no; nothing was touched."""
    SKIPPED = "skipped"
    """Not started: suspended, safe mode, or another run holds the lease; nothing was touched."""
    NOT_YET = "not_yet"
    """An input is not there yet; nothing was touched."""
    KILLED = "killed"
    """Stopped by a signal or a command."""

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a run that ended so."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Status.SUCCEEDED: ExitCode.DONE,
    Status.PARTIAL: ExitCode.PARTIAL,
    Status.FAILED: ExitCode.FAILED,
    Status.INVALID: ExitCode.INVALID,
    Status.REFUSED: ExitCode.REFUSED,
    Status.SKIPPED: ExitCode.SKIPPED,
    Status.NOT_YET: ExitCode.NOT_YET,
    Status.KILLED: ExitCode.TERMINATED,
}


def derive_status(outcomes: Iterable[Outcome]) -> Status:
    """The status that the outcomes of a run's items add up to; never counted by hand."""
    seen = set(outcomes)
    if Outcome.FAILED not in seen:
        return Status.SUCCEEDED
    return Status.PARTIAL if Outcome.DONE in seen else Status.FAILED
