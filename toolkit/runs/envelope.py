"""The envelope of every run: safe mode, suspended, lease, row, heartbeat, items, outcome (DESIGN section 1).

    with envelope.start(request) as run:
        run.record(Step(intended=...))                 # before the effects of a batch
        run.check()                                    # before each of them
        run.record(Step(settled=..., events=...))      # after them

A body that raises ends its run: FAILED, or KILLED when it was `Stopped`.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass

from toolkit.errors import Skipped
from toolkit.ledger.runs.attempts import StartRequest
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.active_run import ActiveRun
from toolkit.runs.audit import AuditTrail
from toolkit.runs.audit_lines import run_line
from toolkit.runs.deadline import Deadline, MonotonicClock, machine_clock
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.lifeline import Lifeline
from toolkit.runs.recorder import RecordedRun, Recorder


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """Starts runs.

    Attributes:
        recorder: writes them down.
        audit: gets a line for all that they do.
        process: the lifeline of the whole process.
        heartbeat: keeps them alive.
        lease_seconds: so long their leases should last without a sign of life.
        clock: that deadlines are measured by.
    """

    recorder: Recorder
    audit: AuditTrail
    process: Lifeline
    heartbeat: Heartbeat
    lease_seconds: float
    clock: MonotonicClock = machine_clock

    @property
    def place(self) -> str | None:
        """The ledger's URL without its password; None: the user chose to do without."""
        return self.recorder.place

    def start(self, request: StartRequest) -> ActiveRun:
        """Start a run; use it as a context manager.

        Raises:
            Skipped: something stands against it.
            Stopped: the process must not start anything more.
            Unavailable: the ledger cannot be used.
        """
        self.process.check()
        deadline = Deadline(seconds=request.lease_seconds, clock=self.clock)
        recorded = self.recorder.start(request)
        if recorded.lease_seconds is None:
            deadline = Deadline(seconds=math.inf, clock=self.clock)
        run = ActiveRun(
            recorded=recorded,
            recorder=self.recorder,
            audit=self.audit,
            process=self.process,
            deadline=deadline,
            heartbeat=self.heartbeat,
        )
        with ExitStack() as undo:
            undo.push(run.__exit__)
            run.begin()
            undo.pop_all()
        return run

    def skip(self, request: StartRequest, skipped: Skipped) -> RecordedRun:
        """Write down that a run was not started, and why.

        Raises:
            Stopped: it cannot be written down.
            Unavailable: the ledger cannot be used.
        """
        recorded = self.recorder.skip(request, skipped)
        self.audit.write([run_line(recorded, RunStatus.SKIPPED.value, str(skipped))])
        return recorded
