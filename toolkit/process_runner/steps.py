"""The steps of an instance, a batch each, and what the ledger keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.actions.guard import CalledOff, Refusal
from toolkit.actions.model import INTERRUPTED, ItemResult, Problem, SkipReason
from toolkit.availability import DATA_ERRORS
from toolkit.errors import InvalidInput, Unavailable
from toolkit.process_runner.batches import InstanceBatch, check_child
from toolkit.process_runner.calls import Workplace, step_call
from toolkit.process_runner.codes import FAILED, HOPELESS, NO_OUTPUT
from toolkit.process_runner.column_lineage import StepColumns
from toolkit.process_runner.errors import FileChanged
from toolkit.process_runner.jobs import (
    Opening,
    StepSuccess,
    begun,
    failed,
    known_as,
    last_succeeded,
    opened,
    succeeded,
    without_effect,
)
from toolkit.process_runner.late_fingerprint import read_inputs
from toolkit.process_runner.outputs import Made, feed_instance, look_at_outputs, unwritten, written_outputs
from toolkit.process_runner.staging import StagedOutputs
from toolkit.process_runner.targets import CLEAR, PREPARE, STEP, ProcessPlan, StepItem, steps_of
from toolkit.process_runner.updates import UNCHANGED_NOTE, RunUpdates
from toolkit.programs.port import StepEnd, StepMark
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import Applied, RunContext
    from toolkit.availability import DataAccess
    from toolkit.entities import Engine, Step
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.ledger.fingerprints import ReadInput
    from toolkit.planning.dataset_aliases import DatasetAliases
    from toolkit.planning.process_io import PlannedInput
    from toolkit.planning.temporary_feeds import TemporaryFeeds
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.programs.port import StepEngine
    from toolkit.runs.recorder import LedgerWrite


@dataclass(frozen=True, kw_only=True)
class InitialState:
    """State of an instance before its run changes anything.

    Attributes:
        opening: how its job begins.
        found: what is there of the outputs that the run does not remove before the first step; see `written_outputs`.
        logs: the file of each step's log.
    """

    opening: Opening
    found: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class StepRunner:
    """Runs the steps of an instance.

    Attributes:
        plan: of the instance.
        resolved: what it reads and makes.
        work: of the run.
        data: where instances are looked at.
        engines: what runs steps.
        workplace: where they run.
        now: of the wall clock, UTC.
        aliases: physical URIs of feeds, for outlets; None: no process has outlets.
        temporary: feeds whose instances retention removes once they were read; None: there are none.
        keeps_columns: the column lineage of steps is recorded.
        mirrored: canonical URIs of what the mirror of the process updates.
    """

    plan: ProcessPlan
    resolved: ResolvedInstance
    work: RunContext
    data: DataAccess
    engines: Mapping[Engine, StepEngine]
    workplace: Workplace
    now: Callable[[], datetime]
    aliases: DatasetAliases | None = None
    temporary: TemporaryFeeds | None = None
    keeps_columns: bool = False
    mirrored: Sequence[str] = ()

    @property
    def steps(self) -> Sequence[StepItem]:
        """The steps of the plan; none: an earlier attempt has run them all."""
        return [each for each in self.plan.items if each.kind == STEP]

    @cached_property
    def staged(self) -> StagedOutputs:
        """The validated outputs."""
        return StagedOutputs(
            site=self.plan.target.site,
            outputs=self.resolved.outputs,
            work=self.work,
            now=self.now,
            attempts=self.plan.detail.attempts,
        )

    @cached_property
    def updates(self) -> RunUpdates:
        """The report of the steps on outputs and outlets."""
        return RunUpdates(plan=self.plan, aliases=self.aliases, mirrored=self.mirrored)

    def initial_state(self) -> InitialState | Problem:
        """Return the state of inputs and outputs before the run changes anything, or why the steps cannot begin."""
        try:
            return self._look_before()
        except (*DATA_ERRORS, InvalidInput) as error:
            return Problem(code=_code_of(error), message=str(error))
        except Stopped as stopped:
            self.work.guard.stop(stopped)
            return Problem(code=INTERRUPTED, message=str(stopped))

    def _look_before(self) -> InitialState:
        removed = {each.name for each in self.plan.items if each.kind in {PREPARE, CLEAR}}
        kept = [each for each in self.resolved.outputs if each.name not in removed] if self.steps else []
        target, run_id = self.plan.target, int(self.work.run_name)
        return InitialState(
            opening=self._opening(),
            found=written_outputs(target.site, kept, self.data),
            logs={each.name: self.workplace.log(target, run_id, each.name) for each in self.steps},
        )

    def _opening(self) -> Opening:
        """The run becomes the job of its instance, and reads the batches that its inputs stand for."""
        target, detail = self.plan.target, self.plan.detail
        read = {name for step in steps_of(target.site.process.workflow) for name in self._inputs_of(step)}
        instances = [each for name in self.resolved.inputs if name.name in read for each in self._instances(name)]
        consumed: Sequence[ReadInput] | None = None
        if not detail.resumed:  # before the first step reads them
            noted = frozenset[str]() if self.temporary is None else self.temporary.inputs_of(target.site)
            consumed = read_inputs(target.site, self.resolved, self.data, self.now, noted)
        is_forced = target.is_forced or detail.starts_over
        return Opening(inputs=list(dict.fromkeys(instances)), consumed=consumed, is_forced=is_forced)

    def _inputs_of(self, step: Step) -> Iterable[str]:
        return self.plan.target.site.process.inputs if step.inputs is None else step.inputs

    def _instances(self, planned: PlannedInput) -> Iterator[FeedInstance]:
        return (feed_instance(self.plan.target.site, planned.storage, each) for each in planned.instances)

    def written(self) -> Mapping[str, str]:
        """Return what is there of the outputs, see `written_outputs`; raises StorageError, CatalogError, Stopped."""
        return written_outputs(self.plan.target.site, self.resolved.outputs, self.data)

    def made(self, now: Mapping[str, str], found: Mapping[str, str]) -> Mapping[str, str]:
        """Return those of the outputs that are there which successful steps have written, in this run or before."""
        kept = self.plan.detail.made
        return {name: digest for name, digest in now.items() if digest != found.get(name) or digest == kept.get(name)}

    def look(self, found: Mapping[str, str], *, has_run: bool) -> Made:
        """Look at the outputs; if a step has run, what only an attempt before this one has written is not made."""
        if self.updates.is_nothing:
            return Made()
        site, outputs = self.plan.target.site, self.updates.updated(self.resolved.outputs)
        if has_run:
            now = self.written()
            if old := unwritten(site, outputs, now.keys() - self.made(now, found).keys()):
                return Made(lacking=old, is_old=True)
        made = look_at_outputs(site, [each for each in outputs if each.name not in self.staged.by_name], self.data)
        if made.lacking:
            return made
        staged = self.staged.look(has_run=has_run)
        instances, missing = (*made.instances, *staged.instances), made.missing | staged.missing
        return replace(staged, instances=instances, missing=missing, unflagged=made.unflagged)


@dataclass(kw_only=True)
class StepBatch(InstanceBatch):
    """Batch of one step, or of the end of an instance whose steps have all succeeded before.

    Attributes:
        runner: of the steps.
        initial: what was there before the run changed anything.
        made: the outputs, once the last step has succeeded and they are as they should be.
    """

    runner: StepRunner
    initial: InitialState
    made: Made | None = None
    _columns: StepColumns | None = field(default=None, init=False)

    @property
    def item(self) -> StepItem:
        """The step."""
        return self.items[0]

    @property
    def intended_writes(self) -> Sequence[LedgerWrite]:
        """The step begins, and with the first one the job: before the step does anything."""
        item, logs = self.item, self.initial.logs
        job = (opened(self.ref, self.initial.opening),) if self._is_first else ()
        return (*job, begun(self.ref, item.name, logs[item.name])) if item.kind == STEP else job

    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        """Run the step; after the last one, look at the outputs."""
        applied = self._applied()
        advance(1)
        return applied

    def _applied(self) -> Applied[StepItem]:
        if not self.work.guard.may_begin():
            return self.applied([ItemResult.skipped(self.item, SkipReason.STOPPED)])
        try:
            end = self._run() if self.item.kind == STEP else StepEnd(exit_code=0)
        except Stopped as stopped:  # the engine has ended all of the step; the end of the run ends it in the ledger
            return self._stopped(stopped)
        except CalledOff as error:
            return self._called_off(error.refusal)
        except (*DATA_ERRORS, InvalidInput, FileChanged, OSError, Unavailable) as error:
            return self._failed(_code_of(error), str(error))
        if not end.succeeded:
            return self._failed(HOPELESS if end.may_retry is False else FAILED, end.why)
        return self._finished() if self.runner.steps[-1:] in ([], [self.item]) else self._continued()

    def _run(self) -> StepEnd:
        runner = self.runner
        is_resumed = self._is_first and self.plan.detail.resumed
        refused = self.work.patiently(lambda _: runner.staged.resume()) if is_resumed else ""
        if refused:
            return StepEnd(exit_code=None, message=refused, may_retry=False)
        call = step_call(self.item, self.plan.target, runner.resolved, runner.workplace, int(self.work.run_name))
        engine = runner.engines.get(call.engine)
        if engine is None:
            return StepEnd(exit_code=None, message=f"no engine {call.engine} is to be had here", may_retry=False)
        call = replace(call, quiet_seconds=self._quiet_seconds())
        if runner.keeps_columns:
            self._columns = StepColumns(
                site=self.plan.target.site, resolved=runner.resolved, data=runner.data, call=call
            )
            self._columns.begin()
        end = engine.run(call, self._started, partial(check_child, self.work))
        return runner.updates.ended(self.item.name, call.log, end)

    def _started(self, mark: StepMark) -> None:
        """Write down by what number Spark or YARN knows the step."""
        if mark.application is not None:
            self.work.write_ledger(known_as(self.ref, self.item.name, mark.application))

    def _quiet_seconds(self) -> float | None:
        """A step whose runner is frozen has ended while its lease lasts, before another may begin it.

        A fifth is for the ending: with leases of a minute, the 10 seconds of its grace.
        """
        left = self.work.seconds_left()
        return None if isinf(left) else max(0.8 * left, 1.0)

    def _continued(self) -> Applied[StepItem]:
        """A step has succeeded that is not the last: what it has written is recorded with that."""
        made: Mapping[str, str] = {}
        with suppress(*DATA_ERRORS, Stopped):  # then a run that goes on behind this step takes no output for its work
            made = self.runner.made(self.runner.written(), self.initial.found)
        success = StepSuccess(step=self.item.name, made=made)
        return self.applied([ItemResult.done(self.item)], succeeded(self.ref, success), *self._lineage())

    def _lineage(self) -> tuple[LedgerWrite, ...]:
        """Return the writes that record the column lineage of the step."""
        step = None if self.plan.target.stands_for_steps else self.item.name
        return () if self._columns is None else self._columns.writes(step)

    def _finished(self) -> Applied[StepItem]:
        """All steps have succeeded: the instance is complete when its outputs are there and published."""
        item, target, found = self.item, self.plan.target, self.initial.found
        try:
            made = self.work.patiently(lambda _: self.runner.look(found, has_run=item.kind == STEP))
        except (*DATA_ERRORS, Unavailable) as error:  # the step has done its part: the next run looks again
            message = f"the outputs could not be looked at: {error}"
            failure = ItemResult.failed(item, _code_of(error), message)
            return self.applied([failure], *self._success(counts=not found))
        except Stopped as stopped:
            return self._stopped(stopped, *self._success(counts=not found))
        if made.lacking:
            return self._lacking(made)
        self.made = made
        if self.positions.stop < len(self.plan.items):  # the success of a late workflow is that of the whole instance
            writes = () if target.stands_for_steps else self._success()
        else:
            last, is_late = item.name if item.kind == STEP else None, target.late is not None
            updates = self.updates_of_job(self.runner.updates, made.instances, self.runner.data)
            writes = (last_succeeded(self.ref, last, made.instances, is_made_otherwise=is_late, updates=updates),)
        unchanged = (UNCHANGED_NOTE,) if self.runner.updates.is_nothing else ()
        return self.applied([ItemResult.done(item)], *writes, *self._lineage(), notes=(*made.notes, *unchanged))

    def _success(self, *, counts: bool = True) -> tuple[LedgerWrite, ...]:
        """Return the write that ends the step; one whose success does not count runs again."""
        item = self.item
        if item.kind != STEP:
            return ()
        is_lost = self.plan.target.stands_for_steps or not counts
        return (failed(self.ref, item.name) if is_lost else succeeded(self.ref, StepSuccess(step=item.name)),)

    def _lacking(self, made: Made) -> Applied[StepItem]:
        """An output is not there; what begins anew would else go on in the middle, and nothing would be made again."""
        item, first = self.item, self.runner.steps[:1]
        if item.kind != STEP:
            message = f"{made.lacking}; --force runs all steps again"
            return self.applied([ItemResult.failed(item, NO_OUTPUT, message)])
        again = [without_effect(self.ref, each.name) for each in first if made.is_old and each is not item]
        why = made.lacking
        if self.plan.detail.may_hide and self.runner.updates.is_complete:
            why += "; an earlier attempt had begun, so what the steps report as unchanged was looked at"
            why += ": remove what it left, and --force lets their report count"
        return self._failed(NO_OUTPUT, why, *again)

    def _failed(self, code: str, why: str, *writes: LedgerWrite) -> Applied[StepItem]:
        result = ItemResult.failed(self.item, code, f"{self.item.name}: {why}")
        return self.applied([result], failed(self.ref, self.item.name), *writes)

    def _called_off(self, refusal: Refusal) -> Applied[StepItem]:
        """A hold lets the instance wait, as one that was there before the run does."""
        if refusal.code != SkipReason.HELD:
            return self._failed(refusal.code, refusal.why)
        held, result = Problem(code=refusal.code, message=refusal.why), ItemResult.skipped(self.item, refusal.code)
        return self.applied([result], failed(self.ref, self.item.name), waiting=held)

    def _stopped(self, stopped: Stopped, *writes: LedgerWrite) -> Applied[StepItem]:
        self.work.guard.stop(stopped)
        result = ItemResult.failed(self.item, INTERRUPTED, f"{self.item.name}: {stopped.reason}")
        return self.applied([result], *writes)

    @property
    def _is_first(self) -> bool:
        return self.runner.steps[:1] in ([], [self.item])


def _code_of(error: Exception) -> str:
    if isinstance(error, DATA_ERRORS):
        return error.code
    return HOPELESS if isinstance(error, InvalidInput) else FAILED
