"""Outputs that are judged before anybody is told: steps write them where nobody reads, and what passes is published."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import StagedUnit
from toolkit.actions.validation import QUALITY_UNKNOWN, Part, QualityFailed, Written
from toolkit.availability import is_there
from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.process_runner.late_fingerprint import fingerprint
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
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


@dataclass(kw_only=True)
class StagedOutputs:
    """The outputs of one run of an instance that are judged. Every call raises StorageError and StopRequested.

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
    _notes: list[str] = field(default_factory=list, init=False)

    @cached_property
    def staged(self) -> tuple[PlannedOutput, ...]:
        """The outputs that are validated."""
        return tuple(each for each in self.outputs if self.site.quality_of(each.name) is not None)

    def begin(self, *, resumed: bool) -> str:
        """Make room for the steps; what an earlier attempt has written stays for one that goes on from there.

        Returns:
            Why the steps must not go on; empty: nothing.
        """
        for output in self.staged:
            unit = self._unit(output)
            unit.work.stores(unit.unit).mkdirs(unit.place.parent)
            if not resumed:
                is_staged = is_there(unit.work.stores(unit.unit), unit.place)
                unit.clear()
                if is_staged:
                    self.effects.note("clear", str(unit.place))
                continue
            unit.settle()
            if (
                not self._is_waiting(output, unit)
                and self._may_repeat
                and self._may_publish(output, unit, by=self.attempts)
            ):
                return (
                    f"the output {output.name} was published by an earlier attempt, and what a part of the steps would"
                    " write now would replace all of it; --force runs all steps again"
                )
            unit.begin_copy()
        return ""

    @property
    def _may_repeat(self) -> bool:
        """Whether a step may run again that has succeeded, with those behind it."""
        return not all(step.recoverable for step in self.site.process.workflow.steps)

    def publish(self, *, has_run: bool) -> Passed:
        """Ask the gate for all of them, and publish them when all may be: half of an instance helps nobody.

        Args:
            has_run: a step has run in this attempt; then what is published already is not its work.

        Raises:
            Unavailable: the ledger cannot be written.
        """
        waiting: list[tuple[PlannedOutput, StagedUnit]] = []
        there: list[PlannedOutput] = []
        lacking: list[str] = []
        blocked: list[QualityFailed] = []
        self._notes.clear()
        for output in self.staged:
            unit = self._unit(output)
            unit.settle()
            if self._is_waiting(output, unit):
                waiting.append((output, unit))
            elif self._is_published(output, unit, has_run=has_run):
                there.append(output)
            elif self._may_be_empty(output):
                self._notes.append(f"the output {output.name} was not made")
            else:
                lacking.append(self._lacking(output, unit))
        for output, unit in [] if lacking else waiting:
            blocked += self._refused(output, unit)
        if not lacking and not blocked:
            blocked += [self._changed(output) for output, unit in waiting if not self._is_as_validated(output, unit)]
        if not lacking and not blocked:
            for output, unit in waiting:
                unit.publish()
                self.effects.note("publish", self._address(output))
                there.append(output)
        return Passed(
            outputs=tuple(there), lacking="; ".join(lacking), blocked=tuple(blocked), notes=tuple(self._notes)
        )

    def _refused(self, output: PlannedOutput, unit: StagedUnit) -> Iterator[QualityFailed]:
        """The flag comes after the verdict, which is not about it: by its name, readers could take it for data."""
        try:
            publishable = unit.validate(self._written(output, unit.place), self.check, self.now())
        except QualityFailed as error:
            yield error
        else:
            self._complete(output, unit)
            self._notes.extend(publishable.notes)

    def _is_as_validated(self, output: PlannedOutput, unit: StagedUnit) -> bool:
        """Whether it still is what the gate has let pass: the others may have been judged for hours since then."""
        return self.work.validator.may_publish(self._written(output, unit.place))

    def _changed(self, output: PlannedOutput) -> QualityFailed:
        why = "it changed after it was judged; run again, which judges what is there then"
        return QualityFailed(unit=self._address(output), why=why, code=QUALITY_UNKNOWN)

    def _complete(self, output: PlannedOutput, unit: StagedUnit) -> None:
        system = unit.work.stores(unit.unit)
        if unit.flag and not is_there(system, unit.place.child(unit.flag)):
            system.write(unit.place.child(unit.flag), ())
            self._notes.append(f"the workflow did not write {unit.flag} for {output.name}, so it was written now")

    def _is_waiting(self, output: PlannedOutput, unit: StagedUnit) -> bool:
        """Whether the steps have written files, or a directory that may have none."""
        system = unit.work.stores(unit.unit)
        if self._may_be_empty(output):
            return is_there(system, unit.place)
        return bool(fingerprint(system, unit.place).files)

    def _may_publish(self, output: PlannedOutput, unit: StagedUnit, *, by: Collection[int] | None) -> bool:
        there = is_there(unit.work.stores(unit.unit), unit.unit)
        return there and self.work.validator.may_publish(self._written(output, unit.unit), is_copy=True, by=by)

    def _is_published(self, output: PlannedOutput, unit: StagedUnit, *, has_run: bool) -> bool:
        """Whether what readers see is the work of the steps: an attempt died when it had published it."""
        if self.site.process.outputs[output.name].allow_existing:
            return self._may_publish(output, unit, by=None)
        return not has_run and self._may_publish(output, unit, by=self.attempts)

    def _may_be_empty(self, output: PlannedOutput) -> bool:
        return self.site.process.outputs[output.name].allow_empty

    def _lacking(self, output: PlannedOutput, unit: StagedUnit) -> str:
        return (
            f"the steps wrote nothing to {unit.place}, where the output {output.name} is judged; a workflow must write"
            f" where ${{{output.name}}} says; is nothing right, allow_empty: true,"
            " is what readers see already right, allow_existing: true"
        )

    def _written(self, output: PlannedOutput, at: CanonicalPath) -> Written:
        quality = self.site.quality_of(output.name)
        assert quality is not None  # noqa: S101 - of `gated`
        return Written(
            feed=self.site.feeds[output.storage.feed],
            cluster=self.site.cluster,
            instance_key=format_instant(output.instance.instant),
            unit=self._address(output),
            parts=(Part(place=at, keys={}),),
            quality=quality,
        )

    def _address(self, output: PlannedOutput) -> str:
        return path_text(self.site.uri(output.storage, output.instance))

    def _unit(self, output: PlannedOutput) -> StagedUnit:
        place = self.site.cluster.place
        unit = place(output.instance.paths[LocationType.DATA])
        return StagedUnit(
            work=self.work,
            unit=unit,
            base=place(output.storage.templates[LocationType.DATA].base),
            flag=self.site.feeds[output.storage.feed].availability_flag or "",
        )
