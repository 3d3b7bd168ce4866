"""A run at work: what it asks before each effect, and how it writes down what it does (DESIGN section 6)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.result import ExitCode, Status
from toolkit.runs.audit import AuditTrail
from toolkit.runs.audit_lines import intended_lines, left_over_line, run_line, settled_lines
from toolkit.runs.deadline import Deadline
from toolkit.runs.errors import AuditLost, Stopped
from toolkit.runs.heartbeat import Heartbeat
from toolkit.runs.lifeline import Lifeline
from toolkit.runs.orders import Orders
from toolkit.runs.recorder import RecordedRun, Recorder, RunOutcome, SettledLeftOver, Step
from toolkit.runs.run_lifeline import RunLifeline

_LOG = logging.getLogger(__name__)

SUCCEEDED = RunOutcome(status=RunStatus.SUCCEEDED, exit_code=ExitCode.DONE.value)
"""How a run ends about which nobody says anything else."""


@dataclass(kw_only=True, eq=False)
class ActiveRun:
    """A run that was started: the `Lifeline` of its effects, and a context manager that writes its outcome.

    Attributes:
        recorded: which run it is.
        recorder: writes it down.
        audit: is on the disk before the effects of a batch begin, and after their outcomes are known.
        process: the lifeline of the whole process.
        deadline: of its lease.
        heartbeat: keeps the lease, and brings what is asked of the run.
        orders: what is asked of it.
    """

    recorded: RecordedRun
    recorder: Recorder
    audit: AuditTrail
    process: Lifeline
    deadline: Deadline
    heartbeat: Heartbeat
    orders: Orders = field(default_factory=Orders)
    _line: RunLifeline = field(init=False)
    _intended: dict[int, NewItem] = field(default_factory=dict, init=False)
    _is_over: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._line = RunLifeline(
            process=self.process,
            deadline=self.deadline,
            orders=self.orders,
            beat=self.heartbeat.beat,
            pause=self._pause,
            go_on=self._go_on,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finish(SUCCEEDED if error is None else outcome_of(error))

    def begin(self) -> None:
        """Say in the audit file that the run has begun, and give signs of life from now on.

        Raises:
            Stopped: it cannot be said.
        """
        self.audit.write([run_line(self.recorded, RunStatus.RUNNING.value)])
        self.heartbeat.add(self)

    def check(self) -> None:
        """See `Lifeline.check`; a run that was asked to pause does so in here, until it may go on.

        Raises:
            Stopped: it must not start another effect.
        """
        self._line.check()

    def check_without_rest(self) -> None:
        """See `RunLifeline.check_without_rest`.

        Raises:
            PauseAsked: the run is to pause.
            Stopped: it must not start another effect.
        """
        self._line.check_without_rest()

    def record(self, step: Step) -> None:
        """Write down, in the audit file and then in the ledger, what was done and what comes next.

        Args:
            step: its intended effects may begin when this returns.

        Raises:
            Stopped: something could not be written, so they must not begin.
        """
        pairs = [(self._intended.pop(item.position), item) for item in step.settled]
        done = settled_lines(self.recorded, (*pairs, *step.beside))
        try:
            self.audit.write((*done, *intended_lines(self.recorded, step.intended)))
        except AuditLost:
            self.recorder.record(self.recorded, step.without_next)
            raise
        try:
            self.recorder.record(self.recorded, step)
        except Stopped as stopped:
            self._say_not_begun(step, stopped)
            raise
        self._intended.update((item.position, item) for item in step.intended)

    def left_over(self) -> tuple[Item, ...]:
        """See `Recorder.left_over`."""
        return self.recorder.left_over(self.recorded)

    def settle_left_over(self, items: Sequence[SettledLeftOver]) -> bool:
        """See `Recorder.settle_left_over`; the audit file is told as well."""
        is_settled = self.recorder.settle_left_over(items)
        if is_settled:
            self.audit.write([left_over_line(self.recorded, each.left, each.item) for each in items])
        return is_settled

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

    def _say_not_begun(self, step: Step, stopped: Stopped) -> None:
        skipped = [
            (item, SettledItem(position=item.position, state=ItemState.SKIPPED, code=stopped.code))
            for item in step.intended
        ]
        if skipped:
            self.audit.write(settled_lines(self.recorded, skipped))

    def _outcome_to_audit(self, outcome: RunOutcome) -> None:
        self.audit.write([run_line(self.recorded, outcome.status.value, outcome.reason)])

    def _outcome_to_ledger(self, outcome: RunOutcome) -> None:
        self.recorder.finish(self.recorded, outcome)

    def _pause(self, request: Request) -> None:
        self.recorder.pause(self.recorded, request)
        self.audit.write([run_line(self.recorded, RunStatus.SUSPENDED.value, f"asked by {request.requested_by}")])

    def _go_on(self, request: Request) -> None:
        self.recorder.go_on(self.recorded, request)
        self.audit.write([run_line(self.recorded, RunStatus.RUNNING.value, f"asked by {request.requested_by}")])


def outcome_of(error: BaseException) -> RunOutcome:
    """How a run ends whose body raised: a stopped one was killed, unless it lost its record."""
    if isinstance(error, Stopped):
        status = RunStatus.KILLED if error.status is Status.KILLED else RunStatus.FAILED
        return RunOutcome(status=status, reason=error.reason, exit_code=error.exit_code.value)
    if not isinstance(error, Exception):  # KeyboardInterrupt: a second Ctrl-C
        return RunOutcome(status=RunStatus.KILLED, reason="interrupted", exit_code=ExitCode.INTERRUPTED.value)
    return RunOutcome(status=RunStatus.FAILED, reason=f"{type(error).__name__}: {error}")
