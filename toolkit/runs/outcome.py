"""Outcome of a run whose body returned or raised."""

from __future__ import annotations

from toolkit.ledger.vocabulary import RunStatus
from toolkit.result import ExitCode, Status
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import RunOutcome

SUCCEEDED = RunOutcome(status=RunStatus.SUCCEEDED, exit_code=ExitCode.DONE.value)
"""Default outcome of a run."""


def outcome_of(error: BaseException) -> RunOutcome:
    """Return how a run ends whose body raised: killed when its end was requested, else failed."""
    if isinstance(error, Stopped):
        status = RunStatus.KILLED if error.status is Status.KILLED else RunStatus.FAILED
        return RunOutcome(status=status, reason=error.reason, exit_code=error.exit_code.value)
    if not isinstance(error, Exception):  # KeyboardInterrupt: a second Ctrl-C
        return RunOutcome(status=RunStatus.KILLED, reason="interrupted", exit_code=ExitCode.INTERRUPTED.value)
    return RunOutcome(status=RunStatus.FAILED, reason=f"{type(error).__name__}: {error}")
