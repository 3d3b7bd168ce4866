"""Evicting partitions: the metastore forgets them, then their data go by our own removal (DESIGN section 7, ADR 0045).

Each directory stands behind its partitions in the plan. What the metastore has forgotten and whose data are still there
stays open in the ledger, since no listing finds it any more: the next run's `recover` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, Recovery
from toolkit.actions.batch_loop import new_item, settled_item
from toolkit.actions.model import ItemResult
from toolkit.catalog.errors import MetastoreUnreachable
from toolkit.catalog.port import BATCH
from toolkit.result import Outcome
from toolkit.retention.batches import ARCHIVE_BATCH, EvictionBatch
from toolkit.retention.delete import Removed
from toolkit.retention.output_watch import held_items, writers_of
from toolkit.retention.plan import FORGOTTEN, ItemKind, PlanItem, StayReason
from toolkit.retention.records import InstanceEvents
from toolkit.retention.tables.archive import PartitionArchive
from toolkit.retention.tables.delete_quarantine import PartitionQuarantine
from toolkit.retention.tables.drop import PartitionDrop
from toolkit.retention.tables.recovery import TableRecovery
from toolkit.retention.tables.removal import GONE, DataRemoval, is_left
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.ledger.runs.items import Item, NewItem, SettledItem
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable


@dataclass(frozen=True, kw_only=True)
class TableRetention:
    """Retention of one table feed.

    Attributes:
        base: the table's own directory.
    """

    plan: FeedPlan
    table: FeedTable
    base: CanonicalPath
    work: RunContext

    @cached_property
    def _events(self) -> InstanceEvents:
        return InstanceEvents(self.plan.items)

    def recover(self, open_items: Sequence[Item]) -> Recovery:
        """Finish the data of partitions that an earlier run had dropped."""
        if self._archive is not None and self.plan.detail.hold_file is None:
            try:
                self._archive.remove_copies(open_items, self.plan.items)
            except StorageError as error:  # the next run tries again, by the items that are left open
                return Recovery(notes=(f"unfinished copies in the archive stay: {error}",))
        return TableRecovery(plan=self.plan, table=self.table, base=self.base, work=self.work).recovered(open_items)

    def batches(self) -> tuple[EvictionBatch, ...]:
        """Return about so many partitions as a metastore should drop at once, each with its directory."""
        most = BATCH if self._archive is None else ARCHIVE_BATCH
        return tuple(EvictionBatch(each, partial(self._apply, each)) for each in self._positions(most))

    @cached_property
    def _archive(self) -> PartitionArchive | None:
        """None: what goes is not archived."""
        target = self.plan.target
        if target.archive is None:
            return None
        return PartitionArchive(target=target, table=self.table, archive=target.archive, work=self.work)

    @cached_property
    def _quarantine(self) -> PartitionQuarantine:
        return PartitionQuarantine(target=self.plan.target, table=self.table, base=self.base, work=self.work)

    def _positions(self, most: int) -> Iterator[range]:
        begin, partitions, items = 0, 0, self.plan.items
        for position, item in enumerate(items):
            partitions += item.type is not ItemKind.PARTITION_DATA
            is_last = position + 1 == len(items)
            if item.type is not ItemKind.PARTITION and (partitions >= most or is_last):
                yield range(begin, position + 1)
                begin, partitions = position + 1, 0

    def _apply(self, positions: range, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Have partitions forgotten, then remove their data."""
        items = self.plan.items
        refusal = self.work.guard.refusal(self.base, items=len(positions), must_look=True)
        if refusal is not None:
            advance(len(positions))
            return Applied(results=tuple(refusal.of(items[at]) for at in positions))
        batch = _BatchOutcome(items=items, positions=positions)
        held = held_items({at: items[at] for at in positions}, writers_of(self.plan.target, self.work))
        if batch.partitions:
            condemned = self._quarantine.condemn(items, positions, held)
            stay = {**self._archived(batch, held), **condemned, **held}
            drop = PartitionDrop(table=self.table, work=self.work, held=stay)
            batch.results, batch.open = drop.of(batch.partitions)
        advance(len(batch.results))
        batch.results |= {at: result for at, result in held.items() if items[at].type is ItemKind.STAGED}
        ready, first = batch.ready(), self.plan.target.availability_flag
        self._quarantine.settle(items, positions, batch.codes, batch.open)
        removal = DataRemoval(items=items, work=self.work, first=first, quarantine=self._quarantine.remove)
        done, parents = removal.of(ready)
        advance(len(positions) - len(batch.partitions))
        batch.add_removed(done)
        return batch.applied(self._events, parents)

    def _archived(
        self, batch: _BatchOutcome, held: Mapping[int, ItemResult[PlanItem]]
    ) -> Mapping[int, ItemResult[PlanItem]]:
        """Archive the partitions of a batch, and return the results of those that stay.

        Copying may have taken hours, in which a hold on the feed may have been added.
        """
        if self._archive is None:
            return {}
        going = {at: item for at, item in batch.partitions.items() if at not in held}
        archived = self._archive.of(going)
        batch.archived = archived.audit
        refusal = self.work.guard.refusal(self.base, items=len(going), must_look=True)
        return archived.stay if refusal is None else {at: refusal.of(item) for at, item in going.items()}


_BY_THEMSELVES = frozenset({ItemKind.STAGED, ItemKind.QUARANTINED})
"""Kinds of items that a plan finds again, and that no partition stands before."""


@dataclass(kw_only=True)
class _BatchOutcome:
    """Outcome of a batch so far, by position.

    Attributes:
        open: positions whose state is unknown now.
        archived: what was archived before.
    """

    items: Sequence[PlanItem]
    positions: range
    results: dict[int, ItemResult[PlanItem]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)
    archived: Sequence[tuple[NewItem, SettledItem]] = ()

    @property
    def partitions(self) -> dict[int, PlanItem]:
        """The partitions to drop."""
        return {at: self.items[at] for at in self.positions if self.items[at].type in FORGOTTEN}

    @property
    def codes(self) -> dict[int, str]:
        """The codes of partitions that were to be dropped."""
        return {at: self.results[at].code for at in self.partitions}

    def ready(self) -> list[int]:
        """The directories that may go: none of their partitions is there any more, and one of them because of us.

        Staged data was never that of a partition.
        """
        found: list[int] = []
        above: list[int] = []
        for position in self.positions:
            if self.items[position].type is ItemKind.PARTITION:
                above.append(position)
                continue
            if self.items[position].type is ItemKind.PARTITION_ENTRY:
                continue  # its data stay
            if self.items[position].type in _BY_THEMSELVES:
                found.extend([] if position in self.results else [position])
                continue
            codes = {self.results[at].code for at in above}
            if self.open.intersection(above):
                self.open.update((*above, position))
                self.results[position] = ItemResult.failed(self.items[position], *_UNKNOWN)
            elif codes <= GONE and "" in codes:
                found.append(position)
            else:
                why = StayReason.ALREADY_GONE if codes <= GONE else StayReason.PARTITION_STAYS
                self.results[position] = ItemResult.skipped(self.items[position], why)
            above = []
        return found

    def add_removed(self, done: Mapping[int, Removed]) -> None:
        """Add the outcome of directories; one that is left stays open, since nothing else names it.

        With it all of its partitions do: they name the table, and the instances that a hold may be on.
        """
        for position, removed in done.items():
            self.results[position] = removed.result
            is_found_again = self.items[position].type in _BY_THEMSELVES
            self.open.update(self._group(position) if is_left(removed.result) and not is_found_again else ())

    def _group(self, position: int) -> range:
        """A directory with the partitions that stand before it."""
        begin = position
        while begin > self.positions.start and self.items[begin - 1].type is ItemKind.PARTITION:
            begin -= 1
        return range(begin, position + 1)

    def applied(self, events: InstanceEvents, parents: Sequence[tuple[int, ItemResult[PlanItem]]]) -> Applied[PlanItem]:
        """Apply the plan."""
        reported = [
            events.of(result.item, is_gone=result.code in GONE, by_us=not result.code)
            for _, result in sorted(self.results.items())
        ]
        return Applied(
            results=tuple(self.results[at] for at in self.positions),
            open=frozenset(self.open),
            beside=tuple(each for _, each in parents if each.outcome is Outcome.FAILED),
            events=tuple(event for event in reported if event is not None),
            audit_only=(*self.archived, *((new_item(at, each.item), settled_item(at, each)) for at, each in parents)),
        )


_UNKNOWN = (
    MetastoreUnreachable.code,
    "whether its partitions are gone could not be seen; the next run sees it, and removes it when they are",
)
