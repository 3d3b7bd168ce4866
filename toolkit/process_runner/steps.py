"""The steps of an instance, one after the other, and what is written down of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isinf
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import Applied, Batch
from toolkit.actions.model import INTERRUPTED, ItemResult, Problem, SkipReason
from toolkit.availability import DATA_ERRORS
from toolkit.errors import InvalidInput, Unavailable
from toolkit.process_runner.calls import Workplace, step_call
from toolkit.process_runner.codes import FAILED, HOPELESS, NO_OUTPUT, NOT_REACHED
from toolkit.process_runner.errors import FileChanged
from toolkit.process_runner.jobs import Opening, StepSuccess, failed, last_succeeded, succeeded, without_effect
from toolkit.process_runner.late_checks import is_dealt_with, noted
from toolkit.process_runner.late_fingerprint import read_inputs
from toolkit.process_runner.output_effects import OutputEffects
from toolkit.process_runner.outputs import Made, feed_instance, look_at_outputs, unwritten, write_flags, written_outputs
from toolkit.process_runner.staging import Passed, StagedOutputs
from toolkit.process_runner.targets import END, STEP, ProcessPlan, StepItem, steps_of
from toolkit.process_runner.updates import UNCHANGED_NOTE, RunUpdates
from toolkit.programs.port import StepEnd, StepMark
from toolkit.result import Outcome
from toolkit.runs.errors import PauseRequested, Stopped

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import QualityFailed
    from toolkit.availability import DataAccess
    from toolkit.entities import Engine, Step
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.ledger.fingerprints import ReadInput
    from toolkit.ledger.jobs.rows import JobRef
    from toolkit.planning.dataset_aliases import DatasetAliases
    from toolkit.planning.process_io import PlannedInput
    from toolkit.process_runner.jobs import JobBook
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.process_runner.targets import ProcessTarget
    from toolkit.programs.port import StepEngine
    from toolkit.runs.recorder import LedgerWrite


@dataclass(frozen=True, kw_only=True)
class StepBatch(Batch[StepItem]):
    """Batch of all steps of a plan, from the position `first` on."""

    plan: ProcessPlan
    first: int
    work: RunContext
    data: DataAccess
    jobs: JobBook
    engines: Mapping[Engine, StepEngine]
    workplace: Workplace
    now: Callable[[], datetime]
    aliases: DatasetAliases | None = None

    @property
    @override
    def positions(self) -> range:
        return range(self.first, len(self.plan.items))

    @property
    def steps(self) -> Sequence[StepItem]:
        """The items of the plan at the positions."""
        return self.plan.items[self.first :]

    @override
    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        resolved = self.plan.detail.resolved
        if resolved is None:
            message = "a plan with steps has looked at its inputs"
            raise AssertionError(message)
        return _Job(batch=self, resolved=resolved, advance=advance).run()


@dataclass(kw_only=True)
class _Job:
    """A run of the steps.

    Attributes:
        before: what is not written down yet: how the job begins, or the step that has just succeeded.
        found: what was there of the outputs before the first step of this run; see `written_outputs`.
        is_unsure: the last step has succeeded, and the outputs were not examined yet.
        writes: what goes with the results.
        notes: for the user.
        failure: why the instance has failed although its steps have succeeded.
    """

    batch: StepBatch
    resolved: ResolvedInstance
    advance: Callable[[int], None]
    before: Opening | StepSuccess | None = None
    found: Mapping[str, str] = field(default_factory=dict)
    is_unsure: bool = False
    writes: list[LedgerWrite] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: Problem | None = None

    @property
    def target(self) -> ProcessTarget:
        """The instance."""
        return self.batch.plan.target

    @property
    def ref(self) -> JobRef:
        """This run and no other of the instance."""
        return replace(self.target.ref, run_id=self.run_id)

    @property
    def run_id(self) -> int:
        """Its number."""
        return int(self.batch.work.run_name)

    def run(self) -> Applied[StepItem]:
        """Run the steps until one fails."""
        items = self.batch.steps
        results: list[ItemResult[StepItem]] = []
        try:
            self.before = self._opening()
            if items[0].kind == STEP and (refused := self._staged.begin(resumed=self.batch.plan.detail.resumed)):
                results.append(self._over(ItemResult.failed(items[0], HOPELESS, refused)))
            self.found = self._written() if items[0].kind == STEP else {}
        except DATA_ERRORS as error:
            results.append(self._over(ItemResult.failed(items[0], error.code, str(error))))
        except InvalidInput as error:
            results.append(self._over(ItemResult.failed(items[0], HOPELESS, str(error))))
        except Stopped as stopped:
            self.batch.work.guard.stop(stopped)
            results.append(self._over(ItemResult.skipped(items[0], SkipReason.STOPPED)))
        for item in items[len(results) :]:
            has_failed = bool(results) and results[-1].outcome is not Outcome.DONE
            left = ItemResult.skipped(item, NOT_REACHED)
            results.append(self._over(left if has_failed else self._result(item, is_last=item is items[-1])))
        if isinstance(self.before, StepSuccess):
            is_lost = self.target.stands_for_steps or self.is_unsure
            self.writes.append(failed(self.ref, self.before.step) if is_lost else succeeded(self.ref, self.before))
        if self.target.late is not None and is_dealt_with(self.batch.work.guard.stopped):
            self.writes.append(noted(self.target.late))
        done = Applied(results=tuple(results), writes=tuple(self.writes), notes=tuple(self.notes), failed=self.failure)
        return replace(done, audit_only=tuple(self._effects.done))

    def _over(self, result: ItemResult[StepItem]) -> ItemResult[StepItem]:
        self.advance(1)
        return result

    def _opening(self) -> Opening:
        """The run becomes the job of its instance, and reads the batches that its inputs stand for."""
        read = {name for step in steps_of(self.target.site.process.workflow) for name in self._inputs_of(step)}
        instances = [each for name in self.resolved.inputs if name.name in read for each in self._instances(name)]
        consumed: Sequence[ReadInput] | None = None
        if not self.batch.plan.detail.resumed:  # before the first step reads them
            consumed = read_inputs(self.target.site, self.resolved, self.batch.data, self.batch.now)
        is_forced = self.target.is_forced or self.batch.plan.detail.starts_over
        return Opening(inputs=list(dict.fromkeys(instances)), consumed=consumed, is_forced=is_forced)

    @cached_property
    def _effects(self) -> OutputEffects:
        return OutputEffects(position=self.batch.first, instance_key=self.target.instance_key)

    @cached_property
    def _staged(self) -> StagedOutputs:
        return StagedOutputs(
            site=self.target.site,
            outputs=self.resolved.outputs,
            work=self.batch.work,
            check=self._check,
            now=self.batch.now,
            effects=self._effects,
            attempts=self.batch.plan.detail.attempts,
        )

    @cached_property
    def _updates(self) -> RunUpdates:
        return RunUpdates(plan=self.batch.plan, aliases=self.batch.aliases)

    def _written(self) -> Mapping[str, str]:
        return written_outputs(self.target.site, self.resolved.outputs, self.batch.data)

    def _made(self, now: Mapping[str, str]) -> Mapping[str, str]:
        """Return the present outputs that successful steps have written, in this run or before."""
        kept = self.batch.plan.detail.made
        return {
            name: digest for name, digest in now.items() if digest != self.found.get(name) or digest == kept.get(name)
        }

    def _inputs_of(self, step: Step) -> Iterable[str]:
        return self.target.site.process.inputs if step.inputs is None else step.inputs

    def _instances(self, planned: PlannedInput) -> Iterator[FeedInstance]:
        return (feed_instance(self.target.site, planned.storage, each) for each in planned.instances)

    def _result(self, item: StepItem, *, is_last: bool) -> ItemResult[StepItem]:
        guard = self.batch.work.guard
        if not guard.may_begin():
            return ItemResult.skipped(item, SkipReason.STOPPED)
        try:
            end = self._run(item) if item.kind == STEP else self._begun()
        except Stopped as stopped:  # the engine has ended all of the step; the end of the run ends it in the ledger
            guard.stop(stopped)
            return ItemResult.failed(item, INTERRUPTED, f"{item.name}: {stopped.reason}")
        except (InvalidInput, FileChanged) as error:
            code = FAILED if isinstance(error, FileChanged) else HOPELESS
            return ItemResult.failed(item, code, f"{item.name}: {error}")
        except OSError as error:  # its log cannot be written
            has_begun = self.before is None
            why = f"{item.name}: {error}"
            return self._failed(item, FAILED, str(error)) if has_begun else ItemResult.failed(item, FAILED, why)
        if not end.succeeded:
            return self._failed(item, HOPELESS if end.may_retry is False else FAILED, end.why)
        self.before = StepSuccess(step=item.name) if item.kind == STEP else None
        return self._ended(item) if is_last else self._continued(item)

    def _continued(self, item: StepItem) -> ItemResult[StepItem]:
        """A step has succeeded that is not the last: what it has written is recorded with that."""
        with suppress(*DATA_ERRORS, Stopped):  # then a run that goes on behind this step takes no output for its work
            self.before = StepSuccess(step=item.name, made=self._made(self._written()))
        return ItemResult.done(item)

    def _begun(self) -> StepEnd:
        """Nothing is left to run: the job begins to be ended."""
        if isinstance(self.before, Opening):
            opening = self.before
            self.batch.work.patiently(lambda _: self.batch.jobs.begin(self.ref, opening))
        return StepEnd(exit_code=0)

    def _run(self, item: StepItem) -> StepEnd:
        """Run a step; that it has begun is written down before it does anything."""
        call = step_call(item, self.target, self.resolved, self.batch.workplace, self.run_id)
        call = replace(call, quiet_seconds=self._quiet_seconds())
        has_begun = False

        def started(mark: StepMark) -> None:
            nonlocal has_begun
            jobs, patiently = self.batch.jobs, self.batch.work.patiently
            if has_begun:
                patiently(lambda _: jobs.name_application(self.ref, item.name, mark))
                return
            patiently(
                lambda is_repeated: jobs.begin_step(self.ref, item.name, mark, self.before, is_repeated=is_repeated)
            )
            has_begun, self.before = True, None

        engine = self.batch.engines.get(call.engine)
        if engine is None:
            return StepEnd(exit_code=None, message=f"no engine {call.engine} is to be had here", may_retry=False)
        end = self._updates.ended(item.name, call.log, engine.run(call, started, self._check))
        if not has_begun:
            started(StepMark(log=call.log))
        return end

    def _check(self) -> None:
        """A step that runs cannot rest: a pause begins before the next one."""
        if self.batch.work.guard.stopped is not None:
            raise self.batch.work.guard.stopped
        with suppress(PauseRequested):
            self.batch.work.check_remote()

    def _quiet_seconds(self) -> float | None:
        """A step whose runner is frozen has ended while its lease lasts, before another may begin it.

        A fifth is for the ending: with leases of a minute, the 10 seconds of its grace.
        """
        left = self.batch.work.seconds_left()
        return None if isinf(left) else max(0.8 * left, 1.0)

    def _failed(self, item: StepItem, code: str, why: str) -> ItemResult[StepItem]:
        self.before = None
        self.writes.append(failed(self.ref, item.name))
        return ItemResult.failed(item, code, f"{item.name}: {why}")

    def _ended(self, item: StepItem) -> ItemResult[StepItem]:
        """Finish an instance whose steps have all succeeded: it is complete when its outputs exist."""
        self.is_unsure = bool(self.found)
        try:
            is_nothing = self._updates.is_nothing
            made = Made(notes=(UNCHANGED_NOTE,)) if is_nothing else self._looked(item)
            passed = Passed() if made.lacking or is_nothing else self._published(item, made)
        except (*DATA_ERRORS, Unavailable) as error:  # the step has done its part: the next run looks again
            code = error.code if isinstance(error, DATA_ERRORS) else FAILED
            return ItemResult.failed(item, code, f"the outputs could not be looked at: {error}")
        except Stopped as stopped:
            self.batch.work.guard.stop(stopped)
            return ItemResult.failed(item, INTERRUPTED, f"{item.name}: {stopped.reason}")
        if made.lacking or passed.lacking:
            return self._lacking(item, made.lacking or passed.lacking, begins_anew=made.is_old or bool(passed.lacking))
        if passed.blocked:
            self.notes += passed.notes
            return self._blocked(item, passed.blocked)
        self.notes += (*made.notes, *passed.notes)
        published = [feed_instance(self.target.site, each.storage, each.instance) for each in passed.outputs]
        last = self.before.step if isinstance(self.before, StepSuccess) else None
        instances, is_late = (*made.instances, *published), self.target.late is not None
        try:
            updates = self._updates.of_job(instances, self.batch.data)
        except Stopped as stopped:
            self.batch.work.guard.stop(stopped)
            return ItemResult.failed(item, INTERRUPTED, f"{item.name}: {stopped.reason}")
        self.writes.append(last_succeeded(self.ref, last, instances, is_made_otherwise=is_late, updates=updates))
        self.before = None
        return ItemResult.done(item)

    def _blocked(self, item: StepItem, blocked: Sequence[QualityFailed]) -> ItemResult[StepItem]:
        """The steps have succeeded and the instance has failed: after a release the next run publishes it."""
        self.failure = Problem(code=blocked[0].code, message="; ".join(map(str, blocked)))
        if item.kind == STEP:
            return ItemResult.done(item)
        return ItemResult.failed(item, self.failure.code, self.failure.message)

    def _looked(self, item: StepItem) -> Made:
        """Look at the outputs; what only an attempt before this one has written counts as not made."""
        site, outputs = self.target.site, self._updates.updated(self.resolved.outputs)
        if item.kind == STEP:
            now = self._written()
            if old := unwritten(site, outputs, now.keys() - self._made(now).keys()):
                return Made(lacking=old, is_old=True)
        unvalidated = [each for each in outputs if each.name not in {one.planned.name for one in self._staged.staged}]
        made = look_at_outputs(site, unvalidated, self.batch.data)
        self.is_unsure = False
        return made

    def _published(self, item: StepItem, made: Made) -> Passed:
        """Publish what was validated, where it may be, and write the flags that are missing.

        Before, the end of the last step is recorded: a step of which the ledger does not know that it has ended runs
        again, and must not do so over what readers see already.
        """
        if not (self._staged.staged or made.unflagged):
            return Passed()
        patiently = self.batch.work.patiently
        if isinstance(self.before, StepSuccess):
            end = partial(self.batch.jobs.end_step, self.ref, self.before.step)
            late = self.target.stands_for_steps
            patiently(lambda is_repeated: end(stands_for_steps=late, is_repeated=is_repeated))
            self.before = self.before if late else None
        passed = patiently(lambda _: self._staged.publish(has_run=item.kind == STEP))
        if not (passed.lacking or passed.blocked):
            self.notes += write_flags(self.target.site, made, self.batch.data, self._effects)
        return passed

    def _lacking(self, item: StepItem, lacking: str, *, begins_anew: bool) -> ItemResult[StepItem]:
        """An output is not there; what begins anew would else go on in the middle, and nothing would be made again."""
        if item.kind == END:
            return ItemResult.failed(item, NO_OUTPUT, f"{lacking}; --force runs all steps again")
        first, is_written_down = self.batch.steps[0], not isinstance(self.before, StepSuccess)
        result = ItemResult.failed(item, NO_OUTPUT, f"{item.name}: {lacking}")
        if not is_written_down:
            result = self._failed(item, NO_OUTPUT, lacking)
        if is_written_down or (begins_anew and first is not item):
            self.writes.append(without_effect(self.ref, first.name))
        return result
