"""Avro schemas that a table names by an address: its copy has the schema itself instead (USERS, Hive tables).

The address is in the source's file system, which readers of the copy may not reach, or which may go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.catalog.errors import UnsupportedTable
from toolkit.el import ElError

if TYPE_CHECKING:
    from toolkit.catalog.model import Table
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_ADDRESS, _TEXT = "avro.schema.url", "avro.schema.literal"
_WEB = ("http://", "https://")
_MOST = 1 << 20


def with_schema_inside(
    table: Table, place: Callable[[str], CanonicalPath], storage: Callable[[CanonicalPath], FileSystem]
) -> Table:
    """The table with the text of the schema in place of its address; one on the web stays where it is.

    Raises:
        UnsupportedTable: the schema is none that could be read.
        StorageError: it cannot be read.
    """

    def inside(parameters: Mapping[str, str]) -> dict[str, str]:
        address = parameters.get(_ADDRESS, "")
        if not address or address.lower().startswith(_WEB):
            return dict(parameters)
        rest = {key: value for key, value in parameters.items() if key != _ADDRESS}
        return {**rest, _TEXT: _text(table, address, place, storage)}

    serde = replace(table.storage.serde, parameters=inside(table.storage.serde.parameters))
    return replace(table, parameters=inside(table.parameters), storage=replace(table.storage, serde=serde))


def _text(
    table: Table,
    address: str,
    place: Callable[[str], CanonicalPath],
    storage: Callable[[CanonicalPath], FileSystem],
) -> str:
    try:
        path = place(address)
        with storage(path).read(path, length=_MOST + 1) as stream:
            text = stream.read()
        if len(text) <= _MOST:
            return text.decode()
        why = f"it has more than {_MOST} bytes"
    except (ElError, UnicodeDecodeError) as error:
        why = str(error)
    raise UnsupportedTable(about=str(table.name), detail=f"its {_ADDRESS} {address} cannot be read: {why}")
