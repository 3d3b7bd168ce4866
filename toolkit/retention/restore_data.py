"""Data of one instance on its way out of quarantine: by a rename, or by its flag where nothing is renamed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult
from toolkit.actions.publication import remove
from toolkit.availability import content_of, is_there
from toolkit.el import CanonicalPath
from toolkit.retention.delete_quarantine import copied, flag_of, remove_lists, require_no_link, times_of
from toolkit.retention.output_watch import writers_of
from toolkit.retention.quarantine import BadManifest, NotWhole, QuarantinePlace, place_at
from toolkit.retention.quarantine_reader import Quarantined, QuarantineEntry, QuarantineReader, entries
from toolkit.retention.tables.quarantine import TableQuarantineReader
from toolkit.retention.tables.restore import PartitionRestore
from toolkit.storage import AlreadyExists, NotFound, StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

_NOTHING = (0, 0)  # files and bytes of an instance that has its flag alone
ALREADY_THERE = "already_there"
"""The code of an instance that is back already: a run was killed before it removed the manifest."""


@dataclass(frozen=True, kw_only=True)
class DataRestore:
    """Brings back the data of single items of a plan; safe between threads.

    Attributes:
        target: the feed on its cluster.
        work: of the run; its guard is asked before the first change of each.
        reader: of the feed's quarantine, one for all.
    """

    target: FeedTarget
    work: RunContext
    reader: QuarantineReader
    _manifests: dict[CanonicalPath, dict[str, list[QuarantinePlace]]] = field(default_factory=dict, init=False)
    _runs: dict[CanonicalPath, CanonicalPath] = field(default_factory=dict, init=False)
    _above: dict[CanonicalPath, list[CanonicalPath]] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def bring_back(self, item: PlanItem) -> ItemResult[PlanItem]:
        """Bring the data of an item back, with the directories above it that went.

        Raises:
            StorageError: the store refuses it, the place is occupied, or the manifest is no longer the planned one.
            CatalogError: the metastore refuses it, or does not answer.
            UnreadableLocations: the table's partitions have locations that cannot be read.
        """
        system = self.work.stores(item.base)
        manifest = item.quarantine or item.path
        require_no_link(system, item.base, place_at(manifest).data)
        reader, place = self.reader, place_at(manifest)
        is_listed = manifest == place.data
        written = None if is_listed else system.status(manifest).modified
        found = reader.read(QuarantineEntry(place, written, has_data=is_listed, is_listed=is_listed))
        if found is None or found.candidate.path != item.path:
            raise BadManifest(path=manifest, detail="it has changed since the plan was made")
        if isinstance(reader, TableQuarantineReader):
            return self._partitions(system, item, found, reader)
        move = self._rename if system.capabilities.atomic_rename else self._absolve
        return move(system, item, found)

    def _partitions(
        self, system: FileSystem, item: PlanItem, found: Quarantined, reader: TableQuarantineReader
    ) -> ItemResult[PlanItem]:
        held = reader.written_by(found, item, writers_of(self.target, self.work))
        if held is not None:
            return held
        make_parents = partial(self._make_parents, system, item, found)
        others = PartitionRestore(reader=reader, work=self.work, make_parents=make_parents).bring_back(system, found)
        if others is None:
            return ItemResult.skipped(item, ALREADY_THERE)
        return _back(item, others)

    def _rename(self, system: FileSystem, item: PlanItem, found: Quarantined) -> ItemResult[PlanItem]:
        place, path = found.place, item.path
        require_no_link(system, item.base, path)
        others = self._make_parents(system, item, found)
        with self.work.guard.completing():
            try:
                system.rename(place.data, path)
            except (AlreadyExists, NotFound):
                if not is_there(system, path):
                    self._above.pop(path.parent, None)  # another program may have removed them
                    raise
                if is_there(system, place.data):
                    raise _occupied(path) from None
                self._forget_moved(system, found)
                return ItemResult.skipped(item, ALREADY_THERE)
            self._forget_moved(system, found)
        return _back(item, others)

    def _forget_moved(self, system: FileSystem, found: Quarantined) -> None:
        place = found.place
        if found.is_listed:
            self._runs[place.data.parent] = place.base
            return
        remove(system, place.manifest, place.base)
        with suppress(StorageError):  # the instance is back, and has to be announced
            system.remove_if_empty(place.manifest.parent, below=place.base)

    def finish(self) -> None:
        """Remove the lists of runs of which all is back.

        Raises:
            StorageError: a store refuses it.
        """
        while self._runs:
            run, base = self._runs.popitem()
            system = self.work.stores(base)
            if remove_lists(system, run, base):
                system.remove_if_empty(run, below=base)

    def _make_parents(self, system: FileSystem, item: PlanItem, found: Quarantined) -> list[CanonicalPath]:
        """Make the directories that were emptied and removed, with what they had; others stay as they are.

        They are looked at once for all instances that they hold: under the lease no eviction removes them.

        Returns:
            Those that could not be given their owner, permissions or ACL; the data comes back all the same.
        """
        if item.path.parent in self._above:
            return self._above[item.path.parent]
        parent, made, others = item.base, list[CanonicalPath](), list[CanonicalPath]()
        for name in item.path.relative_to(item.base).split("/")[:-1]:
            parent = parent.child(name)
            made.append(parent)
        known = found.manifest.parents if len(found.manifest.parents) == len(made) else ()
        missing = [each for each in made if not is_there(system, each)]
        if missing:
            system.mkdirs(missing[-1])
        for each, attributes in reversed(list(zip(made, known, strict=False))):
            names = [entry.name for entry in system.list(each)]
            if each in missing or not names:  # made by a restore that was killed
                try:
                    attributes.give(system, each)
                except Unreachable:
                    raise
                except StorageError:  # the user of the run may not, or its owner has left
                    others.append(each)
        self._above[item.path.parent] = others
        return others

    def _absolve(self, system: FileSystem, item: PlanItem, found: Quarantined) -> ItemResult[PlanItem]:
        path, flag = item.path, flag_of(item.path, found.manifest.flag)
        is_left = is_there(system, path)
        if not is_left and (flag is None or found.manifest.content != _NOTHING):  # it may have had a flag alone
            raise NotFound(path=path, detail="its objects were removed by another program; nothing is left to restore")
        if flag is not None and is_there(system, flag):
            self._forget(system, found)
            return ItemResult.skipped(item, ALREADY_THERE)
        if any(at is not None and at >= found.written for at in times_of(system, path)):
            raise _occupied(path)
        if found.manifest.content != (content_of(system, path, None) if is_left else _NOTHING):
            raise NotWhole(path=path)
        if flag is not None:
            copied(system, found.place.flag, flag)
        self._forget(system, found)
        return ItemResult.done(item)

    def _forget(self, system: FileSystem, found: Quarantined) -> None:
        """Remove all manifests of an instance whose objects never moved: an older one would condemn it again."""
        place = found.place
        with self._lock:  # one listing for all instances: under the lease no manifest comes
            if place.folder not in self._manifests:
                same: dict[str, list[QuarantinePlace]] = {}
                for entry in entries(system, place.folder, self.work.guard.check):
                    same.setdefault(entry.place.digest, []).append(entry.place)
                self._manifests[place.folder] = same
        for each in self._manifests[place.folder].get(place.digest, [place]):
            remove(system, each.flag, place.base)
            remove(system, each.manifest, place.base)


def _back(item: PlanItem, others: Sequence[CanonicalPath]) -> ItemResult[PlanItem]:
    why = f"not as they were, since the user of this run may not: {', '.join(map(str, others))}" if others else ""
    return replace(ItemResult.done(item), message=why)


def _occupied(path: CanonicalPath) -> AlreadyExists:
    detail = "the instance was written again since it was evicted, and nothing is replaced; move it away to restore"
    return AlreadyExists(path=path, detail=detail)
