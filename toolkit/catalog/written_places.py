"""Directories that a run may write when it writes an instance of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from toolkit.catalog.partition_name import joined_name

if TYPE_CHECKING:
    from toolkit.catalog.model import Table, TableName
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenPlaces:
    """Directories of an instance of a table, as the metastore has them now.

    Attributes:
        base: the directory of the table.
        places: of the instance's partitions, and of one that is added where Hive and Spark add it.
    """

    base: CanonicalPath
    places: tuple[CanonicalPath, ...]

    def base_of(self, place: CanonicalPath) -> CanonicalPath:
        """Return the table's directory for a place in it; a place elsewhere stands for itself."""
        return self.base if place.is_within(self.base) else place


def written_places(
    metastore: Metastore, name: TableName, values: Mapping[str, str], place: Callable[[str], CanonicalPath]
) -> WrittenPlaces:
    """Return where a run may write an instance of a table.

    Args:
        metastore: has the table.
        name: of the table.
        values: key to value of the instance; of a whole table none.
        place: where a location is, as the metastore writes it.

    Raises:
        CatalogError: the metastore does not say; `NoSuchTable`: the table does not exist yet.
        ElError: a location is no path.
    """
    table = metastore.table(name)
    base = place(table.location)
    known = {key.lower(): value for key, value in values.items()}
    keys = list(takewhile(known.__contains__, (key.lower() for key in table.key_names)))
    added = base
    for part in filter(None, joined_name(keys, (known[key] for key in keys)).split("/")):
        added = added.child(part)
    found = metastore.partitions(name, partition_names_of(metastore, table, known)) if table.key_names else ()
    return WrittenPlaces(base=base, places=(added, *(place(each.claimed_location) for each in found)))


def partition_names_of(metastore: Metastore, table: Table, values: Mapping[str, str]) -> Sequence[str]:
    """Return the names of the partitions with these values; where keys are open, all names of the table are read.

    Args:
        metastore: has the table.
        table: the table.
        values: by keys in lower case.

    Raises:
        CatalogError: the metastore does not say.
    """
    if values.keys() == {key.lower() for key in table.key_names}:
        return [table.partition_name(tuple(values[key.lower()] for key in table.key_names))]
    return metastore.partition_names(table.name, matching=values)
