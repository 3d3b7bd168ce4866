"""Moving partitions into quarantine, and purging those whose time there is over.

After each step of a move: what a kill leaves, and what the next run does about it.

1. The manifest is written: the partitions are there; the next run evicts them, and removes that manifest later.
2. The metastore has forgotten the partitions: their data is where it was. The next run moves it by the manifest, and a
   restore registers them again.
3. The directory is renamed: it is in quarantine. Where files go one by one it stays where it is until the purge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import ItemResult
from toolkit.actions.publication import remove, remove_quietly
from toolkit.availability import content_of, is_there
from toolkit.catalog.bound import read_only
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.export_metadata import metadata_text
from toolkit.clock import SystemClock
from toolkit.retention.delete import Removed, SingleDelete
from toolkit.retention.delete_quarantine import (
    QuarantinedDelete,
    moved_to,
    not_moved,
    require_no_link,
    times_of,
)
from toolkit.retention.output_watch import writers_of
from toolkit.retention.plan import ItemKind, PlanItem, StayReason
from toolkit.retention.quarantine import BadManifest, NotRestorable, QuarantinePlace, place_at
from toolkit.retention.quarantine_reader import Quarantined, QuarantineEntry
from toolkit.retention.tables.quarantine import NO_DATA, TableQuarantineReader, groups_of
from toolkit.retention.tables.recovery import IN_USE
from toolkit.retention.tables.removal import GONE
from toolkit.storage import NotFound, StorageError, aside_name

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import Partition, Table
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTable, FeedTarget
    from toolkit.storage import FileSystem

_FAILURES = (StorageError, CatalogError)


@dataclass(frozen=True, kw_only=True)
class PartitionQuarantine:
    """Quarantine of one table feed, for the run that evicts and purges; safe between threads.

    Attributes:
        target: the feed.
        table: its table.
        base: the table's own directory.
        work: of the run.
    """

    target: FeedTarget
    table: FeedTable
    base: CanonicalPath
    work: RunContext

    def condemn(
        self, items: Sequence[PlanItem], positions: range, held: Iterable[int]
    ) -> dict[int, ItemResult[PlanItem]]:
        """Write the manifest of each directory of a batch; return the results of partitions that stay without one."""
        stays: dict[int, ItemResult[PlanItem]] = {}
        kept = set(held)
        groups = [each for each in groups_of(items, positions) if not kept.intersection((*each[1], each[0]))]
        if not groups:
            return {}
        names = [_name(items[at]) for _, above in groups for at in above]
        try:
            metastore = read_only(self.table.metastore())
            table = metastore.table(self.table.name)
            there = {table.partition_name(each): each for each in metastore.partitions(self.table.name, names)}
        except CatalogError as error:
            return {at: ItemResult.failed(items[at], error.code, str(error)) for _, above in groups for at in above}

        def write(group: tuple[int, list[int]]) -> None:
            data, above = group
            found = {name: there[name] for name in (_name(items[at]) for at in above) if name in there}
            gone = [at for at in above if _name(items[at]) not in found]
            if gone:  # one that comes back by now would be dropped, and no manifest has it
                stays.update({at: ItemResult.skipped(items[at], StayReason.ALREADY_GONE) for at in gone})
                return
            done = attempted(self.work, partial(self._write, items[data], table, found), failures=_FAILURES)
            if isinstance(done, FailedAttempt):
                stays.update({at: done.of(items[at]) for at in above})

        self.work.pool(self.base).run_all(write, groups)
        return stays

    def _write(self, item: PlanItem, table: Table, found: Mapping[str, Partition]) -> None:
        system, place = self.work.stores(item.base), self._place(item)
        require_no_link(system, item.base, item.path)
        self._paths.make_folder(system, place)
        plain = {name: replace(each, refusal="") for name, each in found.items()}
        content = None if is_there(system, item.path) else NO_DATA
        parents = tuple(self._paths.parents_of(system, item)) if content is None else ()
        manifest = self._paths.manifest_of(item, parents)
        if content is None and not system.capabilities.atomic_rename:
            content = content_of(system, item.path, None)
        text = replace(manifest, definition=metadata_text(table, plain.values()).decode(), content=content).encoded()
        try:
            again = self._reader.confirmed(place, text, manifest.quarantined_at)
        except BadManifest as error:
            raise NotRestorable(path=item.path, detail=error.detail) from error
        if again is None or self._reader.partitions(again.manifest) != plain:
            raise NotRestorable(path=item.path, detail="a manifest does not hold its definition")
        system.write(place.manifest, [text], overwrite=False)

    def settle(
        self, items: Sequence[PlanItem], positions: range, codes: Mapping[int, str], is_open: Iterable[int]
    ) -> None:
        """Remove the manifests of directories whose partitions stay.

        One is kept while it is unknown whether its partitions are there: it is the way back then.
        """
        unknown = set(is_open)
        for data, above in groups_of(items, positions):
            done = {codes[at] for at in above}
            if not unknown.intersection((*above, data)) and not (done <= GONE and "" in done):
                remove_quietly(self.work.stores(items[data].base), self._place(items[data]).manifest, self.base)

    def remove(self, item: PlanItem) -> Removed:
        """Move the directory of forgotten partitions into quarantine, finish such a move, or purge one.

        Args:
            item: of the plan, with a quarantine.
        """
        refusal = self.work.guard.refusal(item.base)
        if refusal is not None:
            return Removed(refusal.of(item))
        system = self.work.stores(item.base)
        is_purge = item.type is ItemKind.QUARANTINED
        step = partial(self._looked_at if is_purge else self._moved, system, item)
        done = attempted(self.work, step, failures=_FAILURES)
        if isinstance(done, FailedAttempt):
            return Removed(done.of(item)) if is_purge else not_moved(item, done, system)
        return self._paths.remove(item, item.quarantine or item.path) if done is None else Removed(done)

    def _moved(self, system: FileSystem, item: PlanItem) -> ItemResult[PlanItem] | None:
        place = self._place(item)
        if not system.capabilities.atomic_rename:
            return moved_to(item, place.manifest)
        return self._renamed(system, item, item.path, item.base, place)

    def _renamed(
        self, system: FileSystem, item: PlanItem, path: CanonicalPath, base: CanonicalPath, place: QuarantinePlace
    ) -> ItemResult[PlanItem]:
        system.status(place.manifest)  # without it there is no way back
        require_no_link(system, base, path)
        require_no_link(system, place.base, place.data)
        with self.work.guard.completing():
            try:
                system.rename(path, place.data)
            except NotFound:
                if not is_there(system, place.data):  # a call may be repeated below
                    return ItemResult.skipped(item, StayReason.ALREADY_GONE)
        return moved_to(item, place.data)

    def _looked_at(self, system: FileSystem, item: PlanItem) -> ItemResult[PlanItem] | None:
        """Return the result of a manifest that is no purge, or not any more; None: it is due."""
        manifest, reader = item.quarantine or item.path, self._reader
        found = reader.read(QuarantineEntry(place_at(manifest), system.status(manifest).modified))
        renames = system.capabilities.atomic_rename
        is_moved = found is not None and renames and is_there(system, found.place.data)
        is_due = found is not None and self._is_due(found)
        if found is None or (not is_due and (is_moved or not renames)):
            raise BadManifest(path=manifest, detail="it has changed since the plan was made")
        if is_moved:
            return None
        if (over := self._over(system, item, found, is_due=is_due)) is not None:
            return over
        if (stays := self._stays(item, found, is_unknown=renames and is_due)) is not None:
            return stays
        path, base = found.candidate.path, found.candidate.base
        if renames:
            return self._renamed(system, item, path, base, found.place)
        is_newer = any(at is None or at >= found.written for at in times_of(system, path))
        return ItemResult.skipped(item, StayReason.WRITTEN_AGAIN) if is_newer else None

    def _stays(self, item: PlanItem, found: Quarantined, *, is_unknown: bool) -> ItemResult[PlanItem] | None:
        """Return the result of data outside of the quarantine that is not touched; None: it is what was evicted.

        Args:
            item: of the plan.
            found: by its manifest.
            is_unknown: the data may be newer than the manifest.
        """
        held = self._reader.written_by(found, item, writers_of(self.target, self.work))
        if held is not None:
            return held
        path = found.candidate.path
        why = "whether its data is what was evicted is unknown by now; restore it, or remove the manifest"
        if not is_unknown and self._reader.is_own(found):
            why = self._reader.against(path, {})
        return ItemResult.failed(item, IN_USE, f"{path} stays: {why}") if why else None

    def _is_due(self, found: Quarantined) -> bool:
        policy = self.target.policy
        return found.purge_at(self.target.quarantine, policy.timezone) <= policy.nominal_time

    def _over(
        self, system: FileSystem, item: PlanItem, found: Quarantined, *, is_due: bool
    ) -> ItemResult[PlanItem] | None:
        """Return the result of a manifest without data beside it that nothing is left of; None: its data is there.

        It goes when all of its partitions are registered again, or its time is over.
        """
        place, path, reader = found.place, found.candidate.path, self._reader
        partitions = reader.partitions(found.manifest)
        back = [each for each in reader.registered(partitions).values() if each == path or each.is_within(path)]
        aside, renames = place.data.parent.child(aside_name(place.data.name)), system.capabilities.atomic_rename
        is_begun = renames and is_there(system, aside)
        is_nothing = is_begun or found.manifest.content == NO_DATA or (renames and not is_there(system, path))
        if not (back or is_nothing):
            return None
        if is_due or len(back) == len(partitions) or (is_nothing and reader.is_own(found)):
            remove(system, aside, place.base)  # of a purge that was killed in its middle
            remove(system, place.manifest, place.base)
        return ItemResult.skipped(item, StayReason.WRITTEN_AGAIN if back else StayReason.ALREADY_GONE)

    def _place(self, item: PlanItem) -> QuarantinePlace:
        return QuarantinePlace.of(item.quarantine or item.base, self.work.run_name, item.instance_key, item.path)

    @cached_property
    def _paths(self) -> QuarantinedDelete:
        target = replace(self.target, availability_flag="")  # its readers ask the metastore
        return QuarantinedDelete(
            work=self.work, target=target, single=SingleDelete(work=self.work), now=SystemClock().now
        )

    @cached_property
    def _reader(self) -> TableQuarantineReader:
        check = self.work.guard.check
        return TableQuarantineReader(target=self.target, storage=self.work.stores, check=check, table=self.table)


def _name(item: PlanItem) -> str:
    return "" if item.partition is None else item.partition.name
