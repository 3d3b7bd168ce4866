"""Outputs of a process that are validated: steps write them in the staging directory, and all are published or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.staging import InstanceStaging
from toolkit.actions.validation import QUALITY_UNKNOWN, FeedValidation, QualityFailed
from toolkit.availability import is_there
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.process_runner.batches import check_child
from toolkit.process_runner.late_fingerprint import fingerprint
from toolkit.process_runner.outputs import Made, feed_instance
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.staged_unit import StagedUnit
    from toolkit.entities import Output
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.planning.process_io import PlannedOutput, ProcessSite


@dataclass(frozen=True, kw_only=True, slots=True)
class Validated:
    """Outcome of the validation of staged outputs.

    Attributes:
        blocked: those that must not be published, by name; then none of the instance is.
        notes: for the user.
    """

    blocked: Mapping[str, QualityFailed] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedOutput:
    """An output that is validated.

    Attributes:
        planned: with its path.
        rules: of the process.
        staging: of the instance of its feed.
        unit: as it is staged.
    """

    planned: PlannedOutput
    rules: Output
    staging: InstanceStaging
    unit: StagedUnit

    @property
    def is_staged(self) -> bool:
        """True if the steps have written files, or a directory that may have none."""
        system, place = self.unit.system, self.unit.place
        return is_there(system, place) if self.rules.allow_empty else bool(fingerprint(system, place).files)

    def is_published(self, by: Collection[int] | None) -> bool:
        """Return whether the published data was validated by one of some runs; None: by any."""
        unit = self.unit.unit
        return is_there(self.unit.system, unit) and self.staging.may_publish(unit, unit, is_copy=True, by=by)

    @property
    def flag(self) -> str:
        """The name of the availability flag; empty: the feed has none."""
        return self.staging.validation.feed.availability_flag or ""

    def clear(self) -> bool:
        """Make room for the steps; return whether anything was staged."""
        system, place = self.unit.system, self.unit.place
        system.mkdirs(place.parent)
        was_there = is_there(system, place)
        self.unit.clear()
        return was_there

    def validate(self, check: Callable[[], None]) -> Iterator[str]:
        """Validate, then write the flag, which readers could take for data by its name; yield notes.

        Raises:
            QualityFailed: it must not be published.
            Unavailable: the ledger cannot be written.
        """
        yield from self.staging.validate_unit(self.unit.unit, self.unit.place, check)
        flag = self.unit.place.child(self.flag) if self.flag else None
        if flag is not None and not is_there(self.unit.system, flag):
            self.unit.system.write(flag, ())
            yield f"the workflow did not write {flag.name} for {self.planned.name}, so it was written now"


@dataclass(frozen=True, kw_only=True)
class StagedOutputs:
    """The validated outputs of one run of an instance. Every call raises StorageError and StopRequested.

    Attributes:
        site: the process on its cluster.
        outputs: all of the instance.
        work: of the run.
        now: of the wall clock, UTC.
        attempts: the numbers of the attempts that the run continues: what they published is the work of its steps.
    """

    site: ProcessSite
    outputs: Iterable[PlannedOutput]
    work: RunContext
    now: Callable[[], datetime]
    attempts: Collection[int] = ()

    @cached_property
    def by_name(self) -> Mapping[str, StagedOutput]:
        """The outputs that are validated, by name."""
        return {each.planned.name: each for each in self._staged()}

    def _staged(self) -> Iterator[StagedOutput]:
        site, place = self.site, self.site.cluster.place
        for each in self.outputs:
            if (quality := site.quality_of(each.name)) is None:
                continue
            staging = InstanceStaging(
                validation=FeedValidation(feed=site.feeds[each.storage.feed], cluster=site.cluster, quality=quality),
                instance_key=format_instant(each.instance.instant),
                base=place(each.storage.templates[LocationType.DATA].base),
                work=self.work,
                now=self.now,
            )
            unit = staging.unit(place(each.instance.paths[LocationType.DATA]))
            yield StagedOutput(planned=each, rules=site.process.outputs[each.name], staging=staging, unit=unit)

    def resume(self) -> str:
        """Keep what an earlier attempt has written, for one that goes on from there.

        Returns:
            Why the steps must not go on; empty: nothing.
        """
        may_repeat = not all(step.recoverable for step in self.site.process.workflow.steps)  # with those behind it
        for each in self.by_name.values():
            each.unit.system.mkdirs(each.unit.place.parent)
            each.unit.settle()
            if not each.is_staged and may_repeat and each.is_published(self.attempts):
                return (
                    f"the output {each.planned.name} was published by an earlier attempt, and what a part of the steps"
                    " would write now would replace all of it; --force runs all steps again"
                )
            each.unit.begin_copy()
        return ""

    def look(self, *, has_run: bool) -> Made:
        """Look at the outputs after the steps; finish what a killed run began of them. Raises Unavailable, too.

        If a step has run in this attempt, what is published already is not its work.
        """
        instances: list[FeedInstance] = []
        staged: list[str] = []
        missing: list[str] = []
        lacking: list[str] = []
        for name, each in self.by_name.items():
            each.unit.settle()
            if each.is_staged:
                staged.append(name)
            elif not (
                each.is_published(None)
                if each.rules.allow_existing
                else not has_run and each.is_published(self.attempts)
            ):
                (missing if each.rules.allow_empty else lacking).append(name)
                continue
            instances.append(feed_instance(self.site, each.planned.storage, each.planned.instance))
        why = "; ".join(_lacking(self.by_name[name]) for name in lacking)
        return Made(
            instances=tuple(instances), lacking=why, is_old=bool(why), missing=frozenset(missing), staged=tuple(staged)
        )

    def validate(self, names: Iterable[str]) -> Validated:
        """Validate staged outputs; all of them may be published or none, since half of an instance must not be.

        Raises:
            Unavailable: the ledger cannot be written.
        """
        blocked: dict[str, QualityFailed] = {}
        notes: list[str] = []
        staged = [self.by_name[name] for name in names]
        for each in staged:
            try:
                notes += each.validate(partial(check_child, self.work))
            except QualityFailed as error:
                blocked[each.planned.name] = error
        for each in [] if blocked else staged:  # the first may have been validated hours ago
            if not each.staging.may_publish(each.unit.unit):
                why = "it changed after it was validated; run again, which validates what is there then"
                unit = path_text(str(each.unit.unit))
                blocked[each.planned.name] = QualityFailed(unit=unit, why=why, code=QUALITY_UNKNOWN)
        return Validated(blocked=blocked, notes=tuple(notes))


def _lacking(made: StagedOutput) -> str:
    name = made.planned.name
    return (
        f"the steps wrote nothing to {made.unit.place}, where the output {name} is validated; a workflow must write"
        f" where ${{{name}}} says; is nothing right, allow_empty: true, is what readers see already right,"
        " allow_existing: true"
    )
