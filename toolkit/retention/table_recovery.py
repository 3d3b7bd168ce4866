"""What runs that died had begun of a table's partitions: the metastore knows what it has forgotten, the data go now.

In the plan of the run that died (`table_plan`) a directory stands behind the partitions that it is the data of. Without
an open partition before it, its partitions are gone for sure.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.action import Recovery
from toolkit.actions.batch_loop import settled_item
from toolkit.actions.model import ItemResult
from toolkit.catalog.bound import read_only
from toolkit.catalog.errors import CatalogError
from toolkit.el import parse_instant
from toolkit.entities import LocationType
from toolkit.planning.retention import holding
from toolkit.result import Outcome
from toolkit.retention.evictable_tables import UnreadableLocations
from toolkit.retention.foreign_data import ForeignData
from toolkit.retention.partition_places import PartitionPlaces
from toolkit.retention.plan import ItemKind, NamedPartition, PlanItem
from toolkit.retention.records import as_settled, keys_of, notes
from toolkit.retention.table_eviction import DataRemoval, is_left
from toolkit.retention.table_plan import places_of
from toolkit.runs.recorder import SettledLeftOver

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable

_LOG = logging.getLogger(__name__)
_PARTITION, _DATA = (f"{kind}:{LocationType.DATA}" for kind in (ItemKind.PARTITION, ItemKind.PARTITION_DATA))
IN_USE = "location_in_use"
"""The code of a directory whose partitions are gone, and that is not removed since somebody else's data are there."""


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

    def recovered(self, left: Sequence[Item], *, may_touch: bool) -> Recovery:
        """See `Action.recover`; what nobody can tell now stays open."""
        own = [item for item in left if item.kind in {_PARTITION, _DATA}]
        if not own or self.plan.detail.hold_file is not None:
            return Recovery()
        try:
            metastore = read_only(self.table.metastore())
            settled, ready = self._settled(own, metastore)
            finished = self._finished(ready, metastore) if ready and may_touch else Recovery()
        except (CatalogError, UnreadableLocations) as error:
            _LOG.warning('event=recovery_failed code=%s why="%s"', error.code, error)
            return Recovery()
        both = (*settled, *finished.settled)
        return Recovery(settled=both, notes=notes(both) if both else (), failed=finished.failed)

    def _settled(self, left: Sequence[Item], metastore: Metastore) -> tuple[list[SettledLeftOver], list[Item]]:
        """What the metastore tells, and the directories whose partitions are gone."""
        there = self._there(left, metastore)
        quiet = keys_of(self.plan) | {item.instance_key for item in left if there.get(item.path)}
        settled: list[SettledLeftOver] = []
        ready: list[Item] = []
        for item, above in _with_partitions(left):
            of_item = [there.get(each.path) for each in (above if item.kind == _DATA else [item])]
            if None in of_item:
                continue  # of another table than the feed has now: this one tells nothing of it
            is_gone = not any(of_item)
            if item.kind == _DATA and is_gone:
                ready.append(item)
                continue
            is_departure = is_gone and item.instance_key not in quiet
            quiet.update([item.instance_key] if is_departure else [])
            settled.append(as_settled(item, self.plan, is_gone=is_gone, is_departure=is_departure))
        return settled, ready

    def _there(self, left: Sequence[Item], metastore: Metastore) -> dict[str, bool]:
        """Whether a partition is there, by its address; those of other tables are left out."""
        own = str(NamedPartition(self.table.name, ""))
        names = {item.path: item.path.removeprefix(own) for item in left if item.path.startswith(own)}
        found = metastore.table(self.table.name)
        there = {found.partition_name(each) for each in metastore.partitions(self.table.name, sorted(names.values()))}
        return {address: name in there for address, name in names.items()}

    def _finished(self, ready: Sequence[Item], metastore: Metastore) -> Recovery:
        """Remove directories whose partitions are gone, by the rules for those of the plan."""
        by_place = {f"{item.run_id}:{item.position}": item for item in ready if not self._is_held(item)}
        check = self.work.guard.run.check
        foreign = ForeignData(table=self.table)
        divided = PartitionPlaces(table=self.base, owner_of=foreign.owner_of).divided(
            {key: self.table.place(item.path) for key, item in by_place.items()},
            places_of(self.table, metastore, metastore.partition_names(self.table.name), check),
        )
        items = [self._item(by_place[group.names[0]], group.root, group.base) for group in divided.groups]
        removal = DataRemoval(items=items, work=self.work, first=self.plan.target.availability_flag, with_asides=True)
        done, _ = removal.of(range(len(items)))
        settled: list[SettledLeftOver] = []
        failed: list[ItemResult[PlanItem]] = []
        for at, group in enumerate(divided.groups):
            result = done[at].result
            if not is_left(result):
                settled.extend(as_settled(by_place[key], self.plan, is_gone=True) for key in group.names)
            elif result.outcome is Outcome.FAILED:
                failed.append(result)
        for key, why in divided.stays.items():
            place = self.table.place(by_place[key].path)
            result = ItemResult.failed(self._item(by_place[key], place, self.base), IN_USE, f"{place} stays: {why}")
            failed.append(result)
            settled.append(SettledLeftOver(left=by_place[key], item=settled_item(by_place[key].position, result)))
        return Recovery(settled=tuple(settled), failed=tuple(failed))

    def _item(self, left: Item, place: CanonicalPath, base: CanonicalPath) -> PlanItem:
        return PlanItem(
            type=ItemKind.PARTITION_DATA,
            feed=self.plan.target.feed,
            cluster=self.plan.target.cluster,
            location=LocationType.DATA,
            instance_key=left.instance_key,
            path=place,
            base=base,
        )

    def _is_held(self, left: Item) -> bool:
        """Whether a hold covers any of the partition's instants; what is open tells only the latest of them."""
        uri, holds = self.table.uri, self.plan.target.policy.holds
        if not holds:
            return False
        named = uri.bind(dict.fromkeys(uri.variables, "any"))
        period = named.period_of(named.render(parse_instant(left.instance_key)))
        return period is None or holding(period.spans[0][0], period.spans[-1][1], holds) is not None


def _with_partitions(left: Sequence[Item]) -> Iterator[tuple[Item, list[Item]]]:
    """Each item with the open partitions that stand just before it."""
    above: list[Item] = []
    for item in left:
        if above and (item.run_id, item.position) != (above[-1].run_id, above[-1].position + 1):
            above = []
        yield item, above
        above = [*above, item] if item.kind == _PARTITION else []
