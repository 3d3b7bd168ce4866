"""The run envelope: safe mode, suspended, lease, row, heartbeat, items, outcome (DESIGN sections 1 and 6).

    with envelope.start(request) as run:
        run.record(RecordBatch(intended=...))               # before the effects of a batch
        run.check()                                         # before each of them
        run.record(RecordBatch(settled=..., events=...))    # after them

A body that raises ends its run, see `outcome_of`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from types import TracebackType
from typing import Self

from toolkit.errors import Skipped
from toolkit.ledger.database import in_chunks
from toolkit.ledger.runs.items import Item, NewItem
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.runs.audit import AuditTrail
from toolkit.runs.audit_lines import (
    AuditLine,
    batch_line,
    intended_lines,
    left_over_line,
    run_line,
    settled_lines,
    taken_over_line,
)
from toolkit.runs.errors import AuditLost, LedgerLost, Stopped
from toolkit.runs.lease import Deadline, Heartbeat, MonotonicClock, RunCommands, machine_clock
from toolkit.runs.outcome import SUCCEEDED, outcome_of
from toolkit.runs.patience import LAST_SECONDS, LedgerPatience
from toolkit.runs.recorder import RecordBatch, RecordedRun, Recorder, RunOutcome, SettledLeftOver
from toolkit.runs.stop import RunStop, StopSignal

_LOG = logging.getLogger(__name__)


@dataclass(kw_only=True, eq=False)
class ActiveRun:
    """A run that was started: the `StopSignal` of its effects, and a context manager that writes its outcome.

    Attributes:
        recorded: which run it is.
        recorder: writes it down.
        audit: is on the disk before the effects of a batch begin, and after their outcomes are known.
        process: the stop signal of the whole process.
        deadline: of its lease.
        heartbeat: keeps the lease, and brings what is asked of the run.
        orders: what is asked of it.
    """

    recorded: RecordedRun
    recorder: Recorder
    audit: AuditTrail
    process: StopSignal
    deadline: Deadline
    heartbeat: Heartbeat
    orders: RunCommands = field(default_factory=RunCommands)
    _line: RunStop = field(init=False)
    _intended: dict[int, NewItem] = field(default_factory=dict, init=False)
    _is_over: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._line = RunStop(
            process=self.process,
            deadline=self.deadline,
            orders=self.orders,
            beat=self.heartbeat.beat,
            pause=self._pause,
            go_on=self._go_on,
        )

    @property
    def patiently(self) -> LedgerPatience:
        """The waiting for the ledger as long as the run's lease lasts."""
        return LedgerPatience(deadline=self.deadline, check=self.process.check)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.finish(SUCCEEDED if error is None else outcome_of(error))

    def begin(self) -> None:
        """Say in the audit file that the run has begun, and give signs of life from now on.

        Raises:
            Stopped: it cannot be said.
        """
        taken_over = self.recorded.taken_over
        for each in taken_over:
            _LOG.warning('event=run_taken_over run=%d by=%s why="%s"', each.run_id, self.recorded.run_id, each.reason)
        self.audit.write([*map(taken_over_line, taken_over), run_line(self.recorded, RunStatus.RUNNING.value)])
        self.heartbeat.add(self)

    def let_others_work(self) -> None:
        """Write down that other processes have effects for this run; called before they begin, from any thread.

        From then on the death of this process does not end the run's leases: they are waited for.

        Raises:
            Stopped: it cannot be written down, so they must not begin.
        """
        self.patiently(lambda _: self.recorder.let_others_work(self.recorded))

    def check(self) -> None:
        """Return if the run may go on; a run that was asked to pause waits in here.

        Raises:
            Stopped: it must not start another effect.
        """
        self._line.check()

    def check_without_rest(self) -> None:
        """Return if the run may go on; raise instead of waiting when it is to pause.

        Raises:
            PauseAsked: the run is to pause.
            Stopped: it must not start another effect.
        """
        self._line.check_without_rest()

    def record(self, step: RecordBatch) -> None:
        """Write down, in the audit file and then in the ledger, what was done and what comes next.

        Args:
            step: its intended effects may begin when this returns.

        Raises:
            Stopped: something could not be written, so they must not begin.
        """
        try:
            self.audit.write((*self._done_lines(step), *intended_lines(self.recorded, step.intended)))
        except AuditLost:
            self._record(step.without_next)
            raise
        try:
            self._record(step)
        except Stopped as stopped:
            self._say_not_begun(step, stopped)
            raise
        self._intended.update((item.position, item) for item in step.intended)

    def _record(self, step: RecordBatch) -> None:
        self.patiently(lambda is_repeated: self.recorder.record(self.recorded, step, is_repeated=is_repeated))

    def tell(self, step: RecordBatch) -> None:
        """Write down in the audit file alone what was done, because the run ends by an error; a failure is logged."""
        try:
            self.audit.write(self._done_lines(step))
        except AuditLost as lost:
            _LOG.warning('event=effects_not_recorded items=%d why="%s"', len(step.settled), lost.reason)

    def _done_lines(self, step: RecordBatch) -> Iterator[AuditLine]:
        pairs = [(self._intended.pop(item.position), item) for item in step.settled]
        return chain(settled_lines(self.recorded, (*pairs, *step.audit_only)), step.audit_lines)

    def left_over(self) -> tuple[Item, ...]:
        """Return the unfinished items of earlier runs."""
        return self.patiently(lambda _: self.recorder.left_over(self.recorded))

    def settle_left_over(self, items: Sequence[SettledLeftOver], audit_only: Sequence[SettledLeftOver] = ()) -> bool:
        """Record the outcome of unfinished items; the audit file also gets `audit_only`, and what was done."""
        self._tell_left_over(audit_only)
        is_settled = not items or self.patiently(lambda _: self.recorder.settle_left_over(items))
        self._tell_left_over([each for each in items if is_settled and each.item.state is ItemState.DONE])
        return is_settled

    def _tell_left_over(self, items: Sequence[SettledLeftOver]) -> None:
        if items:
            self.audit.write([left_over_line(self.recorded, each.left, each.item) for each in items])

    def finish(self, outcome: RunOutcome) -> None:
        """Write the outcome, and give the lease back; only the first call counts.

        What cannot be written is said in the log: it must not hide what the run did.
        """
        if self._is_over:
            return
        self._is_over = True
        self.heartbeat.remove(self)
        for write in (self._outcome_to_audit, self._outcome_to_ledger):
            try:
                write(outcome)
            except Stopped as lost:
                _LOG.warning('event=outcome_not_recorded status=%s why="%s"', outcome.status, lost.reason)

    def _say_not_begun(self, step: RecordBatch, stopped: Stopped) -> None:
        if step.intended:
            self.audit.write([batch_line(self.recorded, step.intended, ItemState.SKIPPED, stopped.code)])

    def _outcome_to_audit(self, outcome: RunOutcome) -> None:
        self.audit.write([run_line(self.recorded, outcome.status.value, outcome.reason)])

    def _outcome_to_ledger(self, outcome: RunOutcome) -> None:
        try:
            replace(self.patiently, at_least=LAST_SECONDS)(lambda _: self.recorder.finish(self.recorded, outcome))
        except LedgerLost:
            self.recorder.give_up()
            raise

    def _pause(self, request: Request) -> None:
        self.patiently(lambda _: self.recorder.pause(self.recorded, request))
        self.audit.write([run_line(self.recorded, RunStatus.SUSPENDED.value, f"asked by {request.requested_by}")])

    def _go_on(self, request: Request) -> None:
        self.patiently(lambda _: self.recorder.go_on(self.recorded, request))
        self.audit.write([run_line(self.recorded, RunStatus.RUNNING.value, f"asked by {request.requested_by}")])


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
        process: the stop signal of the whole process.
        heartbeat: keeps them alive.
        lease_seconds: so long their leases should last without a sign of life.
        clock: that deadlines are measured by.
    """

    recorder: Recorder
    audit: AuditTrail
    process: StopSignal
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
