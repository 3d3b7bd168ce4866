"""From a table feed to its plan: partitions by their names, then the places of their data (DESIGN sections 7 and 8)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem, TargetPlan
from toolkit.catalog.bound import read_only
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.feed_keys import require_keys
from toolkit.el import CanonicalPath, ElError, format_instant
from toolkit.entities import LocationType
from toolkit.errors import InvalidInput
from toolkit.planning.retention import Candidate, KeepReason, Kept, instance_time, kept_by
from toolkit.retention.agreement import ConflictingRetention
from toolkit.retention.foreign_data import ForeignData
from toolkit.retention.located_partitions import LocatedPartitions, stay_notes
from toolkit.retention.partition_places import DividedPartitions, PartitionPlaces, is_directory_of, meeting
from toolkit.retention.plan import ItemKind, NamedPartition, PlanItem, RetentionDetail, Unrecognized
from toolkit.retention.tables.evictable import UnreadableLocations, require_evictable
from toolkit.retention.tables.selection import PartitionSelection
from toolkit.retention.tables.staging import waiting
from toolkit.retention.targets import NoArchive
from toolkit.storage import NotFound, StorageError
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.actions.hold_file import HoldFile
    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import PathPeriod
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTable, FeedTarget
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)
_SAMPLE = 10
UNUSABLE_STORE = "unusable_store"
"""The code of a table with data on a store that cannot be opened."""


@dataclass(kw_only=True)
class PartitionScan:
    """Scan of the names of a table's partitions.

    Attributes:
        candidates: the partitions that conform, by their names.
        unrecognized: how many do not.
        sample: some of them, each with the reason.
    """

    target: FeedTarget
    table: FeedTable
    base: CanonicalPath
    candidates: dict[str, Candidate] = field(default_factory=dict)
    unrecognized: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)
    _periods: dict[tuple[str, ...], PathPeriod | None] = field(default_factory=dict)

    def add(self, name: str) -> None:
        """Take in one name."""
        try:
            values = self.table.values_of(name)
        except ValueError as error:
            self._add_unrecognized(name, str(error))
            return
        known = tuple(values.values())
        if known not in self._periods:  # a table has far more partitions than instances where a key is open
            self._periods[known] = self.table.uri.period_of(values)
        period = self._periods[known]
        if period is None:
            self._add_unrecognized(name, self.table.uri.explain(values))
            return
        self.candidates[name] = self._candidate(name, period)

    def unpublished(self, name: str, place: CanonicalPath) -> Candidate | None:
        """Return the candidate for staged data of a partition, which may not exist; None: its name does not conform."""
        try:
            period = self.table.uri.period_of(self.table.values_of(name))
        except ValueError:
            period = None
        if period is None:
            self._add_unrecognized(name, f"{place} is staged data of a partition that is none of the feed's")
            return None
        return replace(self._candidate(name, period), path=place, is_staged=True)

    def _candidate(self, name: str, period: PathPeriod) -> Candidate:
        return Candidate(
            location=LocationType.DATA,
            time=instance_time(period, self.target.instances),
            first=period.spans[0][0],
            end=period.spans[-1][1],
            path=self.base,
            base=self.base,
            partition=name,
        )

    def _add_unrecognized(self, name: str, why: str) -> None:
        self.unrecognized += 1
        if len(self.sample) < _SAMPLE:
            self.sample.append((str(NamedPartition(self.table.name, name)), why))


@dataclass(frozen=True, kw_only=True)
class TablePlanner:
    """Makes the plans of table feeds; nothing is changed.

    Attributes:
        check: called before each call to the metastore; what it raises ends the planning.
        storage: the store that a path is on; it raises `InvalidInput` when there can be none.
        hold_file: looks for one in directories; it raises `StorageError`.
        is_present: whether a directory exists; it raises `StorageError`.
    """

    check: Callable[[], None]
    storage: Callable[[CanonicalPath], FileSystem]
    hold_file: Callable[[Iterable[CanonicalPath]], HoldFile | None]
    is_present: Callable[[CanonicalPath], bool]

    def plan(self, target: FeedTarget, table: FeedTable) -> FeedPlan:
        """The plan for one table feed; what stops it is a failure of this feed only."""
        try:
            return self._plan(target, table, read_only(table.metastore()))
        except (CatalogError, StorageError, UnreadableLocations, ConflictingRetention) as error:
            problem = Problem(code=error.code, message=str(error))
        except InvalidInput as error:
            problem = Problem(code=UNUSABLE_STORE, message=f"data of {table.name}: {error}")
        _LOG.warning("event=feed_failed feed=%s cluster=%s code=%s", target.feed, target.cluster, problem.code)
        return TargetPlan(target=target, detail=RetentionDetail(), notes=target.notes, failed=problem)

    def _plan(self, target: FeedTarget, table: FeedTable, metastore: Metastore) -> FeedPlan:
        self.check()
        found = metastore.table(table.name)
        require_evictable(found)
        require_keys(found, table.uri)
        base = self._base(found, table)
        archives = () if target.archive is None else target.archive.locations.values()
        if meets := next((each.base for each in archives if each.base.meets(base)), None):
            raise NoArchive(feed=target.feed, cluster=target.cluster, why=f"{meets} overlaps with the table in {base}")
        target = table.with_path_feeds(target, base)
        scan = PartitionScan(target=target, table=table, base=base)
        self.check()
        names = metastore.partition_names(table.name)
        for name in names:
            scan.add(name)
        hold_file = self.hold_file((base, *target.neighbour_bases))
        unpublished = waiting(self.storage(base), base, len(found.keys), self.check)
        staged = [each for each in (scan.unpublished(*one) for one in unpublished) if each is not None]
        look = _TableLook(planner=self, target=target, table=table, metastore=metastore, names=names, staged=staged)
        return look.planned(scan, hold_file)

    def _base(self, found: Table, table: FeedTable) -> CanonicalPath:
        try:
            return table.place(found.location)
        except ElError as error:
            raise UnreadableLocations(table=table.name, found={"the table itself": str(error)}) from error


@dataclass(frozen=True, kw_only=True)
class _TableLook:
    """A look at a table: which partitions go, and where their data are."""

    planner: TablePlanner
    target: FeedTarget
    table: FeedTable
    metastore: Metastore
    names: Sequence[str]
    staged: Sequence[Candidate]

    def planned(self, scan: PartitionScan, hold_file: HoldFile | None) -> FeedPlan:
        policy = self.target.policy
        selection = PartitionSelection.of(scan.candidates, self.target, hold_file)
        plan = self._with_places(scan, selection, hold_file=hold_file)
        if hold_file is not None:
            return plan
        blocked = [each for each in self.staged if kept_by(policy, each, selection.kept_from) is None]
        return replace(plan, items=(*plan.items, *self._blocked(blocked, scan.base)))

    def _with_places(
        self, scan: PartitionScan, selection: PartitionSelection, *, hold_file: HoldFile | None
    ) -> FeedPlan:
        kept, going = selection.kept, selection.going
        names = self.names if going else tuple(kept)
        located = LocatedPartitions.of(self.table, self.metastore, names, self.planner.check)
        places = located.places
        removed = [name for name in going if name in places and name not in located.refused]
        self._require_stores(scan.base, [places[name] for name in removed])
        divided = self._divided(scan.base, places, removed)
        if self.target.quarantine is not None:
            divided = self._restorable(divided, scan)
        self._require_parents(scan.base, divided)
        refused = [name for name in going if name in located.refused]
        doubtful = {name: meeting(places[name], scan.base, self.table.listed) for name in refused}
        entries = {name: located.refused[name] for name in refused if not doubtful[name]}
        stays = {**divided.stays, **{name: why for name, why in doubtful.items() if why}}
        if self.target.archive is not None or self.target.quarantine is not None:  # its data may not be touched
            stays, entries = {**stays, **entries}, {}
        shared = {
            name: Kept(candidate=scan.candidates[name], reason=KeepReason.SHARED_LOCATION, detail=why)
            for name, why in stays.items()
        }
        kept_or_shared = {**kept, **shared}
        detail = RetentionDetail(
            kept=tuple(_placed(kept_or_shared[name], places.get(name)) for name in sorted(kept_or_shared)),
            unrecognized=Unrecognized(count=scan.unrecognized, sample=tuple(scan.sample)),
            hold_file=hold_file,
            young=frozenset(selection.young),
            base=scan.base,
        )
        held = () if hold_file is None else (hold_file.note(selection.held(hold_file)),)
        return TargetPlan(
            target=self.target,
            detail=detail,
            items=(
                *self._items(divided, scan.candidates, places, scan.base),
                *(self._entry(scan.candidates[name], places[name], scan.base) for name in sorted(entries)),
            ),
            notes=(*self.target.notes, *held, *selection.notes, *stay_notes(entries)),
        )

    def _require_stores(self, base: CanonicalPath, places: Sequence[CanonicalPath]) -> None:
        """Without its directory all data of a table look gone, as on a disk that is not mounted."""
        for root in {place.root for place in places}:
            self.planner.storage(root)
        if any(place.is_within(base) for place in places) and not self.planner.is_present(base):
            detail = "the table's directory is not there; mount its disk, or correct the table's location"
            raise NotFound(path=base, detail=detail)

    def _require_parents(self, base: CanonicalPath, divided: DividedPartitions) -> None:
        """The same of what is outside of the table's directory, and goes."""
        parents = {group.base for group in divided.groups if group.base != base}
        # In an object store there are no directories to miss; that its bucket is there is asked all the same.
        absent = [each for each in sorted(parents) if not (self._is_present(each) or each.in_object_store)]
        if absent:
            raise NotFound(path=absent[0], detail=_absent(absent))

    def _is_present(self, directory: CanonicalPath) -> bool:
        self.planner.check()
        return self.planner.is_present(directory)

    def _divided(
        self, base: CanonicalPath, places: Mapping[str, CanonicalPath], going: Sequence[str]
    ) -> DividedPartitions:
        goes = frozenset(going)
        foreign = ForeignData(table=self.table)
        return PartitionPlaces(table=base, owner_of=foreign.owner_of, listed=self.table.listed).divided(
            {name: place for name, place in places.items() if name in goes},
            {name: place for name, place in places.items() if name not in goes} if goes else {},
        )

    def _restorable(self, divided: DividedPartitions, scan: PartitionScan) -> DividedPartitions:
        """Return the same where only groups go that can wait in the table's quarantine, and come back as they were."""
        renames = self.planner.storage(scan.base).capabilities.atomic_rename
        whys: dict[CanonicalPath, str] = {}
        for root, _, names in divided.groups:
            if root.root != scan.base.root:
                whys[root] = "its data is on another store than the table, so that no rename leads into quarantine"
            elif len({scan.candidates[name].time for name in names}) > 1:
                whys[root] = "partitions of several instances share its directory, and would not come back one by one"
            elif not renames and not any(is_directory_of(root, name, scan.base) for name in names):
                whys[root] = "it would wait in a place that the table does not give it, and nothing is renamed there"
        return DividedPartitions(
            groups=tuple(each for each in divided.groups if each.root not in whys),
            stays={
                **divided.stays,
                **{n: whys[each.root] for each in divided.groups if each.root in whys for n in each.names},
            },
        )

    def _items(
        self,
        divided: DividedPartitions,
        candidates: Mapping[str, Candidate],
        places: Mapping[str, CanonicalPath],
        base: CanonicalPath,
    ) -> Iterator[PlanItem]:
        """The partitions of each directory, then the directory: a rerun finds by that what belongs together."""
        for group in divided.groups:
            items = [self._item(candidates[name], places[name], group.base) for name in group.names]
            yield from items
            folder = self.target.quarantine_folder(base)
            yield replace(items[-1], type=ItemKind.PARTITION_DATA, path=group.root, archive=None, quarantine=folder)

    def _entry(self, candidate: Candidate, place: CanonicalPath, base: CanonicalPath) -> PlanItem:
        return replace(self._item(candidate, place, base), type=ItemKind.PARTITION_ENTRY)

    def _blocked(self, going: Sequence[Candidate], base: CanonicalPath) -> list[PlanItem]:
        """Return the items of staged data for partitions that would be evicted."""
        found = (self._item(each, each.path, base) for each in going)
        items = [replace(each, type=ItemKind.STAGED, partition=None, archive=None) for each in found]
        return sorted(items, key=lambda item: item.sort_key)

    def _item(self, candidate: Candidate, place: CanonicalPath, base: CanonicalPath) -> PlanItem:
        export = self.target.export_of(candidate.partition)
        return PlanItem(
            archive=None if export is None else below(export, candidate.partition),
            type=ItemKind.PARTITION,
            feed=self.target.feed,
            cluster=self.target.cluster,
            location=LocationType.DATA,
            instance_key=format_instant(candidate.time),
            path=place,
            base=base,
            partition=NamedPartition(self.table.name, candidate.partition),
        )


def places_of(
    table: FeedTable, metastore: Metastore, names: Sequence[str], check: Callable[[], None]
) -> Mapping[str, CanonicalPath]:
    """Return the data locations of partitions by their names, for comparing; a partition that is gone has none.

    Args:
        table: of the feed.
        metastore: where it is.
        names: of the partitions.
        check: called before each call.

    Raises:
        CatalogError: the metastore does not say.
        UnreadableLocations: some are unknown, so that they may be anywhere.
    """
    return LocatedPartitions.of(table, metastore, names, check).places


def _absent(parents: Sequence[CanonicalPath]) -> str:
    """Return in words what to do about directories that are missing."""
    rest = ", ".join(map(str, parents[1:_SAMPLE])) + (" ..." if len(parents) > _SAMPLE else "")
    also = f" (nor are {rest})" if rest else ""
    return (
        f"partitions that are to go are in it, but the directory is not there{also}; mount its disk, make the "
        f"directory if the data are gone for good, or correct the partitions' location"
    )


def _placed(kept: Kept, place: CanonicalPath | None) -> Kept:
    return kept if place is None else replace(kept, candidate=replace(kept.candidate, path=place))
