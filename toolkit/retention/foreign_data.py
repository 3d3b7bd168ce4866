"""Whose data are at a place outside of a table's directory: it goes with a partition only when that is nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.errors import AccessDenied, NoSuchDatabase, NoSuchTable
from toolkit.catalog.model import TableName
from toolkit.el import ElError
from toolkit.retention.partition_places import PlaceIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTable


@dataclass(frozen=True, kw_only=True)
class ForeignData:
    """Knows the directories of all other tables of a metastore, and of the repo's path feeds.

    The tables are asked for one by one, once, and only when something outside of the table's directory is to go.

    Attributes:
        table: whose partitions go.
        metastore: where it is.
        check: called before each call to the metastore.
    """

    table: FeedTable
    metastore: Metastore
    check: Callable[[], None]

    def owner_of(self, place: CanonicalPath) -> str:
        """Who else has data at, below or above a place, or may have, in words; empty: nobody.

        Raises:
            CatalogError: the metastore does not say which tables there are.
        """
        if feed := self.table.feed_at(place):
            return f"{place} is in, or holds, data of the feed {feed}"
        unknown = next((name for name, directory in self._directories if directory is None), None)
        if unknown is not None:
            return f"the location of the table {unknown} is not known, and {place} may be in it"
        table = self._index.owner_of(place)
        return f"{place} is in, or holds, the directory of the table {table}" if table else ""

    @cached_property
    def _index(self) -> PlaceIndex:
        return PlaceIndex((directory, str(name)) for name, directory in self._directories if directory is not None)

    @cached_property
    def _directories(self) -> tuple[tuple[TableName, CanonicalPath | None], ...]:
        return tuple(self._listed())

    def _listed(self) -> Iterator[tuple[TableName, CanonicalPath | None]]:
        """None: of that table nobody can tell."""
        for name in self._tables():
            self.check()
            try:
                location = self.metastore.table(name).storage.location
                if location:  # a view has none
                    yield name, self.table.place(location)
            except NoSuchTable:
                continue
            except (AccessDenied, ElError):
                yield name, None

    def _tables(self) -> Iterator[TableName]:
        for database in self.metastore.databases():
            self.check()
            try:
                tables = self.metastore.tables(database)
            except NoSuchDatabase:
                continue
            for table in tables:
                if (name := TableName(database, table)) != self.table.name:
                    yield name
