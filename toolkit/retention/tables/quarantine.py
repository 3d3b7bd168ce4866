"""Partitions in quarantine: their manifests, as far as config repo and metastore confirm them, and what a plan purges.

The directory of a group of partitions waits in the quarantine of the table's own directory, also where it was
elsewhere on the same store. The manifest has the definitions as Hive's ``_metadata`` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.catalog.bound import read_only
from toolkit.catalog.export_metadata import read_metadata
from toolkit.entities import LocationType
from toolkit.planning.retention import KeepReason, keep_last_from, kept_by
from toolkit.retention.foreign_data import ForeignData
from toolkit.retention.partition_places import PartitionPlaces
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.protection import ProtectedInstances
from toolkit.retention.quarantine import BadManifest, digest_of, kept_until, quarantine_of
from toolkit.retention.quarantine_reader import Quarantined, QuarantineEntry, QuarantineReader, entries
from toolkit.retention.quarantine_scan import newest_of, quarantine_notes
from toolkit.retention.tables.evictable import require_evictable
from toolkit.retention.tables.planner import PartitionScan, places_of

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.catalog.model import Partition, Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.planning.retention import Candidate
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.quarantine import QuarantineManifest, QuarantinePlace
    from toolkit.retention.targets import FeedTable, FeedTarget
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

    def candidates(self, manifest: QuarantineManifest) -> dict[str, Candidate]:
        """Return the instances that the partitions of a manifest belong to, by name; see `partitions`."""
        return self._scanned(self.partitions(manifest))

    def kept_from(self) -> datetime:
        """Return `keep_last_from` by the partitions that the table has now."""
        policy = self.target.policy
        names = self.metastore.partition_names(self.table.name) if policy.keep_last else ()
        return keep_last_from(self._scanned(names).values(), policy)

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

    def _scanned(self, names: Mapping[str, Partition] | Sequence[str]) -> dict[str, Candidate]:
        scan = PartitionScan(target=self.target, table=self.table, base=self.base)
        for name in names:
            scan.add(name)
        return scan.candidates

    @override
    def _candidate(self, place: QuarantinePlace, manifest: QuarantineManifest) -> Candidate | None:
        path, folder = manifest.path, quarantine_of(self.base, self.target.feed)
        if place.folder != folder or manifest.location is not LocationType.DATA or digest_of(path) != place.digest:
            return None
        partitions, candidates = self.partitions(manifest), self.candidates(manifest)
        places = {self.table.place(each.claimed_location) for each in partitions.values()}
        is_around = path in places and all(each == path or each.is_within(path) for each in places)
        if candidates.keys() != partitions.keys() or not is_around or path.root != self.base.root:
            return None
        for each in partitions.values():
            if why := self.table.why_not_used(each, self.base):
                raise ValueError(why)
        base = self._owners.base_of(path)
        return replace(max(candidates.values(), key=lambda each: each.time), path=path, base=base)


@dataclass(frozen=True, kw_only=True)
class TableQuarantineScan:
    """Looks at the quarantine of one table feed; nothing is changed.

    Attributes:
        target: the feed, with the feeds that share its data.
        table: its table.
        storage: the store that a path is on.
        check: called before each listing or read; what it raises ends the scan.
    """

    target: FeedTarget
    table: FeedTable
    storage: Callable[[CanonicalPath], FileSystem]
    check: Callable[[], None]

    def added_to(self, plan: FeedPlan) -> FeedPlan:
        """Return a plan with what is purged, and with the evictions that a killed run did not finish.

        Raises:
            StorageError: a manifest cannot be read.
            CatalogError: the metastore does not say.
        """
        base = plan.detail.base
        if base is None or plan.detail.hold_file is not None:
            return plan
        system = self.storage(base)
        found = list(entries(system, quarantine_of(base, self.target.feed), self.check))
        if not found:
            return plan
        if not system.capabilities.atomic_rename:
            found = list(newest_of(found))
        planned = {item.path for item in plan.items if item.type is ItemKind.PARTITION_DATA}
        due, condemned, notes = self._due(found, planned, renames=system.capabilities.atomic_rename)
        items = sorted((self._item(each, base) for each in due), key=lambda item: item.sort_key)
        detail = replace(plan.detail, condemned=frozenset(condemned))
        return replace(plan, items=(*plan.items, *items), notes=(*plan.notes, *notes), detail=detail)

    def _due(
        self, found: Sequence[QuarantineEntry], planned: set[CanonicalPath], *, renames: bool
    ) -> tuple[list[Quarantined], list[CanonicalPath], list[str]]:
        reader = TableQuarantineReader(target=self.target, storage=self.storage, check=self.check, table=self.table)
        policy, keep, kept_from = self.target.policy, self.target.quarantine, reader.kept_from()
        due: dict[CanonicalPath, Quarantined] = {}
        going: dict[tuple[CanonicalPath, str], Candidate] = {}
        waiting: list[datetime] = []
        bad: list[BadManifest] = []
        condemned: list[CanonicalPath] = []
        held = kept = 0
        for entry in found:
            is_unfinished = renames and not entry.has_data
            if entry.written is not None and keep is not None and not is_unfinished:
                until = kept_until(entry.written, keep, policy.timezone)
                if until > policy.nominal_time:
                    waiting.append(until)
                    continue
            try:
                each = reader.read(entry)
            except BadManifest as error:
                bad.append(error)
                continue
            if each is None or each.manifest.path in planned:  # what is evicted again has a newer manifest
                continue
            is_unfinished = is_unfinished and each.manifest.content != NO_DATA
            condemned.extend([each.manifest.path] if is_unfinished else [])
            until, candidates = each.purge_at(keep, policy.timezone), reader.candidates(each.manifest)
            stays = [why for why in (kept_by(policy, one, kept_from) for one in candidates.values()) if why]
            if until > policy.nominal_time and not is_unfinished:
                waiting.append(until)
            elif stays:
                held += stays[0].reason is KeepReason.HOLD
                kept += stays[0].reason is not KeepReason.HOLD
            else:
                due[entry.place.manifest] = each
                going.update({(entry.place.manifest, name): one for name, one in candidates.items()})
        protected = ProtectedInstances.among(going, policy, self.target.protectors) if going else ProtectedInstances()
        stay = {manifest for manifest, _ in protected.kept}
        notes = quarantine_notes(self.target.feed, waiting, held, kept + len(stay), bad)
        return [due[each] for each in due if each not in stay], condemned, [*notes, *protected.notes]

    def _item(self, found: Quarantined, base: CanonicalPath) -> PlanItem:
        place, renames = found.place, self.storage(base).capabilities.atomic_rename
        candidate = found.candidate
        return PlanItem(
            type=ItemKind.QUARANTINED,
            feed=self.target.feed,
            cluster=self.target.cluster,
            location=LocationType.DATA,
            instance_key=found.manifest.instance_key,
            path=place.data if renames else candidate.path,
            base=base if renames else candidate.base,
            quarantine=place.manifest,
        )


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
