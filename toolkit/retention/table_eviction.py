"""Evicting partitions: the metastore forgets them, then their data go by our own removal (DESIGN section 7, ADR 0045).

Each directory stands behind its partitions in the plan. What the metastore has forgotten and whose data are still there
stays open in the ledger, since no listing finds it any more: the next run's `recover` does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied
from toolkit.actions.batch_loop import new_item, settled_item
from toolkit.actions.model import ItemResult
from toolkit.catalog.errors import MetastoreUnreachable
from toolkit.catalog.port import BATCH
from toolkit.result import Outcome
from toolkit.retention.delete import Removed, SingleDelete
from toolkit.retention.empty_parents import EmptyParents, ParentChain, ParentQueue, is_looked_for
from toolkit.retention.output_watch import held_items, writers_of
from toolkit.retention.partition_drop import PartitionDrop
from toolkit.retention.plan import FORGOTTEN, ItemKind, PlanItem, StayReason
from toolkit.retention.records import InstanceEvents
from toolkit.storage import aside_name

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable

_LOG = logging.getLogger(__name__)
_GONE = frozenset({StayReason.ALREADY_GONE.value, ""})


def is_left(result: ItemResult[PlanItem]) -> bool:
    """Whether data are, or may be, still there although their partitions are not."""
    return result.outcome is Outcome.FAILED or result.code not in _GONE


@dataclass(frozen=True, kw_only=True)
class DataRemoval:
    """Removes directories of partitions that the metastore has forgotten, then the directories that this empties.

    Attributes:
        items: of a plan, in the order of their places.
        first: the feed's availability flag; empty: it has none.
        with_asides: where a removal was killed in its middle, what it had put aside goes, too.
    """

    items: Sequence[PlanItem]
    work: RunContext
    first: str
    with_asides: bool = False

    def of(self, positions: Iterable[int]) -> tuple[dict[int, Removed], list[ParentChain]]:
        """Remove the directories at these positions of the items; what became of each, and of those above them."""
        wanted, done = sorted(positions), dict[int, Removed]()

        def remove(position: int) -> None:
            done[position] = self._removed(self.items[position])

        parents = ParentQueue(self.items)
        chains: list[ParentChain] = []
        for base, same in _by_store(self.items, wanted).items():
            pool = self.work.pool(base)
            pool.run_all(remove, same)
            above = list(_chains(parents, self.items, same, done))
            EmptyParents(work=self.work, pool=pool).remove(above)
            chains.extend(above)
        return done, chains

    def _removed(self, item: PlanItem) -> Removed:
        single = SingleDelete(work=self.work, first=self.first)
        removed = single.remove(item)
        able = self.work.stores(item.base).capabilities
        if not self.with_asides or removed.result.code != StayReason.ALREADY_GONE or able.atomic_delete:
            return removed
        again = single.remove(replace(item, path=item.path.parent.child(aside_name(item.path.name))))
        return again._replace(result=replace(again.result, item=item))


def _by_store(items: Sequence[PlanItem], positions: Iterable[int]) -> Mapping[CanonicalPath, list[int]]:
    """Positions by the root of the store that they are on."""
    found: dict[CanonicalPath, list[int]] = {}
    for position in positions:
        found.setdefault(items[position].base.root, []).append(position)
    return found


def _chains(
    parents: ParentQueue, items: Sequence[PlanItem], positions: Iterable[int], done: Mapping[int, Removed]
) -> Iterator[ParentChain]:
    for position in positions:
        if is_looked_for(done[position].result) or done[position].is_gone:
            yield parents.chain(position, None)
        else:
            parents.add_occupied(items[position])


@dataclass(frozen=True, kw_only=True)
class TableEviction:
    """The eviction of one table feed.

    Attributes:
        base: the table's own directory.
    """

    plan: FeedPlan
    table: FeedTable
    base: CanonicalPath
    work: RunContext
    events: InstanceEvents = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", InstanceEvents(self.plan.items))

    def batches(self) -> tuple[PartitionBatch, ...]:
        """About so many partitions as a metastore should drop at once, each with its directory."""
        return tuple(PartitionBatch(eviction=self, positions=each) for each in self._positions())

    def _positions(self) -> Iterator[range]:
        begin, partitions, items = 0, 0, self.plan.items
        for position, item in enumerate(items):
            partitions += item.type is not ItemKind.PARTITION_DATA
            is_last = position + 1 == len(items)
            if item.type is not ItemKind.PARTITION and (partitions >= BATCH or is_last):
                yield range(begin, position + 1)
                begin, partitions = position + 1, 0

    def apply(self, positions: range, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Have partitions forgotten, then remove their data."""
        items = self.plan.items
        refusal = self.work.guard.refusal(self.base, items=len(positions), must_look=True)
        if refusal is not None:
            advance(len(positions))
            return Applied(results=tuple(refusal.of(items[at]) for at in positions))
        batch = _BatchOutcome(items=items, positions=positions)
        held = held_items({at: items[at] for at in positions}, writers_of(self.plan.target, self.work))
        if batch.partitions:
            drop = PartitionDrop(table=self.table, work=self.work, held=held)
            batch.results, batch.open = drop.of(batch.partitions)
        advance(len(batch.results))
        batch.results |= {at: result for at, result in held.items() if items[at].type is ItemKind.STAGED}
        ready = batch.ready()
        removal = DataRemoval(items=items, work=self.work, first=self.plan.target.availability_flag)
        done, chains = removal.of(ready)
        advance(len(positions) - len(batch.partitions))
        batch.add_removed(done)
        return batch.applied(self.events, [(chain.position, each) for chain in chains for each in chain.results])


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionBatch:
    """Batch of partitions."""

    eviction: TableEviction
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Remove the partitions of the batch."""
        return self.eviction.apply(self.positions, advance)


@dataclass(kw_only=True)
class _BatchOutcome:
    """Outcome of a batch so far, by position.

    Attributes:
        open: positions whose state is unknown now.
    """

    items: Sequence[PlanItem]
    positions: range
    results: dict[int, ItemResult[PlanItem]] = field(default_factory=dict)
    open: set[int] = field(default_factory=set)

    @property
    def partitions(self) -> dict[int, PlanItem]:
        """The partitions to drop."""
        return {at: self.items[at] for at in self.positions if self.items[at].type in FORGOTTEN}

    def ready(self) -> list[int]:
        """The directories that may go: none of their partitions is there any more, and one of them because of us.

        What waits at the gate was never a partition's.
        """
        found: list[int] = []
        above: list[int] = []
        for position in self.positions:
            if self.items[position].type is ItemKind.PARTITION:
                above.append(position)
                continue
            if self.items[position].type is ItemKind.PARTITION_ENTRY:
                continue  # its data stay
            if self.items[position].type is ItemKind.STAGED:
                found.extend([] if position in self.results else [position])
                continue
            codes = {self.results[at].code for at in above}
            if self.open.intersection(above):
                self.open.update((*above, position))
                self.results[position] = ItemResult.failed(self.items[position], *_UNKNOWN)
            elif codes <= _GONE and "" in codes:
                found.append(position)
            else:
                why = StayReason.ALREADY_GONE if codes <= _GONE else StayReason.PARTITION_STAYS
                self.results[position] = ItemResult.skipped(self.items[position], why)
            above = []
        return found

    def add_removed(self, done: Mapping[int, Removed]) -> None:
        """Add the outcome of directories; one that is left stays open, since nothing else names it.

        With it all of its partitions do: they name the table, and the instances that a hold may be on.
        """
        for position, removed in done.items():
            self.results[position] = removed.result
            is_found_again = self.items[position].type is ItemKind.STAGED
            self.open.update(self._group(position) if is_left(removed.result) and not is_found_again else ())

    def _group(self, position: int) -> range:
        """A directory with the partitions that stand before it."""
        begin = position
        while begin > self.positions.start and self.items[begin - 1].type is ItemKind.PARTITION:
            begin -= 1
        return range(begin, position + 1)

    def applied(self, events: InstanceEvents, parents: Sequence[tuple[int, ItemResult[PlanItem]]]) -> Applied[PlanItem]:
        """All of it."""
        reported = [
            events.of(result.item, is_gone=result.code in _GONE, by_us=not result.code)
            for _, result in sorted(self.results.items())
        ]
        return Applied(
            results=tuple(self.results[at] for at in self.positions),
            open=frozenset(self.open),
            beside=tuple(each for _, each in parents if each.outcome is Outcome.FAILED),
            events=tuple(event for event in reported if event is not None),
            audit_only=tuple((new_item(at, each.item), settled_item(at, each)) for at, each in parents),
        )


_UNKNOWN = (
    MetastoreUnreachable.code,
    "whether its partitions are gone could not be seen; the next run sees it, and removes it when they are",
)
