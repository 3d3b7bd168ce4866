"""Instances that other runs write while retention is at work: they stay, and the rest goes (ADR 0054)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult, SkipReason
from toolkit.actions.output_leases import are_apart, database_lease, table_lease
from toolkit.actions.staged_unit import staging_top, unit_name
from toolkit.catalog.partition_name import split_name
from toolkit.result import Outcome
from toolkit.retention.plan import ItemKind
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.ledger.runs.outputs import HeldOutput
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTarget, WrittenInstance


@dataclass(frozen=True, kw_only=True, slots=True)
class Writer:
    """Another run that writes data of the feed, or of a feed that shares its data.

    Attributes:
        output: the lease.
        written: where its data goes, by the config repo; None: that cannot be told, so that nothing may go.
    """

    output: HeldOutput
    written: WrittenInstance | None


@dataclass(frozen=True, kw_only=True)
class Writers:
    """The other writers, as the ledger has them at one moment."""

    found: tuple[Writer, ...]
    real: Callable[[CanonicalPath], CanonicalPath]
    _bases: dict[CanonicalPath, CanonicalPath] = field(default_factory=dict, init=False)

    def result_of(self, item: PlanItem) -> ItemResult[PlanItem] | None:
        """Return the result of an item that another run writes, or None if it may go."""
        for each in self.found:
            if self._meets(item, each):
                message = f"{item.uri} stays: {each.output.held}"
                return ItemResult(item=item, outcome=Outcome.SKIPPED, code=SkipReason.LEASE_HELD, message=message)
        return None

    def is_below(self, root: CanonicalPath, base: CanonicalPath) -> bool:
        """Return whether another run writes, or may write, below a directory that is to be removed as a whole."""
        place = self._real(root, base)
        return any(each.written is None or any(path.meets(place) for path in each.written.paths) for each in self.found)

    def _meets(self, item: PlanItem, writer: Writer) -> bool:
        if writer.written is None:
            return True
        if item.type is ItemKind.STAGED and item.instance_key == writer.output.instance_key:
            return True
        if item.partition is not None and writer.written.partition is not None:
            return not are_apart(split_name(item.partition.name), writer.written.partition)
        place = self._real(_readers_place(item), item.base)
        return any(place.meets(path) for path in writer.written.paths)

    def _real(self, path: CanonicalPath, base: CanonicalPath) -> CanonicalPath:
        if base not in self._bases:
            self._bases[base] = self.real(base)
        return path.moved(base, self._bases[base])


def _readers_place(item: PlanItem) -> CanonicalPath:
    """Return where readers would find what is staged for an instance; of other items their own place."""
    top = staging_top(item.path) if item.type is ItemKind.STAGED else None
    return item.path if top is None else top.child(unit_name(item.path.name))


def writers_of(target: FeedTarget, work: RunContext) -> Writers:
    """Return the runs that write instances of the feed, or of feeds that share its data, at this moment.

    To be asked after the items of a batch are written down: a run that starts later finds them (`OpenEviction`). If the
    ledger does not answer, the run is stopped, and nothing of the batch begins.

    Of a path feed, runs that write tables on its stores count as well: their data may be in its directories.
    """
    own, table = ((target.feed, target.cluster), *target.neighbours), target.table
    also = set(target.table_resources)
    if table is not None:
        leases = ((table_lease(on, table.name), database_lease(on, table.name.database)) for _, on in own)
        also = {each.resource for pair in leases for each in pair}
    try:
        held = work.outputs.held((*own, *target.table_feeds), also)
    except Stopped as stopped:
        work.guard.stop(stopped)
        held = []
    found = tuple(Writer(output=each, written=_written(each, target)) for each in held)
    return Writers(found=found, real=target.real)


def _written(output: HeldOutput, target: FeedTarget) -> WrittenInstance | None:
    if target.table is None and (not output.feed or (output.feed, output.cluster) in target.table_feeds):
        return target.table_written(output)
    return target.written_at(output.feed, output.cluster, output.instance_key) if output.feed else None


def held_items(items: Mapping[int, PlanItem], writers: Writers) -> dict[int, ItemResult[PlanItem]]:
    """Return the results of those items that other runs write, by position."""
    found = ((at, writers.result_of(item)) for at, item in items.items()) if writers.found else ()
    return {at: result for at, result in found if result is not None}
