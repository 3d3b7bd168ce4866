"""Changes of outputs around the steps: what is staged is removed, validated data is published, flags are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import ItemResult, Problem
from toolkit.availability import DATA_ERRORS
from toolkit.entities import LocationType
from toolkit.process_runner.batches import InstanceBatch, has_failed
from toolkit.process_runner.codes import ALREADY_THERE, NOT_REACHED, NOTHING_THERE
from toolkit.process_runner.jobs import failed, last_succeeded
from toolkit.process_runner.outputs import flag_of
from toolkit.process_runner.staging import Validated
from toolkit.process_runner.staging_places import as_written
from toolkit.process_runner.targets import CLEAR, FLAG, PUBLISH, STEP, StepItem, output_item
from toolkit.result import Outcome

if TYPE_CHECKING:
    from toolkit.actions.action import Applied
    from toolkit.availability import DataAccess
    from toolkit.el import CanonicalPath
    from toolkit.planning.process_io import PlannedOutput
    from toolkit.process_runner.outputs import Made
    from toolkit.process_runner.staging import StagedOutputs
    from toolkit.process_runner.targets import ProcessTarget
    from toolkit.process_runner.updates import RunUpdates
    from toolkit.runs.recorder import LedgerWrite


def cleared_items(target: ProcessTarget, outputs: Sequence[PlannedOutput]) -> tuple[StepItem, ...]:
    """Return the removals of staged data before the first step."""
    return tuple(
        output_item(target, CLEAR, each.name, _place(target, as_written(target.site, each)))
        for each in outputs
        if target.site.quality_of(each.name) is not None
    )


def published_items(target: ProcessTarget, outputs: Sequence[PlannedOutput]) -> tuple[StepItem, ...]:
    """Return what is published after the last step, and then the availability flags of the other outputs."""
    site = target.site
    validated = [each for each in outputs if site.quality_of(each.name) is not None]
    flags = ((each.name, flag_of(site, each)) for each in outputs)
    return (
        *(output_item(target, PUBLISH, each.name, _place(target, each)) for each in validated),
        *(output_item(target, FLAG, name, place) for name, place in flags if place is not None),
    )


def _place(target: ProcessTarget, output: PlannedOutput) -> CanonicalPath:
    return target.site.cluster.place(output.instance.paths[LocationType.DATA])


@dataclass(kw_only=True)
class ClearBatch(InstanceBatch):
    """Batch of all removals of staged data: the steps of an attempt that begins anew write it again.

    Attributes:
        staged: the validated outputs.
    """

    staged: StagedOutputs

    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        """Remove what is staged."""
        return self.applied(self.until_failure(self._cleared, advance))

    def _cleared(self, item: StepItem) -> ItemResult[StepItem]:
        cleared = attempted(self.work, self.staged.by_name[item.name].clear, failures=DATA_ERRORS)
        if isinstance(cleared, FailedAttempt):
            return cleared.of(item)
        return ItemResult.done(item) if cleared else ItemResult.skipped(item, NOTHING_THERE)


@dataclass(kw_only=True)
class PublishBatch(InstanceBatch):
    """Batch of all outputs that are published: the validated ones all or none, then flags; the job ends with it.

    Attributes:
        staged: the validated outputs.
        made: the outputs as the steps have left them.
        updates: what the steps report of outputs and outlets.
        data: where instances are looked at.
    """

    staged: StagedOutputs
    made: Made
    updates: RunUpdates
    data: DataAccess

    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        """Validate and publish."""
        validate = partial(self.staged.validate, self.made.staged)
        validated = attempted(self.work, lambda: self.work.patiently(lambda _: validate()), failures=DATA_ERRORS)
        if isinstance(validated, Validated) and validated.blocked:
            return self._held_back(validated, advance)
        results = self.until_failure(partial(self._published, validated), advance)
        if has_failed(results):
            return self.applied(results, *self._lost)
        written = [each.item for each in results if each.item.kind == FLAG and each.outcome is Outcome.DONE]
        flags = (f"the workflow did not write {each.path}, so it was written now" for each in written)
        notes = (*(validated.notes if isinstance(validated, Validated) else ()), *flags)
        is_late = self.plan.target.late is not None
        instances = self.made.instances
        updates = self.updates_of_job(self.updates, instances, self.data)
        end = last_succeeded(self.ref, self._late_step, instances, is_made_otherwise=is_late, updates=updates)
        return self.applied(results, end, notes=notes)

    def _held_back(self, validated: Validated, advance: Callable[[int], None]) -> Applied[StepItem]:
        """The steps have succeeded and the instance has failed: after a release the next run publishes it."""
        blocked = validated.blocked
        results = [
            ItemResult.failed(item, blocked[item.name].code, str(blocked[item.name]))
            if item.kind == PUBLISH and item.name in blocked
            else ItemResult.skipped(item, NOT_REACHED)
            for item in self.items
        ]
        advance(len(results))
        code = next(iter(blocked.values())).code
        problem = Problem(code=code, message="; ".join(map(str, blocked.values())))
        return self.applied(results, *self._lost, notes=validated.notes, failed=problem)

    @property
    def _late_step(self) -> str | None:
        """The step of a late workflow: its success counts with the end of the job alone, and is lost without that."""
        step = self.plan.items[self.positions.start - 1]
        return step.name if self.plan.target.stands_for_steps and step.kind == STEP else None

    @property
    def _lost(self) -> tuple[LedgerWrite, ...]:
        return () if self._late_step is None else (failed(self.ref, self._late_step),)

    def _published(self, validated: Validated | FailedAttempt, item: StepItem) -> ItemResult[StepItem]:
        effect = self._flagging(item) if item.kind == FLAG else self._publishing(item)
        if effect is None:
            return ItemResult.skipped(item, NOTHING_THERE if item.name in self.made.missing else ALREADY_THERE)
        if isinstance(validated, FailedAttempt):
            return validated.of(item)
        published = attempted(self.work, effect, failures=DATA_ERRORS)
        return published.of(item) if isinstance(published, FailedAttempt) else ItemResult.done(item)

    def _publishing(self, item: StepItem) -> Callable[[], None] | None:
        staged = self.staged.by_name[item.name]
        return partial(staged.unit.publish, staged.flag) if item.name in self.made.staged else None

    def _flagging(self, item: StepItem) -> Callable[[], None] | None:
        flag = self.made.unflagged.get(item.name)
        return None if flag is None else partial(self.work.stores(flag).write, flag, ())
