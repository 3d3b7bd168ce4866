"""Whether what was planned is still what its source describes: the files alone do not tell (ADR 0048)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from toolkit.catalog.errors import ForeignLocation, NoSuchTable, UnsupportedTable
from toolkit.hive.avro_schema import with_schema_inside
from toolkit.hive.described import differences, table_differences

if TYPE_CHECKING:
    from toolkit.catalog.model import Partition
    from toolkit.hive.contents import Contents, TableReader


def moved(reader: TableReader, contents: Contents, names: Collection[str]) -> frozenset[str]:
    """Return the parts whose definition, or whose table's, changed at the source since they were read.

    Args:
        reader: of the metastore that the contents were read from.
        contents: as they were planned.
        names: of the parts that are asked for.

    Raises:
        CatalogError: the metastore cannot tell.
        StorageError: the schema of a table cannot be read.
    """
    was = contents.table
    try:
        table = with_schema_inside(reader.table(was.name), reader.place, reader.storage)
    except (ForeignLocation, NoSuchTable, UnsupportedTable):
        return frozenset(names)
    if (table.kind, table.keys) != (was.kind, was.keys) or any(table_differences(table, was)):
        return frozenset(names)
    if not table.keys:
        return frozenset() if table.location == was.location else frozenset(names)
    now = {table.partition_name(each): each for each in reader.metastore.partitions(was.name, list(names))}
    then = {part.name: part.partition for part in contents.parts}
    return frozenset(name for name in names if not _is_same(now.get(name), then.get(name)))


def _is_same(now: Partition | None, then: Partition | None) -> bool:
    if now is None or then is None:
        return False
    return now.location == then.location and not any(differences(now.storage, then.storage))
