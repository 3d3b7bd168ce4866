"""Errors that stop a run, and those without which it cannot go on."""

from __future__ import annotations

from typing import ClassVar

from toolkit.errors import StopRequested, Unavailable
from toolkit.result import ExitCode, Status


class Stopped(StopRequested):
    """The run was told to stop; no new effect may start (DESIGN section 1, Life and death of a run).

    Args:
        reason: who or what said so, in words.
        interrupted: Ctrl-C rather than a termination.

    Attributes:
        status: of a result that ends so.
        ends_process: whether all runs of the process end, and not only the one that was asked.
    """

    code: ClassVar[str] = "stopped"
    status: ClassVar[Status] = Status.KILLED
    ends_process: ClassVar[bool] = True

    def __init__(self, *, reason: str, interrupted: bool = False) -> None:
        self.reason, self.interrupted = reason, interrupted
        super().__init__(f"stopped: {reason}; nothing more was touched, a rerun goes on from here")

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a process that ends so."""
        return ExitCode.INTERRUPTED if self.interrupted else self.status.exit_code


class RunKilled(Stopped):
    """The owner of the run was requested to end it (Falcon overview, Instance Management: kill).

    Args:
        who: asked.
    """

    code = "killed"
    ends_process = False

    def __init__(self, *, who: str) -> None:
        self.who = who
        super().__init__(reason=f"killed by {who}")


class ParentLost(Stopped):
    """The process that started this one has ended, as spark-submit after kill -9 or without memory.

    The signal was not meant for the run, so that it has failed and is tried again like any failure.

    Args:
        how: how that was noticed.
    """

    code = "parent_lost"
    status = Status.FAILED

    def __init__(self, *, how: str) -> None:
        self.how = how
        super().__init__(reason=f"its parent process has ended: {how}")


class LeaseExpired(Stopped):
    """The run may no longer own what it works on: it was paused, or cut off from the ledger, for too long.

    Args:
        why: what is known about it.
    """

    code = "lease_expired"
    status = Status.FAILED
    ends_process = False

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(reason=f"its lease is lost, another run may work on the same ({why})")


class PauseRequested(StopRequested):
    """The run is asked to pause, and something that does not rest by itself must be called off first."""


class RecordLost(Stopped):
    """Error: the effects of the run can no longer be recorded, so it must not go on (DESIGN section 6)."""

    code = "record_lost"
    status = Status.FAILED


class LedgerLost(RecordLost):
    """The ledger cannot be used any more, in the middle of a run.

    Args:
        why: the ledger's own message.
        may_return: it is only away; a run waits for it as long as its lease lasts, see `LedgerPatience`.
    """

    code = "ledger_lost"

    def __init__(self, *, why: str, may_return: bool = False) -> None:
        self.why, self.may_return = why, may_return
        super().__init__(reason=f"{why}; what was done until then is in the audit file")


class AuditLost(RecordLost):
    """The audit file cannot be written any more, in the middle of a run.

    Args:
        place: the file.
        why: what the operating system said.
    """

    code = "audit_lost"

    def __init__(self, *, place: str, why: str) -> None:
        self.place, self.why = place, why
        super().__init__(reason=f"the audit file {place} cannot be written any more: {why}")


class AuditUnusable(Unavailable):
    """The audit file cannot be written, so that nothing may be changed.

    Args:
        place: the file.
        why: what is wrong with it.
    """

    code = "audit_unusable"

    def __init__(self, *, place: str, why: str) -> None:
        self.place, self.why = place, why
        todo = "nothing was touched; make it writable, or name another with `audit_file` in repo.yaml or FEEDCTL_AUDIT"
        super().__init__(f"the audit file {place} cannot be written: {why}; {todo}")
