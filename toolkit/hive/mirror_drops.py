"""Tables and partitions that a mirror drops at its target, since the source does not have them any more (ADR 0106).

Only what a copy of feedctl brought is dropped, and only by a compare with the source's metastore, which is asked again
before each drop. An empty source drops nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.publication import remove
from toolkit.availability import is_there
from toolkit.catalog.errors import NoSuchTable
from toolkit.hive.locations import UsedLocations, directory_above
from toolkit.hive.table_definition import COPIED
from toolkit.storage import NotFound

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.model import Partition, Table, TableName
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.hive.sources import Catalog
    from toolkit.storage import FileSystem


_OF_CALL = 50
"""So many partitions are dropped by one call: a kill before their files go leaves those of no more."""


@dataclass(frozen=True, kw_only=True)
class TableDrop:
    """Drop of a table, or of some of its partitions.

    Attributes:
        name: of the table, on both sides.
        places: directories of data by partition; the empty name is that of a table without partitions.
        root: the directory that bounds every removal.
        is_whole: the table goes too.
        bytes: of all files.
        stays: what is left, though the source does not have it, in words; empty: nothing is.
    """

    name: TableName
    places: Mapping[str, CanonicalPath]
    root: CanonicalPath | None = None
    is_whole: bool = False
    bytes: int = 0
    stays: str = ""

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, kw_only=True)
class TableDropper:
    """Plans and applies drops at the target of a mirror. Every call raises CatalogError, StorageError and ElError.

    Attributes:
        source: the metastore that says what is still there.
        target: the metastore where tables and partitions are dropped.
        work: of the run.
    """

    source: Catalog
    target: Catalog
    work: RunContext

    def partitions(self, name: TableName) -> TableDrop:
        """Plan the drop of partitions of a table that both sides have."""
        table = self.target.metastore.table(name)
        if not table.keys:
            return TableDrop(name=name, places={})
        here, there = (set(each.metastore.partition_names(name)) for each in (self.source, self.target))
        extra = there - here
        if extra and not here:
            why = f"{name} has no partitions at the source, so that its {len(extra):,} partitions at the target stay"
            return TableDrop(name=name, places={}, stays=why)
        return self._drop(table, extra)

    def table(self, name: TableName) -> TableDrop:
        """Plan the drop of a table that the source does not have."""
        table = self.target.metastore.table(name)
        if table.kind.is_view:
            return TableDrop(name=name, places={}, stays=f"the view {name} stays; drop it by hand")
        names = self.target.metastore.partition_names(name) if table.keys else ()
        found = self._drop(table, names)
        if found.stays or not found.places:
            why = found.stays or f"the table {name} has no partitions that tell who made it; drop it by hand"
            return TableDrop(name=name, places={}, stays=why)
        return TableDrop(name=name, places=found.places, root=found.root, is_whole=True, bytes=found.bytes)

    def _drop(self, table: Table, names: Collection[str]) -> TableDrop:
        name, location = table.name, table.storage.location or ""
        if table.keys and not names:
            return TableDrop(name=name, places={})
        root = self.target.policy.place(location if table.keys else directory_above(location))
        used = UsedLocations.of(self.target.metastore, table, self.target.policy.place)
        places: dict[str, CanonicalPath] = {}
        foreign: list[str] = []
        for each, part in self._parts(table, names):
            place = self._place(part, root, used)
            if place is None:
                foreign.append(each or str(name))
            else:
                places[each] = place
        stays = ""
        if foreign:
            stays = f"{len(foreign):,} of {name} that this mirror has not made stay, the first: {min(foreign)}"
        size = sum(self._size(each) for each in places.values())
        return TableDrop(name=name, places=places, root=root, bytes=size, stays=stays)

    def _parts(self, table: Table, names: Collection[str]) -> Iterator[tuple[str, Partition | Table]]:
        if not table.keys:
            yield "", table
            return
        for each in self.target.metastore.partitions(table.name, sorted(names)):
            yield table.partition_name(each), each

    def _place(self, part: Partition | Table, root: CanonicalPath, used: UsedLocations) -> CanonicalPath | None:
        """Return the directory of data that goes; None: it was not copied by feedctl, or is not its own."""
        if COPIED not in part.parameters or not part.location:
            return None
        place = self.target.policy.place(part.location)
        return place if place.is_within(root) and used.is_alone(place) else None

    def _size(self, place: CanonicalPath) -> int:
        self.work.guard.run.check()
        try:
            return self.work.stores(place).content_summary(place).size
        except NotFound:
            return 0

    def apply(self, drop: TableDrop) -> int:
        """Drop what the source still does not have; return the number of partitions, and tables without them.

        Readers find nothing of it before its files go. Raises CalledOff when a hold or another condition forbids it.
        """
        if drop.root is None or not drop.places or (drop.is_whole and self._is_back(drop.name)):
            return 0
        self.work.guard.require(drop.root)
        metastore = self.target.bound(self.work.guard.check)
        back = set() if drop.is_whole else set(self.source.metastore.partition_names(drop.name))
        left = [each for each in drop.places if each and each not in back]
        gone = 0
        for at in range(0, len(left), _OF_CALL):
            dropped = metastore.drop_partitions(drop.name, left[at : at + _OF_CALL])
            self._remove([drop.places[each] for each in dropped], drop.root)
            gone += len(dropped)
        if drop.is_whole:
            location = self.target.metastore.table(drop.name).storage.location or ""
            if self.target.metastore.partition_names(drop.name) if "" not in drop.places else ():
                return gone  # one came meanwhile
            metastore.drop_table(drop.name)
            directory = self.target.policy.place(location)
            if "" in drop.places:
                self._remove([drop.places[""]], drop.root)
                return 1
            self.work.stores(directory).remove_if_empty(directory, below=directory.parent)
        return gone

    def _is_back(self, name: TableName) -> bool:
        try:
            self.source.metastore.table(name)
        except NoSuchTable:
            return False
        return True

    def _remove(self, places: Collection[CanonicalPath], root: CanonicalPath) -> None:
        system = self.work.stores(root)

        def remove_one(place: CanonicalPath) -> None:
            remove(system, place, root)
            _remove_emptied(system, place, root)

        self.work.pool(root).run_all(remove_one, list(places))


def _remove_emptied(system: FileSystem, place: CanonicalPath, root: CanonicalPath) -> None:
    """Remove the directories above removed data that have nothing left; others may do so at the same time."""
    above = place.parent
    while above.is_within(root):
        if not system.remove_if_empty(above, below=root) and is_there(system, above):
            return
        above = above.parent


def total(metastore: Metastore, databases: Collection[str]) -> int:
    """Return the number of partitions, and tables without them, that databases have."""
    from toolkit.catalog.model import TableName  # noqa: PLC0415

    names = [TableName(database, table) for database in databases for table in metastore.tables(database)]
    return sum(len(metastore.partition_names(each)) or 1 for each in names)
