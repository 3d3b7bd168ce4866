"""Bringing partitions back from quarantine: the directory is renamed, then the metastore gets their definitions again.

Readers find partitions by the metastore, so that it comes last but for the manifest. A restore that is killed can be
run again, whatever it has done.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.publication import remove
from toolkit.availability import content_of, is_there
from toolkit.catalog.bound import BoundMetastore
from toolkit.catalog.port import BATCH
from toolkit.retention.delete_quarantine import require_no_link, times_of
from toolkit.retention.quarantine import NotWhole
from toolkit.retention.quarantine_reader import entries
from toolkit.retention.tables.quarantine import NO_DATA
from toolkit.storage import AlreadyExists, NotFound, StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import Partition
    from toolkit.el import CanonicalPath
    from toolkit.retention.quarantine_reader import Quarantined
    from toolkit.retention.tables.quarantine import TableQuarantineReader
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True)
class PartitionRestore:
    """Restore of the partitions of one directory.

    Attributes:
        reader: of the feed's quarantine.
        work: of the run.
        make_parents: makes the directories above, as they were; returns those that are not.
    """

    reader: TableQuarantineReader
    work: RunContext
    make_parents: Callable[[], list[CanonicalPath]]

    def bring_back(self, system: FileSystem, found: Quarantined) -> list[CanonicalPath] | None:
        """Bring partitions back; return the directories that are not as they were, or None: all was there already.

        Raises:
            AlreadyExists: a partition, or its place, is occupied.
            StorageError: the data is not whole, or the store refuses.
            CatalogError: the metastore refuses.
        """
        path, partitions = found.candidate.path, self.reader.partitions(found.manifest)
        registered = self.reader.registered(partitions)
        elsewhere = [name for name, place in registered.items() if place != self._place(partitions[name])]
        if elsewhere:
            raise _occupied(path, f"the metastore has {elsewhere[0]} at {registered[elsewhere[0]]}")
        if why := self.reader.against(path, partitions):
            raise _occupied(path, why)
        missing = [each for name, each in partitions.items() if name not in registered]
        is_moved = system.capabilities.atomic_rename and is_there(system, found.place.data)
        others: list[CanonicalPath] = []
        if is_moved:
            others = self._renamed(system, found)
        else:
            self._require_data(system, found, is_new=not registered)
        metastore = BoundMetastore(self.reader.table.metastore(), self.work.guard.check)
        with self.work.guard.completing():
            for at in range(0, len(missing), BATCH):
                metastore.add_partitions(self.reader.table.name, missing[at : at + BATCH])
            with suppress(StorageError):  # they are back, and have to be announced
                self._forget(system, found)
        return others if missing or is_moved else None

    def _place(self, partition: Partition) -> CanonicalPath:
        return self.reader.table.place(partition.claimed_location)

    def _renamed(self, system: FileSystem, found: Quarantined) -> list[CanonicalPath]:
        path, base = found.candidate.path, found.candidate.base
        if is_there(system, path):
            raise _occupied(path, "something is at its place")
        require_no_link(system, base, path)
        others = self.make_parents()
        system.rename(found.place.data, path)
        return others

    def _require_data(self, system: FileSystem, found: Quarantined, *, is_new: bool) -> None:
        """Return when the data of partitions is where it was: it was never moved, or by a restore that was killed."""
        path, content = found.candidate.path, found.manifest.content
        if not is_there(system, path):
            if content != NO_DATA:
                raise NotFound(path=path, detail="its data was removed by another program; nothing is left to restore")
            return
        if content == NO_DATA:
            if is_new and any(True for _ in system.list(path)):
                raise _occupied(path, "something is at its place, and they had no data")
            return
        if not system.capabilities.atomic_rename and is_new:
            if any(at is not None and at >= found.written for at in times_of(system, path)):
                raise _occupied(path, "it was written again since it was evicted")
            if content != content_of(system, path, None):
                raise NotWhole(path=path)

    def _forget(self, system: FileSystem, found: Quarantined) -> None:
        """Remove the manifest; where data never moved an older one would condemn it again."""
        place = found.place
        if system.capabilities.atomic_rename:
            remove(system, place.manifest, place.base)
            return
        for each in list(entries(system, place.folder, self.work.guard.check)):
            if each.place.digest == place.digest:
                remove(system, each.place.manifest, place.base)


def _occupied(path: CanonicalPath, why: str) -> AlreadyExists:
    return AlreadyExists(path=path, detail=f"{why}, and nothing is replaced; move it away, or drop it, to restore")
