"""Removing output instances before the first step of an attempt: `prepare: delete` of an output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.guard import STOPPED, Refusal
from toolkit.actions.hold_watch import HoldWatch, NewHolds
from toolkit.actions.model import ItemResult, Problem, SkipReason
from toolkit.actions.publication import remove
from toolkit.catalog.model import TableName
from toolkit.catalog.written_places import written_places
from toolkit.el import ElError, format_instant, shift
from toolkit.entities import LocationType, Prepare
from toolkit.errors import NotImplementedYet
from toolkit.planning.retention import holding
from toolkit.process_runner.batches import InstanceBatch
from toolkit.process_runner.codes import NOT_REMOVABLE, NOTHING_THERE
from toolkit.process_runner.targets import PREPARE, StepItem, output_item
from toolkit.storage import NotFound, StorageError, aside_name

if TYPE_CHECKING:
    from toolkit.actions.action import Applied, RunContext
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, InstanceSequence
    from toolkit.entities import Cluster, Feed, Hold
    from toolkit.planning.process_io import PlannedInput, PlannedOutput, ProcessSite
    from toolkit.process_runner.resolution import ResolvedInstance
    from toolkit.process_runner.targets import ProcessPlan, ProcessTarget


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedOutput:
    """An output instance that is removed before the first step.

    Attributes:
        output: of the process instance.
        place: of its data.
        base: the feed's directory; nothing at or above it is removed.
        flag: the availability flag, which goes first; empty: the feed has none.
    """

    output: PlannedOutput
    place: CanonicalPath
    base: CanonicalPath
    flag: str


def is_prepared(site: ProcessSite, name: str) -> bool:
    """Return whether an output is removed before the first step.

    The steps of a process write an output with quality beside its place. What readers see stays until the new data has
    passed; the staged data is removed in any case.
    """
    return site.process.outputs[name].prepare is Prepare.DELETE and site.quality_of(name) is None


def prepared_outputs(site: ProcessSite, outputs: Sequence[PlannedOutput]) -> tuple[PreparedOutput, ...]:
    """Return the output instances that are removed before the first step, computed from the config repo."""
    return tuple(
        PreparedOutput(
            output=each,
            place=site.cluster.place(each.instance.paths[LocationType.DATA]),
            base=site.cluster.place(each.storage.templates[LocationType.DATA].base),
            flag=site.feeds[each.storage.feed].availability_flag or "",
        )
        for each in outputs
        if each.storage.table is None and is_prepared(site, each.name)
    )


def prepared_items(target: ProcessTarget, outputs: Sequence[PlannedOutput]) -> tuple[StepItem, ...]:
    """Return the removals of a plan, in the order of `prepared_outputs`."""
    return tuple(
        output_item(target, PREPARE, each.output.name, each.place) for each in prepared_outputs(target.site, outputs)
    )


def unprepared_table(site: ProcessSite) -> NotImplementedYet | None:
    """Return why a process cannot be run: `prepare: delete` of a table."""
    for name, each in site.process.outputs.items():
        if each.prepare is Prepare.DELETE and site.feeds[each.feed].table_on(site.cluster.name) is not None:
            return NotImplementedYet(
                what=f"prepare: delete of the output {name}, which is a table ({each.feed}),",
                instead="let the workflow overwrite the partition (INSERT OVERWRITE), and remove prepare",
                where=f"process {site.process.name}",
            )
    return None


@dataclass(frozen=True, kw_only=True)
class PrepareRules:
    """Rules that protect an output from removal.

    Attributes:
        holds: of the repo and the ledger.
        new_holds: added since the run read them.
        losing: the feeds, each with its cluster, that lose data when instances of a feed go.
    """

    holds: Sequence[Hold]
    new_holds: NewHolds
    losing: Callable[[Feed, Cluster], Sequence[tuple[str, str]]]

    def watch(self, site: ProcessSite, outputs: Sequence[PreparedOutput], work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition on removals: a hold that is set while the run is at work stops them."""
        if not outputs:
            return ()
        pairs = tuple((each.output.storage.feed, site.cluster.name) for each in outputs)
        bases = tuple(each.base for each in outputs)
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def checked(
        self, plan: ProcessPlan, resolved: ResolvedInstance, metastores: Callable[[Cluster], Metastore]
    ) -> Problem | None:
        """Return why the config repo does not allow a removal of the plan.

        The removal would take more than this instance's output: the directory of several or all instances, what
        another run of the process makes, data of another feed, or what the process reads.

        Raises:
            CatalogError: the metastore does not say where an input is.
            ElError: a location in a metastore is no path.
        """
        site = plan.target.site
        for each in prepared_of(plan):
            name, feed = each.output.name, site.feeds[each.output.storage.feed]
            whys = (
                _not_its_own(each) or _of_several(each, feed.instances_on(site.cluster.name)),
                _made_otherwise(plan.target, each),
                _shared(self.losing(feed, site.cluster), site.cluster.name),
                *_read(site, each, resolved.inputs, metastores),
            )
            why = next(filter(None, whys), "")
            if why:
                message = f"the output {name} must not be removed before the run: {why}; remove its prepare: delete"
                return Problem(code=NOT_REMOVABLE, message=message)
        return None

    def held(self, plan: ProcessPlan, work: RunContext) -> Problem | None:
        """Return which hold a removal of the plan waits for.

        Raises:
            Unreachable: a store does not answer.
            HoldCheckFailed: a hold file or the ledger cannot be read.
            Stopped: the run must not go on.
        """
        site, outputs = plan.target.site, prepared_of(plan)
        for each in outputs:
            feed, instant = site.feeds[each.output.storage.feed], each.output.instance.instant
            concerned = [hold for hold in self.holds if hold.concerns(feed.name, site.cluster.name)]
            hold = holding(instant, shift(instant, feed.frequency, 1, feed.timezone), concerned)
            is_held = hold is not None or any(
                watch.holds(each.base, must_look=True) for watch in self.watch(site, (each,), work)
            )
            if is_held:
                why = f"a hold ({hold.reason})" if hold is not None else f"a hold file in {each.base} or a new hold"
                message = (
                    f"the output {each.output.name} would be removed before the first step (prepare: delete), and "
                    f"{why} keeps {each.place}; run again when the hold is lifted"
                )
                return Problem(code=SkipReason.HELD, message=message)
        return None


def prepared_of(plan: ProcessPlan) -> tuple[PreparedOutput, ...]:
    """Return the outputs that the plan removes: none when an earlier attempt is continued."""
    resolved = plan.detail.resolved
    if resolved is None or not any(each.kind == PREPARE for each in plan.items):
        return ()
    return prepared_outputs(plan.target.site, resolved.outputs)


def _not_its_own(each: PreparedOutput) -> str:
    template = each.output.storage.templates[LocationType.DATA]
    if template.dated and each.place != each.base and each.place.is_within(each.base):
        return ""
    return f"{each.place} is the directory of all instances of {each.output.storage.feed}, whose path has no date"


def _of_several(each: PreparedOutput, instances: InstanceSequence) -> str:
    template = each.output.storage.templates[LocationType.DATA]
    period = template.parse(each.output.instance.paths[LocationType.DATA])
    if period is not None and sum(instances.count(*span) for span in period.spans) == 1:
        return ""
    return f"{each.place} is not the directory of one instance of {each.output.storage.feed} alone"


def _made_otherwise(target: ProcessTarget, each: PreparedOutput) -> str:
    """Return which run of the process also makes the output: one next to this, since what runs make never goes back."""
    site, instant = target.site, each.output.instance.instant
    if target.is_off_grid:
        made = f"{format_instant(instant)} of {each.output.storage.feed}"
        return f"runs that updates of data cause at other times may also make {made}"
    runs = site.process.instances_on(site.cluster.name)
    at = runs.index(target.nominal_time)
    for run in (runs[near] for near in (at - 1, at + 1) if 0 <= near < len(runs)):
        with suppress(ElError):  # then that run makes nothing
            if site.output(each.output.name, run).instance.instant == instant:
                made = f"{format_instant(instant)} of {each.output.storage.feed}"
                return f"the run {format_instant(run)} also makes {made}"
    return ""


def _shared(losing: Sequence[tuple[str, str]], here: str) -> str:
    names = [feed if cluster == here else f"{feed} on {cluster}" for feed, cluster in losing]
    return f"data of {', '.join(names)} is, or may be, in the same directories" if names else ""


def _read(
    site: ProcessSite,
    each: PreparedOutput,
    inputs: Sequence[PlannedInput],
    metastores: Callable[[Cluster], Metastore],
) -> Iterator[str]:
    for one in inputs:
        for place in _read_places(site, one, metastores):
            if place.meets(each.place):
                yield f"the input {one.name} reads {place}"


def _read_places(
    site: ProcessSite, read: PlannedInput, metastores: Callable[[Cluster], Metastore]
) -> Iterator[CanonicalPath]:
    cluster, table = site.cluster, read.storage.table
    for instance in read.instances:
        yield from map(cluster.place, instance.paths.values())
        is_ingested = site.feeds[read.storage.feed].cluster(cluster.name).ingest is not None
        if table is not None and instance.partition is not None and not is_ingested:  # that one is no Hive table
            name = TableName(table.database, table.table)
            yield from written_places(metastores(cluster), name, instance.partition, cluster.place).places


@dataclass(kw_only=True)
class PrepareBatch(InstanceBatch):
    """Batch of all removals, the first items of a plan, one after the other until one cannot be removed."""

    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        """Remove the outputs."""
        outputs = {each.output.name: each for each in prepared_of(self.plan)}
        return self.applied(self.until_failure(lambda item: self._removed(item, outputs[item.name]), advance))

    def _removed(self, item: StepItem, each: PreparedOutput) -> ItemResult[StepItem]:
        guard = self.work.guard
        refusal = guard.refusal(each.base, must_look=True)
        if refusal is not None:
            return _refused(item, refusal)
        with guard.watching(each.base):
            removed = attempted(self.work, partial(self._remove, each), failures=(StorageError,))
        if not isinstance(removed, FailedAttempt):
            return ItemResult.done(item) if removed else ItemResult.skipped(item, NOTHING_THERE)
        return removed.of(item) if removed.refusal is None else _refused(item, removed.refusal)

    def _remove(self, each: PreparedOutput) -> bool:
        """Remove an output and what a killed removal of it has put aside; return whether anything was there."""
        system, was_there = self.work.stores(each.place), True
        if each.flag and not system.capabilities.atomic_delete:
            remove(system, each.place.child(each.flag), each.base)
        try:
            system.delete(each.place, below=each.base)
        except NotFound:
            was_there = False
        if system.capabilities.directories:
            remove(system, each.place.parent.child(aside_name(each.place.name)), each.base)
        return was_there


def _refused(item: StepItem, refusal: Refusal) -> ItemResult[StepItem]:
    """Return the result of a removal that must not begin or go on: the steps rely on it, so that the run has failed."""
    if refusal is STOPPED:
        return refusal.of(item)
    why = refusal.why or "its feed was put on hold"
    return ItemResult.failed(item, refusal.code, f"{item.uri} was not removed before the first step: {why}")
