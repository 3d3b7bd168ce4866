"""Tables that retention can evict: plain Hive tables whose locations are paths; `catalog.feed_keys` has the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolkit.catalog.errors import UnsupportedTable
from toolkit.catalog.formats import unsupported_reason
from toolkit.errors import Failed

if TYPE_CHECKING:
    from toolkit.catalog.model import Table, TableName

_NAMED = 10


class UnreadableLocations(Failed):
    """Locations of a table that are no paths: it is unknown what is there, so nothing of the table goes.

    Args:
        table: the table.
        found: why each partition's location is none, by the partition's name.
    """

    code = "unreadable_location"

    def __init__(self, *, table: TableName, found: Mapping[str, str]) -> None:
        self.table, self.found = table, dict(found)
        named = "; ".join(f"{name}: {why}" for name, why in list(self.found.items())[:_NAMED])
        more = f"; and {len(self.found) - _NAMED} more" if len(self.found) > _NAMED else ""
        super().__init__(
            f"{table}: locations that cannot be understood, so that data of other partitions may be there, too: "
            f"{named}{more}. Correct them (ALTER TABLE ... SET LOCATION), or drop these partitions, then run again"
        )


def require_evictable(table: Table) -> None:
    """Return when the table's data are what is in its partitions' directories.

    Raises:
        UnsupportedTable: it is a view, or its files are another system's matter.
    """
    reason = f"{table.name} is a view, which has no data" if table.kind.is_view else unsupported_reason(table)
    if reason:
        raise UnsupportedTable(about=str(table.name), detail=reason)
