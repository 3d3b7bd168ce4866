"""Recovery of a table's partitions: the metastore knows what it has dropped, and the data goes now.

In the plan (`tables.planner`) of a dead run a directory stands behind the partitions that it is the data of, and all
of them stay open together. That a partition is not there now says that its data may go only when it is gone from the
same table (ADR 0045), and only when retention would remove that directory for it now (`tables.gone`): a row of the
ledger names a directory, and never decides where one is. Else they stay open, and fail the run until a user decides.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.action import Recovery, place_named
from toolkit.actions.batch_loop import settled_item
from toolkit.actions.model import ItemResult
from toolkit.catalog.bound import read_only
from toolkit.catalog.errors import CatalogError
from toolkit.entities import LocationType
from toolkit.result import Outcome
from toolkit.retention.delete import is_present
from toolkit.retention.foreign_data import ForeignData
from toolkit.retention.output_watch import Writers, writers_of
from toolkit.retention.partition_places import PartitionPlaces
from toolkit.retention.plan import ItemKind, NamedPartition, PlanItem
from toolkit.retention.records import as_settled, is_readable_base, keys_of, notes
from toolkit.retention.tables.evictable import UnreadableLocations
from toolkit.retention.tables.gone import GonePartitions, is_partition_name, last_change
from toolkit.retention.tables.planner import places_of
from toolkit.retention.tables.removal import DataRemoval, is_left
from toolkit.runs.recorder import SettledLeftOver, path_of
from toolkit.storage import NotFound

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.ledger.runs.items import Item, SettledItem
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable

_LOG = logging.getLogger(__name__)
_PARTITION, _DATA, *_FOUND_AGAIN = (
    f"{kind}:{LocationType.DATA}"
    for kind in (ItemKind.PARTITION, ItemKind.PARTITION_DATA, ItemKind.STAGED, ItemKind.QUARANTINED)
)
UNKNOWN_OWNER = "unknown_owner"
"""The code of a directory that stays open, since it is unknown whether its partitions are gone."""
IN_USE = "location_in_use"
"""The code of a directory whose partitions are gone, and that is not removed since it has data of another owner."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Group:
    """Items that a run had begun together.

    Attributes:
        partitions: those that are open.
        data: the directory of all of them; None: it was settled.
    """

    partitions: Sequence[Item]
    data: Item | None

    @property
    def items(self) -> tuple[Item, ...]:
        """In the order of the plan."""
        return (*self.partitions, *([] if self.data is None else [self.data]))


@dataclass(frozen=True, slots=True)
class _Ready:
    """A directory of which nothing is known that keeps it."""

    group: _Group
    data: Item
    place: CanonicalPath


@dataclass(kw_only=True)
class _Outcome:
    """Outcome of unfinished items, group by group.

    Attributes:
        quiet: instances of which no event tells, since something of them is there, or one has told of it.
        audit_only: directories that were emptied.
    """

    plan: FeedPlan
    quiet: set[str]
    settled: list[SettledLeftOver] = field(default_factory=list)
    failed: list[ItemResult[PlanItem]] = field(default_factory=list)
    audit_only: list[SettledLeftOver] = field(default_factory=list)

    def settle_partitions(self, group: _Group, there: Mapping[str, bool]) -> None:
        """Partitions by whether they are there now; one of another table is not."""
        for item in group.partitions:
            is_gone = not there.get(item.path, False)
            is_departure = is_gone and item.instance_key not in self.quiet
            self.quiet.update([item.instance_key] if is_departure else [])
            self.settled.append(as_settled(item, self.plan, is_gone=is_gone, is_departure=is_departure))

    def settle_data(self, item: Item, *, is_gone: bool) -> None:
        """A directory."""
        self.settled.append(as_settled(item, self.plan, is_gone=is_gone))

    def tell_parent(self, data: Item, result: ItemResult[PlanItem]) -> None:
        """A directory that was emptied by the one that was in it, or could not be removed."""
        parent = replace(data, kind=result.item.kind, path=result.item.uri, instance_key="")
        self.audit_only.append(SettledLeftOver(left=parent, item=settled_item(data.position, result)))
        self.failed.extend([result] if result.outcome is Outcome.FAILED else [])

    def fail(self, item: Item, place: CanonicalPath, base: CanonicalPath, code: str, why: str) -> SettledItem:
        """A directory that stays, as the user is told of it, and as the ledger would be."""
        result = ItemResult.failed(_plan_item(self.plan, item, place, base), code, why)
        self.failed.append(result)
        return settled_item(item.position, result)


@dataclass(frozen=True, kw_only=True)
class TableRecovery:
    """Settles what earlier runs of one table feed left open.

    Attributes:
        plan: of this run, made just before.
        base: the table's own directory.
    """

    plan: FeedPlan
    table: FeedTable
    base: CanonicalPath
    work: RunContext

    def recovered(self, left: Sequence[Item]) -> Recovery:
        """Recover unfinished partitions: an unknown outcome stays open, and is a failure where data may be left."""
        own = [item for item in left if item.kind in {_PARTITION, _DATA}]
        again = [item for item in left if item.kind in _FOUND_AGAIN]
        if not (own or again) or self.plan.detail.hold_file is not None:
            return Recovery()
        try:
            metastore = read_only(self.table.metastore())
            outcome = self._looked_at(own, metastore)
            planned = {each.path for each in self.plan.items if again}
            for item in again:
                outcome.settle_data(item, is_gone=self._is_gone(item, planned))
        except (CatalogError, UnreadableLocations) as error:
            _LOG.warning('event=recovery_failed code=%s why="%s"', error.code, error)
            return Recovery()
        settled = tuple(outcome.settled)
        return Recovery(
            settled=settled,
            notes=notes(settled),
            failed=tuple(outcome.failed),
            audit_only=tuple(outcome.audit_only),
        )

    def _looked_at(self, left: Sequence[Item], metastore: Metastore) -> _Outcome:
        there = self._there(left, metastore)
        keys = {item.instance_key for item in left if there.get(item.path)}
        outcome = _Outcome(plan=self.plan, quiet=keys_of(self.plan) | keys)
        planned = {item.path for item in self.plan.items if item.type is ItemKind.PARTITION_DATA}
        changed = last_change(metastore.table(self.table.name))
        gone = self._gone(map(self._name, (each for each in left if each.path in there)), metastore)
        ready: list[_Ready] = []
        for group in _groups(left):
            why = self._why_unknown(group, there, changed)
            if group.data is None:
                if not why:
                    outcome.settle_partitions(group, there)
                continue
            place, names = self._place(group.data), [self._name(each) for each in group.partitions]
            not_ours = "" if place is None else gone.why_not(place, names)
            is_planned = place in planned or self.plan.detail.has_condemned(place)
            if is_planned or (not why and any(there[each.path] for each in group.partitions)):
                outcome.settle_partitions(group, there)
                outcome.settle_data(group.data, is_gone=False)  # the plan takes what is still to go
            elif gone.is_held(names) or (place is not None and self._is_written(group, place, there)):
                continue
            elif place is None or not_ours or self.plan.target.quarantine is not None:
                self._leave(group, place, why or not_ours or "no manifest in quarantine names it", there, outcome)
            elif problem := self._problem(place, why):
                outcome.fail(group.data, place, self.base, *problem)
            else:
                ready.append(_Ready(group, group.data, place))
        if ready:
            self._finish(ready, there, metastore, outcome)
        return outcome

    def _why_unknown(self, group: _Group, there: Mapping[str, bool], changed: int | None) -> str:
        """Why it is unknown whether the partitions are gone; empty: that is known."""
        if not group.partitions:
            return "the ledger does not say which partitions had their data there"
        other = next((each.path for each in group.partitions if each.path not in there), None)
        if other is not None:
            return f"it was of {other}, which is not of the table that the feed has now"
        intended = min(each.intended_at.timestamp() for each in group.partitions)
        # What is there was not forgotten; what is not there may be in the table that had the name at that time.
        if any(there[each.path] for each in group.partitions) or (changed is not None and changed + 1 <= intended):
            return ""
        return (
            f"the table {self.table.name} was made or altered since then, or does not say when, and may be another one"
        )

    def _problem(self, place: CanonicalPath, why: str) -> tuple[str, str] | None:
        """Code and message of why a directory stays; with `why` it stays unless it is seen that nothing is there."""
        if (absent := self._absent_base(self.base)) is not None:
            return NotFound.code, f"{place} was to be removed by a run that died, but {absent}"
        if not why or is_present(self.work.stores(place), place) is False:
            return None
        return UNKNOWN_OWNER, _stays(place, why)

    def _leave(
        self, group: _Group, place: CanonicalPath | None, why: str, there: Mapping[str, bool], outcome: _Outcome
    ) -> None:
        """Report a directory that retention would not remove now, without touching it.

        It stays open until it is seen that nothing is there. Another store than the table's is not even asked: what the
        row says is reported once.
        """
        data = group.data
        if data is None:
            return
        if place is None or place.root != self.base.root:
            why = f"it is not on the store of {self.table.name}, so nothing looked there"
            failed = outcome.fail(data, self.base, self.base, UNKNOWN_OWNER, _stays(path_of(data.path), why))
            outcome.settle_partitions(group, there)
            outcome.settled.append(SettledLeftOver(left=data, item=failed))
            return
        base = self.base if place.is_within(self.base) else place.parent
        if self._absent_base(base) is None and is_present(self.work.stores(place), place) is False:
            outcome.settle_partitions(group, there)
            outcome.settle_data(data, is_gone=True)
            return
        outcome.fail(data, place, self.base, UNKNOWN_OWNER, _stays(place, why))

    def _absent_base(self, base: CanonicalPath) -> str | None:
        """Why nothing can be told of what is below a base: its disk may not be mounted; None: it can."""
        return None if is_readable_base(base, self.work.stores(base)) else f"{base} is not there; mount its disk"

    def _is_gone(self, item: Item, planned: Container[CanonicalPath]) -> bool:
        """Return whether what a plan finds again is gone; nothing outside of the table's directory is looked at."""
        place = self._place(item)
        if place is None or place in planned or not place.is_within(self.base):
            return False
        return is_present(self.work.stores(place), place) is False

    def _place(self, data: Item) -> CanonicalPath | None:
        """By the aliases that the cluster has now; None: it is not a place."""
        return place_named(data, self.table.place)

    @cached_property
    def _writers(self) -> Writers:
        return writers_of(self.plan.target, self.work)

    def _is_written(self, group: _Group, place: CanonicalPath, known: Container[str]) -> bool:
        """Return whether another run writes there: it writes files before the metastore has the partition again."""
        own = [each for each in group.partitions if each.path in known]
        named = [(each, NamedPartition(self.table.name, self._name(each))) for each in own]
        items = [replace(_plan_item(self.plan, left, place, self.base), partition=name) for left, name in named]
        return any(self._writers.result_of(each) is not None for each in items)

    def _name(self, partition: Item) -> str:
        """The name that a row gives to a partition; empty: it is one of another table."""
        own = str(NamedPartition(self.table.name, ""))
        return partition.path.removeprefix(own) if partition.path.startswith(own) else ""

    def _gone(self, names: Iterable[str], metastore: Metastore) -> GonePartitions:
        return GonePartitions(
            target=self.plan.target,
            table=self.table,
            stores=self.work.stores,
            base=self.base,
            present=lambda: metastore.partition_names(self.table.name),
            gone=list(names),
        )

    def _there(self, left: Sequence[Item], metastore: Metastore) -> dict[str, bool]:
        """Return whether each partition exists, by its address; partitions of other tables are left out."""
        found = metastore.table(self.table.name)
        named = {item.path: self._name(item) for item in left if item.kind == _PARTITION}
        names = {address: name for address, name in named.items() if is_partition_name(name, found)}
        there = {found.partition_name(each) for each in metastore.partitions(self.table.name, sorted(names.values()))}
        return {address: name in there for address, name in names.items()}

    def _finish(
        self, ready: Sequence[_Ready], there: Mapping[str, bool], metastore: Metastore, outcome: _Outcome
    ) -> None:
        """Remove directories whose partitions are gone, by the rules for those of the plan."""
        by_name = {f"{each.data.run_id}:{each.data.position}": each for each in ready}
        foreign = ForeignData(table=self.table)
        names = metastore.partition_names(self.table.name)
        divided = PartitionPlaces(table=self.base, owner_of=foreign.owner_of, listed=self.table.listed).divided(
            {name: each.place for name, each in by_name.items()},
            places_of(self.table, metastore, names, self.work.guard.run.check),
        )
        items = [_plan_item(self.plan, by_name[each.names[0]].data, each.root, each.base) for each in divided.groups]
        removal = DataRemoval(items=items, work=self.work, first=self.plan.target.availability_flag, with_asides=True)
        done, emptied = removal.of(range(len(items)))
        for at, parent in emptied:
            outcome.tell_parent(by_name[divided.groups[at].names[0]].data, parent)
        for at, places in enumerate(divided.groups):
            result = done[at].result
            if is_left(result):
                outcome.failed.extend([result] if result.outcome is Outcome.FAILED else [])
                continue
            for each in (by_name[name] for name in places.names):
                outcome.settle_partitions(each.group, there)
                outcome.settle_data(each.data, is_gone=True)
        for name, why in divided.stays.items():
            each = by_name[name]
            outcome.settle_partitions(each.group, there)
            failed = outcome.fail(each.data, each.place, self.base, IN_USE, f"{each.place} stays: {why}")
            outcome.settled.append(SettledLeftOver(left=each.data, item=failed))


def _stays(place: CanonicalPath | str, why: str) -> str:
    advice = "if the data there is not needed, remove them or move them away; the next run then sees that they are gone"
    return f"{place}, which a run that died was to remove, stays: {why}; {advice}"


def _plan_item(plan: FeedPlan, left: Item, place: CanonicalPath, base: CanonicalPath) -> PlanItem:
    return PlanItem(
        type=ItemKind.PARTITION_DATA,
        feed=plan.target.feed,
        cluster=plan.target.cluster,
        location=LocationType.DATA,
        instance_key=left.instance_key,
        path=place,
        base=base,
    )


def _groups(left: Sequence[Item]) -> Iterator[_Group]:
    """Each directory with the open partitions that stand just before it."""
    above: list[Item] = []
    for item in left:
        if above and (item.run_id, item.position) != (above[-1].run_id, above[-1].position + 1):
            yield _Group(partitions=above, data=None)
            above = []
        if item.kind == _DATA:
            yield _Group(partitions=above, data=item)
            above = []
        else:
            above = [*above, item]
    if above:
        yield _Group(partitions=above, data=None)
