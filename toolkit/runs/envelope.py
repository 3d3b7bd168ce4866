"""The envelope of every run: safe mode, suspended, lease, row, heartbeat, items, outcome (DESIGN section 1).

    with envelope.start(request) as run:
        run.record(Step(intended=...))                 # before the effects of a batch
        run.check()                                    # before each of them
        run.record(Step(settled=..., events=...))      # after them

A body that raises ends its run: FAILED, or KILLED when it was `Stopped`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby

from toolkit.errors import Skipped
from toolkit.ledger.database import in_chunks
from toolkit.ledger.runs.starting import StartRequest
from toolkit.ledger.vocabulary import RunStatus
from toolkit.runs.active_run import ActiveRun
from toolkit.runs.audit import AuditTrail
from toolkit.runs.audit_lines import run_line
from toolkit.runs.deadline import Deadline, MonotonicClock, machine_clock
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.lifeline import Lifeline
from toolkit.runs.recorder import RecordedRun, Recorder

_STARTS = 200
"""So many runs start in one transaction: enough to be quick, and others wait for the ledger for less than a second."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SkippedRun:
    """A run that did not start.

    Attributes:
        recorded: how that was written down.
        reason: what stands against it.
    """

    recorded: RecordedRun
    reason: Skipped


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
        deadline = self._deadline(request)
        run = self._active(self.recorder.start(request), deadline)
        with ExitStack() as undo:
            undo.push(run.__exit__)
            run.begin()
            undo.pop_all()
        return run

    def start_all(self, requests: Collection[StartRequest], stack: ExitStack) -> Iterator[ActiveRun | SkippedRun]:
        """Start many runs: those that nothing stands against with one transaction for a few hundred of them.

        Args:
            requests: in the order of the answers.
            stack: ends the runs.

        Yields:
            For each request its run, or what stands against it, which was written down.

        Raises:
            Stopped: the process must not start anything more.
            Unavailable: the ledger cannot be used.
        """
        for chunk in in_chunks(requests, _STARTS):
            self.process.check()
            deadlines = [self._deadline(request) for request in chunk]
            recorded = self.recorder.start_many(chunk)
            runs = [None if each is None else self._active(each, deadlines[n]) for n, each in enumerate(recorded)]
            for run in runs:
                if run is not None:
                    stack.push(run.__exit__)
            yield from self._begin_all(chunk, runs, stack)

    def _begin_all(
        self, requests: Sequence[StartRequest], runs: Sequence[ActiveRun | None], stack: ExitStack
    ) -> Iterator[ActiveRun | SkippedRun]:
        """In the order of the requests, as the lines of the audit file are."""
        for _, group in groupby(zip(requests, runs, strict=True), key=lambda pair: pair[1] is None):
            pairs = list(group)
            started = [run for _, run in pairs if run is not None]
            if not started:
                yield from (self._start_or_skip(request, stack) for request, _ in pairs)
                continue
            self.audit.write([run_line(run.recorded, RunStatus.RUNNING.value) for run in started])
            for run in started:
                self.heartbeat.add(run)
            yield from started

    def _start_or_skip(self, request: StartRequest, stack: ExitStack) -> ActiveRun | SkippedRun:
        try:
            return stack.enter_context(self.start(request))
        except Skipped as reason:
            return SkippedRun(recorded=self.skip(request, reason), reason=reason)

    def _deadline(self, request: StartRequest) -> Deadline:
        """To be made before the ledger is asked: its lease lasts from then on at least."""
        return Deadline(seconds=request.lease_seconds, clock=self.clock)

    def _active(self, recorded: RecordedRun, deadline: Deadline) -> ActiveRun:
        if recorded.lease_seconds is None:
            deadline = Deadline(seconds=math.inf, clock=self.clock)
        return ActiveRun(
            recorded=recorded,
            recorder=self.recorder,
            audit=self.audit,
            process=self.process,
            deadline=deadline,
            heartbeat=self.heartbeat,
        )

    def skip(self, request: StartRequest, skipped: Skipped) -> RecordedRun:
        """Write down that a run was not started, and why.

        Raises:
            Stopped: it cannot be written down.
            Unavailable: the ledger cannot be used.
        """
        recorded = self.recorder.skip(request, skipped)
        self.audit.write([run_line(recorded, RunStatus.SKIPPED.value, str(skipped))])
        return recorded
