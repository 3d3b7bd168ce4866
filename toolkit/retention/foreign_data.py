"""Owner of the data at a place: data goes with a partition only if it is no other owner's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.catalog.errors import AccessDenied, NoSuchDatabase
from toolkit.catalog.model import TableName
from toolkit.el import ElError
from toolkit.planning.location_index import LocationIndex

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.retention.targets import FeedTable


@dataclass(frozen=True, kw_only=True)
class ForeignData:
    """Knows the directories of all other tables of a metastore, and of the repo's path feeds.

    Attributes:
        table: whose partitions go; it is asked for the others once, and only when something is to go.
    """

    table: FeedTable

    def owner_of(self, place: CanonicalPath, *, own: CanonicalPath | None) -> str:
        """Return in words who else has, or may have, data at, below or above a place; empty: no one.

        Args:
            place: the data of a partition.
            own: the table's own directory that it is in, where path feeds may be the table by another name; None: it is
                in none.

        Raises:
            CatalogError: the metastore does not say which tables there are.
        """
        if feed := self.table.feed_at(place, own):
            return f"{place} is in, or holds, {feed}"
        if own is None and self._unknown:
            return f"the location of the table {self._unknown[0]} is not known, and {place} may be in it"
        table = next(self._index.meeting(place), "")
        return f"{place} is in, or holds, the directory of the table {table}" if table else ""

    @cached_property
    def _index(self) -> LocationIndex[str]:
        placed = ((each, str(name)) for name, each in self._others if each is not None)
        return LocationIndex(placed, self.table.listed)

    @cached_property
    def _unknown(self) -> tuple[TableName, ...]:
        return tuple(name for name, each in self._others if each is None)

    @cached_property
    def _others(self) -> tuple[tuple[TableName, CanonicalPath | None], ...]:
        return tuple((name, self._place(each)) for name, each in self.table.directories() if name != self.table.name)

    def _place(self, location: str | None) -> CanonicalPath | None:
        try:
            return None if location is None else self.table.place(location)
        except ElError:
            return None


def table_directories(metastore: Metastore) -> tuple[tuple[TableName, str | None], ...]:
    """The locations of all tables of a metastore; None: of that one, or those of that database, they are unknown.

    Args:
        metastore: asked some hundred tables at a time.

    Raises:
        CatalogError: it does not say.
    """
    found: list[tuple[TableName, str | None]] = []
    for database in metastore.databases():
        try:
            locations = metastore.directories(database)
        except NoSuchDatabase:  # dropped since
            continue
        except AccessDenied:
            found.append((TableName(database, "*"), None))
            continue
        found += [(TableName(database, name), location) for name, location in locations.items()]
    return tuple(found)
