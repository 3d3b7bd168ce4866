"""Which tables retention can evict: plain Hive tables whose partition keys are those of the feed, and can be dated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from toolkit.catalog.errors import BadMetadata, UnsupportedTable
from toolkit.catalog.formats import unsupported_reason
from toolkit.catalog.values import KeyType
from toolkit.errors import Failed

if TYPE_CHECKING:
    from toolkit.catalog.model import Table, TableName
    from toolkit.el import TableUri

_DATABLE = frozenset({KeyType.STRING, KeyType.INT, KeyType.DATE})
_DATE = "${YEAR}-${MONTH}-${DAY}"
_NAMED = 10


class WrongKeys(BadMetadata):
    """A table whose partition keys are not those that its feed names, or cannot be dated.

    Args:
        table: the table.
        uri: of the feed.
        wrong: what is wrong with each key, in words.
    """

    code: ClassVar[str] = "wrong_keys"
    text: ClassVar[str] = "its partition keys do not fit the feed"

    def __init__(self, *, table: Table, uri: TableUri, wrong: Iterator[str]) -> None:
        has = ", ".join(f"{key.name} {key.type}" for key in table.keys) or "none"
        instead = f"correct the feed's table ({uri.text}), or its keys"
        super().__init__(about=str(table.name), detail=f"{'; '.join(wrong)}; its keys are: {has}; {instead}")


class UnreadableLocations(Failed):
    """Locations of a table that are no paths: nobody can tell what is there, so nothing of the table goes.

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


def require_keys(table: Table, uri: TableUri) -> None:
    """Return when the table has the keys that the feed names, and dates can be in those that have to.

    Raises:
        WrongKeys: all that is wrong.
    """
    if wrong := list(_wrong_keys(table, uri)):
        raise WrongKeys(table=table, uri=uri, wrong=iter(wrong))


def _wrong_keys(table: Table, uri: TableUri) -> Iterator[str]:
    types = {key.name.lower(): key for key in table.keys}
    for name, segment in zip(uri.partition_keys, uri.segments, strict=True):
        key = types.get(name.lower())
        if key is None:
            yield f"it has no key {name}"
        elif segment.fields and key.key_type not in _DATABLE:
            yield f"{name} is a {key.type}, which cannot be dated; expected a string, a date or an integer"
        elif segment.fields and key.key_type is KeyType.DATE and segment.text != _DATE:
            yield f"{name} is a date, so expected {name}={_DATE}"
