"""The run of one target whose leases are held: planned, recovered, applied, and told to its row."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic

from toolkit.actions.batch_loop import BatchLoop, next_batch
from toolkit.actions.model import TIMED_OUT, D, I, ItemResult, Problem, SkipReason, T, TargetPlan
from toolkit.actions.result import TargetResult
from toolkit.ledger.vocabulary import RunStatus
from toolkit.result import ExitCode, Outcome, derive_status
from toolkit.runs.errors import Stopped
from toolkit.runs.outcome import SUCCEEDED, outcome_of
from toolkit.runs.recorder import RunOutcome

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import Action, Applied, Batch, Batches, RunContext
    from toolkit.actions.guard import Condition
    from toolkit.actions.progress import Progress
    from toolkit.errors import Refused
    from toolkit.runs.recorder import LedgerWrite
    from toolkit.runs.run import ActiveRun

_NOTES = 3
_TRIES = 3
_RETRIED = (RunStatus.FAILED, RunStatus.TIMED_OUT)


@dataclass(kw_only=True, eq=False)
class TargetRun(Generic[T, I, D]):
    """Works on a target; used by one thread at a time, except for `stop`.

    Attributes:
        action: what is done.
        target: with what.
        run: in the ledger.
        looking: what the run works with as long as it must not touch anything.
        open_context: opens what the plan is applied with, once the conditions are known.
        progress: told how many items are over.
        retry_at: when a target that failed so is to be tried again by itself.
        stop_writes: what else the ledger keeps in the transaction that ends a run which was stopped so.
        stopped: why it was ended before its time, if it was.
        plan: what it does; set by `make_plan`.
        whole: the plan with what a plan file leaves out, by which unfinished items are recovered; None: `plan` is it.
    """

    action: Action[T, I, D]
    target: T
    run: ActiveRun
    looking: RunContext
    open_context: Callable[[Sequence[Condition]], RunContext]
    progress: Progress
    retry_at: Callable[[TargetResult[T, I, D]], datetime | None] = lambda _: None
    stop_writes: Callable[[Stopped], Sequence[LedgerWrite]] = lambda _: ()
    stopped: Stopped | None = None
    plan: TargetPlan[T, I, D] = field(init=False)
    whole: TargetPlan[T, I, D] | None = None
    _work: RunContext | None = field(default=None, init=False)
    _is_over: bool = field(default=False, init=False)
    _results: Sequence[ItemResult[I]] = field(default=(), init=False)

    def make_plan(self) -> None:
        """Look and decide.

        Raises:
            Stopped: the whole process must stop; a run that stops alone has a plan that says so.
        """
        try:
            self.plan = self.action.plan(self.target, self.looking)
        except Stopped as stopped:
            if stopped.ends_process:
                raise
            self.stop(stopped)
            problem = Problem(code=stopped.code, message=str(stopped))
            self.plan = replace(self.action.blank_plan(self.target), failed=problem)

    @property
    def work(self) -> RunContext:
        """The context to apply the plan; opened when first used, with the conditions of the plan."""
        if self._work is None:
            opened = self.open_context(self.action.conditions(self.plan, self.looking))
            self._work = replace(opened, progress=self.progress)
            stopped = self.stopped or self.looking.guard.stopped
            if stopped is not None:  # by `stop` before there was anything to be stopped
                self._work.guard.stop(stopped)
        return self._work

    def recover(self) -> None:
        """Recover the unfinished items of earlier runs; after the plan, which is going to be applied."""
        if self.stopped is not None or self.plan.failed is not None or self.plan.refused is not None:
            return
        try:
            self._note(self._recovered())
        except Stopped as stopped:
            self.stop(stopped)

    def _recovered(self) -> tuple[str, ...]:
        """Notes for the user; another run may settle the same items at the same time, so it is tried again."""
        unreadable, key = self.plan.unreadable, self.target.instance_key
        for _ in range(_TRIES):
            own = [each for each in self.run.left_over() if self.plan.covers_all or each.instance_key == key]
            if not own:
                return ()
            recovery = self.action.recover(self.whole or self.plan, own, self.work)
            self.plan = replace(self.plan, unreadable=(*unreadable, *recovery.failed))
            if self.run.settle_left_over(recovery.settled, recovery.audit_only):
                return recovery.notes
        return ("what an earlier run had begun is being recorded by another run; the next run looks again",)

    def apply(self) -> None:
        """Do what the plan says; nothing, when a limit of its own refused it."""
        if self.plan.refused is not None:
            return
        guard = self.work.guard
        loop = BatchLoop(items=self.plan.items, run=self.run, guard=guard, progress=self.progress)
        try:
            loop.work(self._batches())
        finally:
            self._results, self.stopped = loop.results, guard.stopped
        failed, waiting = self.plan.failed or loop.failed, self.plan.waiting or loop.waiting
        self.plan = replace(self.plan, failed=failed, waiting=waiting)
        self._note(tuple(_shortened(loop.notes)))

    def _batches(self) -> Batches[I]:
        """Return all items, in their order and each once; an omitted item would let the run end well without it.

        Raises:
            ValueError: the action divides its plan otherwise; of a generator, the batches say so as they are made.
        """
        given = self.action.batches(self.plan, self.work)
        if isinstance(given, Generator):
            return self._checked(given)
        batches = [batch for batch in given if batch.positions]
        end = 0
        for batch in batches:
            end = batch.positions.stop if batch.positions.start == end else -1
        if end != len(self.plan.items):
            raise self._wrong_batches
        return batches

    def _checked(self, batches: Generator[Batch[I], Applied[I], None]) -> Generator[Batch[I], Applied[I], None]:
        end = 0
        batch = next(batches, None)
        while batch is not None:
            if not batch.positions or batch.positions.start != end:
                raise self._wrong_batches
            end = batch.positions.stop
            applied = yield batch
            batch = next_batch(batches, applied)
        if end != len(self.plan.items):
            raise self._wrong_batches

    @property
    def _wrong_batches(self) -> ValueError:
        return ValueError(f"Action.batches of {self.action.name} must have each item of a plan once, in their order")

    def stop(self, stopped: Stopped) -> None:
        """Nothing of this target may begin any more; one that is over stays as it is. Safe from any thread."""
        if self._is_over:
            return
        self.stopped = self.stopped or stopped
        for context in self._opened:
            context.guard.stop(stopped)

    def finish(self, refusal: Refused | None = None) -> None:
        """End the run, and give its leases back; what was ended before stays as it is."""
        if self._is_over:
            return
        self._is_over = True
        of_all = None if refusal is None else Problem(code=SkipReason.REFUSED, message=str(refusal))
        refused = self.plan.refused or of_all
        if refused is not None:
            self._results = [ItemResult.skipped(item, SkipReason.REFUSED) for item in self.plan.items]
        outcome = _outcome_of(self.result, refused)
        if outcome.status in _RETRIED:
            outcome = replace(outcome, retry_at=self.retry_at(self.result))
        if self.stopped is not None:
            outcome = replace(outcome, writes=self.stop_writes(self.stopped))
        self.run.finish(outcome)
        for context in self._opened:
            context.close()

    @property
    def _opened(self) -> tuple[RunContext, ...]:
        return (self.looking,) if self._work is None else (self.looking, self._work)

    @property
    def result(self) -> TargetResult[T, I, D]:
        """Return the outcome of the target."""
        items = (*self._results, *self.plan.unreadable)
        return TargetResult(plan=self.plan, items=items, run=self.run.recorded, stopped=self.stopped)

    def _note(self, notes: tuple[str, ...]) -> None:
        if notes:
            self.plan = replace(self.plan, notes=(*self.plan.notes, *notes))


def _shortened(notes: Sequence[str]) -> Iterator[str]:
    """The first few notes, and how many there are more."""
    yield from notes[:_NOTES]
    if len(notes) > _NOTES:
        yield f"and {len(notes) - _NOTES} more like these"


def _outcome_of(result: TargetResult[T, I, D], refused: Problem | None) -> RunOutcome:
    """Return the outcome of the run of a target."""
    if result.stopped is not None:
        return outcome_of(result.stopped)
    if refused is not None:
        return RunOutcome(status=RunStatus.FAILED, reason=refused.message, exit_code=ExitCode.REFUSED.value)
    plan = result.plan
    if plan.waiting is not None:
        # A run that has begun its items is over: the next one has a row of its own.
        status = RunStatus.SKIPPED if plan.items else RunStatus.WAITING
        return RunOutcome(status=status, reason=_text(plan.waiting), exit_code=ExitCode.NOT_YET.value)
    if plan.skipped is not None:
        return RunOutcome(status=RunStatus.SKIPPED, reason=_text(plan.skipped), exit_code=ExitCode.SKIPPED.value)
    failed = [each for each in result.items if each.outcome is Outcome.FAILED]
    if plan.failed is None and not failed and not plan.drifted:
        return SUCCEEDED
    exit_code = derive_status(result.outcomes()).exit_code.value
    is_late = plan.failed is not None and plan.failed.code == TIMED_OUT
    status = RunStatus.TIMED_OUT if is_late else RunStatus.FAILED
    return RunOutcome(status=status, reason=_why(result, failed), exit_code=exit_code)


def _why(result: TargetResult[T, I, D], failed: Sequence[ItemResult[I]]) -> str:
    if result.plan.failed is not None:
        return _text(result.plan.failed)
    if not failed:
        return "not all of the plan file is due as it was planned; the result names what differs"
    first = failed[0]
    which = f"{len(failed)} of {len(result.items)} items failed, the first: {first.item.uri}: {first.code}"
    message = first.message.removeprefix(f"{first.item.uri}: ")
    return f"{which}: {message}" if message else which


def _text(problem: Problem) -> str:
    return f"{problem.code}: {problem.message}"
