"""Evicting partitions of Iceberg tables: one commit takes all files of planned partitions out of the table.

The commit is made while no writer commits, on the state in which each partition still has exactly the files of the
plan. No data file is removed: a reader that began before goes on, and `compact.py` removes files that no snapshot has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, Recovery, feed_event
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.guard import CalledOff
from toolkit.actions.model import ItemResult
from toolkit.entities import LocationType
from toolkit.errors import Failed, FeedctlError, Unavailable
from toolkit.ingest.exclusive import ExclusiveCommits
from toolkit.ingest.slot import CommitSlots, require_not_behind
from toolkit.ledger.vocabulary import EventKind
from toolkit.retention.batches import BATCH, EvictionBatch
from toolkit.retention.plan import ItemKind, NamedPartition, PlanItem, StayReason
from toolkit.retention.records import InstanceEvents, as_settled, notes
from toolkit.retention.tables.iceberg_planner import by_name
from toolkit.runs.recorder import path_of

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.ingest.port import IngestTable, TableState
    from toolkit.ledger.events import NewEvent
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable, IcebergAccess
    from toolkit.runs.recorder import SettledLeftOver

_PARTITION = f"{ItemKind.PARTITION}:{LocationType.DATA}"
"""The kind of items of partitions in the ledger."""


@dataclass(frozen=True, kw_only=True)
class IcebergRetention:
    """Retention of one feed that is ingested.

    Attributes:
        access: opens the table.
        base: the directory of the table.
    """

    plan: FeedPlan
    table: FeedTable
    access: IcebergAccess
    base: CanonicalPath
    work: RunContext

    @cached_property
    def _events(self) -> InstanceEvents:
        return InstanceEvents(self.plan.items)

    def recover(self, open_items: Sequence[Item]) -> Recovery:
        """Look which partitions the commits of killed runs took out, and announce those; nothing is changed."""
        try:
            own = frozenset(str(NamedPartition(self.table.name, name)) for name in self._names())
        except (Failed, Unavailable):
            return Recovery()  # it was there when the plan was made; the items stay open
        prefix = str(NamedPartition(self.table.name, ""))
        settled: list[SettledLeftOver] = []
        announced: set[str] = set()
        for item in open_items:
            uri = path_of(item.path)
            if item.kind != _PARTITION or not uri.startswith(prefix):
                continue  # of a table that the feed had before
            found = as_settled(item, self.plan, is_gone=uri not in own)
            if uri not in own and item.instance_key not in announced:
                announced.add(item.instance_key)
                found = replace(found, event=self._evicted(uri.removeprefix(prefix), item.instance_key))
            settled.append(found)
        return Recovery(settled=tuple(settled), notes=notes(settled)) if settled else Recovery()

    def _names(self) -> Sequence[str]:
        with self.access.opened() as table:
            return list(by_name(self._keys, table.files()))

    @property
    def _keys(self) -> tuple[str, ...]:
        return tuple(self.table.uri.partition_keys)

    def batches(self) -> tuple[EvictionBatch, ...]:
        """Return 500 partitions each; one commit evicts them."""
        count = len(self.plan.items)
        each = (range(at, min(at + BATCH, count)) for at in range(0, count, BATCH))
        return tuple(EvictionBatch(positions, partial(self._apply, positions)) for positions in each)

    def _apply(self, positions: range, advance: Callable[[int], None]) -> Applied[PlanItem]:
        items = [self.plan.items[at] for at in positions]
        found = attempted(self.work, lambda: self._committed(items), failures=(FeedctlError,))
        advance(len(positions))
        if isinstance(found, FailedAttempt):
            is_open = found.code in UNKNOWN  # the next run looks at the table
            return Applied(results=tuple(map(found.of, items)), open=frozenset(positions if is_open else ()))
        results = [_result(item, found.get(item)) for item in items]
        return Applied(results=tuple(results), events=tuple(filter(None, map(self._event, results))))

    def _committed(self, items: Sequence[PlanItem]) -> Mapping[PlanItem, StayReason]:
        """Evict partitions; return those that are not as planned, with the reason."""
        ledger = self.access.ledger
        assert ledger is not None  # noqa: S101 - a run without a ledger is refused before
        self._check(len(items))
        last_fence = self.access.last_fence()
        with self.access.opened() as table:
            eviction = _Eviction(table=table, items=items, keys=self._keys)

            def commit(base: TableState, properties: Mapping[str, str]) -> None:
                self._check(len(items))
                require_not_behind(table.name, base, last_fence)
                eviction.commit(base, properties)

            slots = CommitSlots(table=table, ledger=ledger)
            ExclusiveCommits(slots=slots, events=self.access.late_events).commit(commit, eviction.is_done)
            return eviction.stays

    def _check(self, items: int) -> None:
        """Ask whether the effect may begin: the run, and holds that were added meanwhile."""
        refusal = self.work.guard.refusal(self.base, items=items, must_look=True)
        if refusal is not None:
            raise CalledOff(refusal=refusal)
        self.work.guard.check()

    def _event(self, result: ItemResult[PlanItem]) -> NewEvent | None:
        item = result.item
        is_gone = result.code in ("", StayReason.ALREADY_GONE)
        found = self._events.of(item, is_gone=is_gone, by_us=not result.code)
        return None if found is None else self._evicted(_name(item), item.instance_key)

    def _evicted(self, name: str, instance_key: str) -> NewEvent:
        return feed_event(EventKind.EVICTED, self.plan.target, f"{self.access.name}/{name}", instance_key)


@dataclass(kw_only=True)
class _Eviction:
    """Eviction of partitions by one commit.

    Attributes:
        table: the table.
        items: the partitions.
        keys: the partition columns, as the feed names them.
        stays: partitions that are not as planned, by the last look.
    """

    table: IngestTable
    items: Sequence[PlanItem]
    keys: Sequence[str]
    stays: dict[PlanItem, StayReason] = field(default_factory=dict)

    def commit(self, base: TableState, properties: Mapping[str, str]) -> None:
        """Take the partitions out that have exactly the files of the plan.

        Raises:
            CommitConflict: the table is in another state by now.
        """
        there = self._uris()
        whys = {each: _why_not(each, there[_name(each)]) for each in self.items}
        self.stays = {each: why for each, why in whys.items() if why is not None}
        old = [file for each in self._going() for file in each.files]
        if old:
            self.table.replace(old, (), properties, base)

    def is_done(self) -> bool:
        """Look whether the commit is in the table: it has none of the files."""
        there = self._uris()
        return not any(file.uri in there[_name(each)] for each in self._going() for file in each.files)

    def _going(self) -> Sequence[PlanItem]:
        return [each for each in self.items if each not in self.stays]

    def _uris(self) -> Mapping[str, frozenset[str]]:
        partitions = {each.files[0].partition for each in self.items}
        found = by_name(self.keys, self.table.files(partitions))
        names = map(_name, self.items)
        return {name: frozenset(each.uri for each in found.get(name, ())) for name in names}


def _why_not(item: PlanItem, there: frozenset[str]) -> StayReason | None:
    if there == {each.uri for each in item.files}:
        return None
    return StayReason.FILES_CHANGED if there else StayReason.ALREADY_GONE


def _name(item: PlanItem) -> str:
    return "" if item.partition is None else item.partition.name


def _result(item: PlanItem, why: StayReason | None) -> ItemResult[PlanItem]:
    return ItemResult.done(item) if why is None else ItemResult.skipped(item, why)
