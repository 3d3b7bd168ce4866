"""Having the metastore forget partitions."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult
from toolkit.catalog.bound import BoundMetastore
from toolkit.catalog.errors import AccessDenied, CatalogError, MetastoreUnreachable
from toolkit.el import ElError
from toolkit.retention.plan import ItemKind, PlanItem, StayReason

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import Partition
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTable

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PartitionDrop:
    """Has the metastore forget partitions, after another look at them.

    Attributes:
        held: results of what other runs write, by position: it stays, and what shares a directory with it does.
    """

    table: FeedTable
    work: RunContext
    held: Mapping[int, ItemResult[PlanItem]] = field(default_factory=dict)

    def of(self, partitions: Mapping[int, PlanItem]) -> tuple[dict[int, ItemResult[PlanItem]], set[int]]:
        """Return the outcomes of partitions by position, and the positions whose outcome is unknown.

        Raises:
            Stopped: the run must not go on; nothing was asked for.
        """
        try:
            metastore = BoundMetastore(self.table.metastore(), self.work.guard.check)
            results = self._looked_at(partitions, metastore)
        except CatalogError as error:
            return _all_failed(partitions, error), set()
        left = {_name(item): at for at, item in partitions.items() if at not in results}
        try:
            dropped = set(metastore.drop_partitions(self.table.name, list(left))) if left else set()
        except CatalogError as error:
            items, is_open = self._in_spite_of(error, {at: partitions[at] for at in left.values()}, metastore)
            return results | items, is_open
        for name, at in left.items():
            done, gone = ItemResult.done(partitions[at]), ItemResult.skipped(partitions[at], StayReason.ALREADY_GONE)
            results[at] = done if name in dropped else gone
        return results, set()

    def _in_spite_of(
        self, error: CatalogError, items: Mapping[int, PlanItem], metastore: Metastore
    ) -> tuple[dict[int, ItemResult[PlanItem]], set[int]]:
        """Return the outcomes after a failed drop: a metastore may fail after it has dropped partitions."""
        results = _all_failed(items, error)
        if isinstance(error, MetastoreUnreachable):  # what was asked for may still happen
            return results, set(items)
        if isinstance(error, AccessDenied):
            return results, set()
        try:
            there = self._there(items, metastore)
        except CatalogError:
            return results, set(items)
        gone = {at: ItemResult.done(item) for at, item in items.items() if _name(item) not in there}
        return results | gone, set()

    def _looked_at(self, partitions: Mapping[int, PlanItem], metastore: Metastore) -> dict[int, ItemResult[PlanItem]]:
        """Return the results of partitions that are not, or no longer, as planned."""
        there = self._there(partitions, metastore)
        results: dict[int, ItemResult[PlanItem]] = {}
        for group in _groups(partitions):
            of_group = {at: self._why_not(item, there) for at, item in group.items()}
            # The data of the others stay then, so they do, too.
            is_kept = StayReason.MOVED in of_group.values() or any(at in self.held for at in (*group, max(group) + 1))
            stay = StayReason.PARTITION_STAYS if is_kept else None
            whys = {at: why or stay for at, why in of_group.items()}
            results.update({at: ItemResult.skipped(group[at], why) for at, why in whys.items() if why is not None})
            results.update({at: self.held[at] for at in group if at in self.held})
        return results

    def _why_not(self, item: PlanItem, there: Mapping[str, Partition]) -> StayReason | None:
        found = there.get(_name(item))
        if found is None:
            return StayReason.ALREADY_GONE
        # Data go only from where the policy lets them go now; an entry without its data is known by what it claims.
        location = found.claimed_location if item.type is ItemKind.PARTITION_ENTRY else found.location
        return None if self._is_at(location, item.path) else StayReason.MOVED

    def _there(self, partitions: Mapping[int, PlanItem], metastore: Metastore) -> dict[str, Partition]:
        """Return the partitions that exist, by name."""
        found = metastore.table(self.table.name)
        there = metastore.partitions(self.table.name, [_name(item) for item in partitions.values()])
        return {found.partition_name(each): each for each in there}

    def _is_at(self, location: str, place: CanonicalPath) -> bool:
        try:
            return self.table.place(location) == place
        except ElError:
            return False


def _groups(partitions: Mapping[int, PlanItem]) -> Iterator[dict[int, PlanItem]]:
    """Yield the groups that share a directory, which follows them in the plan; one that keeps its data is alone."""
    group: dict[int, PlanItem] = {}
    for at, item in partitions.items():
        if group and (at - 1 not in group or item.type is ItemKind.PARTITION_ENTRY):
            yield group
            group = {}
        group[at] = item
    if group:
        yield group


def _name(item: PlanItem) -> str:
    return "" if item.partition is None else item.partition.name


def _all_failed(partitions: Mapping[int, PlanItem], error: CatalogError) -> dict[int, ItemResult[PlanItem]]:
    _LOG.warning('event=drop_failed code=%s partitions=%d about="%s"', error.code, len(partitions), error.about)
    return {at: ItemResult.failed(item, error.code, str(error)) for at, item in partitions.items()}
