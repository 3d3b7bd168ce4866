"""Partitions in quarantine: their manifests, as far as config repo and metastore confirm them, and what a plan purges.

The directory of a group of partitions waits in the quarantine of the table's own directory, also where it was
elsewhere on the same store. The manifest has the definitions as Hive's ``_metadata`` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.availability import is_there
from toolkit.catalog.bound import read_only
from toolkit.catalog.export_metadata import read_metadata
from toolkit.entities import LocationType
from toolkit.planning.retention import keep_last_from
from toolkit.retention.foreign_data import ForeignData
from toolkit.retention.partition_places import PartitionPlaces, is_directory_of
from toolkit.retention.plan import ItemKind, NamedPartition, PlanItem
from toolkit.retention.quarantine import BadManifest, digest_of, quarantine_of
from toolkit.retention.quarantine_reader import Quarantined, QuarantineReader, entries
from toolkit.retention.quarantine_scan import due_of, newest_of, purges
from toolkit.retention.tables.evictable import require_evictable
from toolkit.retention.tables.planner import PartitionScan, places_of
from toolkit.storage import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.model import ItemResult
    from toolkit.catalog.model import Partition, Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.planning.retention import Candidate
    from toolkit.retention.output_watch import Writers
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.quarantine import QuarantineManifest, QuarantinePlace
    from toolkit.retention.quarantine_reader import QuarantineEntry
    from toolkit.retention.targets import FeedTable
    from toolkit.storage import FileSystem

NO_DATA = (0, 0)
"""The content of partitions whose directory was not there when they were evicted."""


@dataclass(frozen=True, kw_only=True)
class TableQuarantineReader(QuarantineReader):
    """Reads manifests of a table feed's quarantine; each looks at the metastore at most once for what it compares.

    Attributes:
        table: of the feed.
    """

    table: FeedTable

    @cached_property
    def metastore(self) -> Metastore:
        """The metastore, for looking."""
        return read_only(self.table.metastore())

    @cached_property
    def base(self) -> CanonicalPath:
        """The table's own directory."""
        return self.table.place(self._found.location)

    @override
    def folders(self) -> dict[CanonicalPath, CanonicalPath]:
        return {self.base: quarantine_of(self.base, self.target.feed)}

    def partitions(self, manifest: QuarantineManifest) -> dict[str, Partition]:
        """Return the partitions that a manifest describes, by name.

        Raises:
            ValueError: it describes those of another table, or none.
        """
        table, found = read_metadata(manifest.definition.encode(errors="surrogateescape"))
        if (table.name, table.key_names) != (self.table.name, self._found.key_names) or not found:
            message = f"it has partitions of {table.name} by {', '.join(table.key_names)}"
            raise ValueError(message)
        return {self._found.partition_name(each): each for each in found}

    def kept_from(self) -> datetime:
        """Return `keep_last_from` by the partitions that the table has now."""
        policy = self.target.policy
        names = self.metastore.partition_names(self.table.name) if policy.keep_last else ()
        return keep_last_from(self._scanned(names).values(), policy)

    def is_own(self, found: Quarantined) -> bool:
        """Return whether the table gives that directory to one of its partitions, whatever a manifest says."""
        names = self.partitions(found.manifest)
        return any(is_directory_of(found.candidate.path, name, self.base) for name in names)

    def registered(self, partitions: Mapping[str, Partition]) -> dict[str, CanonicalPath]:
        """Return the places of those of these partitions that the metastore has now, by name."""
        there = self.metastore.partitions(self.table.name, list(partitions))
        return {self._found.partition_name(each): self.table.place(each.claimed_location) for each in there}

    def against(self, path: CanonicalPath, but: Mapping[str, Partition]) -> str:
        """Return why the data at a path is not only that of some partitions; empty: it is.

        Args:
            path: of the directory.
            but: partitions of the manifest, which may be registered there.
        """
        others = {name: place for name, place in self.places.items() if name not in but}
        return self._owners.divided({"": path}, others).stays.get("", "")

    def written_by(self, found: Quarantined, item: PlanItem, writers: Writers) -> ItemResult[PlanItem] | None:
        """Return the result of an item whose partitions another run writes; None: no run does."""
        placed = replace(item, path=found.candidate.path, base=found.candidate.base)
        for name in self.partitions(found.manifest):
            held = writers.result_of(replace(placed, partition=NamedPartition(self.table.name, name)))
            if held is not None:
                return replace(held, item=item)
        return None

    def newest_versions(self, found: Iterable[Quarantined]) -> list[Quarantined]:
        """Return those whose partitions have no newer version; one that is replaced gets another directory."""
        versions: list[Quarantined] = []
        names: set[str] = set()
        for each in sorted(found, key=lambda each: each.written, reverse=True):
            own = self.partitions(each.manifest).keys()
            versions += [each] if names.isdisjoint(own) else []
            names |= own
        return versions

    def is_whole(self, instance_key: str, found: Iterable[QuarantineEntry], but: Collection[str]) -> bool:
        """Return whether no directory of an instance is left in quarantine.

        Args:
            instance_key: of the instance.
            found: all entries of the quarantine.
            but: digests of the places that are not asked about.
        """
        prefix = f"{instance_key.replace(':', '')}-"
        others = (each for each in found if each.place.key.startswith(prefix) and each.place.digest not in but)
        return not any(self._is_waiting(each) for each in others)

    def _is_waiting(self, entry: QuarantineEntry) -> bool:
        """Return whether partitions of an entry are still to come back."""
        try:
            found = self.read(entry)
        except BadManifest:
            return entry.has_data
        except NotFound:  # it came back since the listing
            return False
        if found is None:
            return False
        partitions = self.partitions(found.manifest)
        if partitions.keys() <= self.registered(partitions).keys():
            return False
        is_left = entry.has_data or found.manifest.content == NO_DATA
        return is_left or is_there(self.storage(found.place.manifest), found.candidate.path)

    @cached_property
    def places(self) -> Mapping[str, CanonicalPath]:
        """The place of each partition that the table has."""
        names = self.metastore.partition_names(self.table.name)
        return places_of(self.table, self.metastore, names, self.check)

    @cached_property
    def _found(self) -> Table:
        found = self.metastore.table(self.table.name)
        require_evictable(found)
        return found

    @cached_property
    def _owners(self) -> PartitionPlaces:
        owner_of = ForeignData(table=self.table).owner_of
        return PartitionPlaces(table=self.base, owner_of=owner_of, listed=self.table.listed)

    def _scanned(self, names: Iterable[str]) -> dict[str, Candidate]:
        scan = PartitionScan(target=self.target, table=self.table, base=self.base)
        for name in names:
            scan.add(name)
        return scan.candidates

    @override
    def _candidate(self, place: QuarantinePlace, manifest: QuarantineManifest) -> Candidate | None:
        path, folder = manifest.path, quarantine_of(self.base, self.target.feed)
        if place.folder != folder or manifest.location is not LocationType.DATA or digest_of(path) != place.digest:
            return None
        partitions = self.partitions(manifest)
        candidates = self._scanned(partitions)
        places = {self.table.place(each.claimed_location) for each in partitions.values()}
        is_around = path in places and all(each == path or each.is_within(path) for each in places)
        is_of_one = len({(each.time, each.first, each.end) for each in candidates.values()}) == 1
        if candidates.keys() != partitions.keys() or not (is_around and is_of_one) or path.root != self.base.root:
            return None
        for each in partitions.values():
            if why := self.table.why_not_used(each, self.base):
                raise ValueError(why)
        return replace(next(iter(candidates.values())), path=path, base=self._owners.base_of(path))


def with_purges(
    plan: FeedPlan, table: FeedTable, storage: Callable[[CanonicalPath], FileSystem], check: Callable[[], None]
) -> FeedPlan:
    """Return the plan of a table feed with what is purged, and with the moves that a killed run did not finish.

    Args:
        plan: of this run.
        table: of the feed.
        storage: the store that a path is on.
        check: called before each listing or read; what it raises ends the look.

    Raises:
        StorageError: a manifest cannot be read.
        CatalogError: the metastore does not say.
    """
    base = plan.detail.base
    if base is None or plan.detail.hold_file is not None:
        return plan
    system = storage(base)
    found = list(entries(system, quarantine_of(base, plan.target.feed), check))
    renames = system.capabilities.atomic_rename
    if not renames:  # what is evicted again gets a new manifest
        planned = {digest_of(item.path) for item in plan.items if item.type is ItemKind.PARTITION_DATA}
        found = [each for each in newest_of(found) if each.place.digest not in planned]
    if not found:
        return plan
    unmoved = {each.place for each in found if not (renames and each.has_data)}
    reader = TableQuarantineReader(target=plan.target, storage=storage, check=check, table=table)
    due, notes = due_of(reader, found, reader.kept_from(), lambda each: renames and each.place in unmoved)
    condemned = {each.place.digest for each in due if each.place in unmoved and each.manifest.content is None}
    if not renames:
        condemned = {each.place.digest for each in found}
    detail = replace(plan.detail, condemned=frozenset(condemned))
    return replace(plan, items=(*plan.items, *purges(reader, due)), notes=(*plan.notes, *notes), detail=detail)


def groups_of(items: Sequence[PlanItem], positions: range) -> Iterator[tuple[int, list[int]]]:
    """Yield the position of each directory that goes into quarantine, with the positions of its partitions."""
    above: list[int] = []
    for at in positions:
        if items[at].type is ItemKind.PARTITION:
            above.append(at)
            continue
        if items[at].type is ItemKind.PARTITION_DATA and items[at].quarantine is not None:
            yield at, above
        above = []
