"""Outputs of a process that are validated: steps write them in the staging directory, and all are published or none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.staging import InstanceStaging
from toolkit.actions.validation import QUALITY_UNKNOWN, FeedValidation, QualityFailed
from toolkit.availability import is_there
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.process_runner.late_fingerprint import fingerprint
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.actions.staged_unit import StagedUnit
    from toolkit.entities import Output
    from toolkit.planning.process_io import PlannedOutput, ProcessSite
    from toolkit.process_runner.output_effects import OutputEffects


@dataclass(frozen=True, kw_only=True, slots=True)
class Passed:
    """Outcome of the validated outputs.

    Attributes:
        outputs: that are published.
        lacking: what the steps should have written and have not, in words; empty: nothing.
        blocked: those that must not be announced; then none of the instance is.
        notes: for the user.
    """

    outputs: tuple[PlannedOutput, ...] = ()
    lacking: str = ""
    blocked: tuple[QualityFailed, ...] = ()
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


@dataclass(kw_only=True)
class StagedOutputs:
    """The validated outputs of one run of an instance. Every call raises StorageError and StopRequested.

    Attributes:
        site: the process on its cluster.
        outputs: all of the instance.
        work: of the run.
        check: raises when the run must end.
        now: of the wall clock, UTC.
        effects: gets what is removed and published.
        attempts: the numbers of the attempts that the run continues: what they published is the work of its steps.
    """

    site: ProcessSite
    outputs: Iterable[PlannedOutput]
    work: RunContext
    check: Callable[[], None]
    now: Callable[[], datetime]
    effects: OutputEffects
    attempts: Collection[int] = ()

    @cached_property
    def staged(self) -> tuple[StagedOutput, ...]:
        """The outputs that are validated."""
        return tuple(self._staged())

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

    def begin(self, *, resumed: bool) -> str:
        """Make room for the steps; what an earlier attempt has written stays for one that goes on from there.

        Returns:
            Why the steps must not go on; empty: nothing.
        """
        may_repeat = not all(step.recoverable for step in self.site.process.workflow.steps)  # with those behind it
        for each in self.staged:
            each.unit.system.mkdirs(each.unit.place.parent)
            if not resumed:
                is_staged = is_there(each.unit.system, each.unit.place)
                each.unit.clear()
                if is_staged:
                    self.effects.note("clear", str(each.unit.place))
                continue
            each.unit.settle()
            if not each.is_staged and may_repeat and each.is_published(self.attempts):
                return (
                    f"the output {each.planned.name} was published by an earlier attempt, and what a part of the steps"
                    " would write now would replace all of it; --force runs all steps again"
                )
            each.unit.begin_copy()
        return ""

    def publish(self, *, has_run: bool) -> Passed:
        """Validate all outputs, and publish them when all may be: half of an instance must not be published.

        Args:
            has_run: a step has run in this attempt; then what is published already is not its work.

        Raises:
            Unavailable: the ledger cannot be written.
        """
        staged: list[StagedOutput] = []
        there: list[PlannedOutput] = []
        lacking: list[str] = []
        blocked: list[QualityFailed] = []
        notes: list[str] = []
        for each in self.staged:
            each.unit.settle()
            if each.is_staged:
                staged.append(each)
            elif (
                each.is_published(None)
                if each.rules.allow_existing
                else not has_run and each.is_published(self.attempts)
            ):
                there.append(each.planned)
            elif each.rules.allow_empty:
                notes.append(f"the output {each.planned.name} was not made")
            else:
                lacking.append(_lacking(each))
        for each in [] if lacking else staged:
            try:
                notes += each.validate(self.check)
            except QualityFailed as error:
                blocked.append(error)
        if not lacking and not blocked:  # the first may have been validated hours ago
            why = "it changed after it was validated; run again, which validates what is there then"
            changed = [each.unit.unit for each in staged if not each.staging.may_publish(each.unit.unit)]
            blocked = [QualityFailed(unit=path_text(str(each)), why=why, code=QUALITY_UNKNOWN) for each in changed]
        for each in [] if lacking or blocked else staged:
            each.unit.publish(each.flag)
            self.effects.note("publish", str(each.unit.unit))
            there.append(each.planned)
        return Passed(outputs=tuple(there), lacking="; ".join(lacking), blocked=tuple(blocked), notes=tuple(notes))


def _lacking(made: StagedOutput) -> str:
    name = made.planned.name
    return (
        f"the steps wrote nothing to {made.unit.place}, where the output {name} is validated; a workflow must write"
        f" where ${{{name}}} says; is nothing right, allow_empty: true, is what readers see already right,"
        " allow_existing: true"
    )
