"""Avro schemas that a table names by an address: its copy has the schema itself instead (USERS, Hive tables).

The address is in the source's file system, which readers of the copy may not reach, or which may go. A table's owner
writes it, and what is read goes to whoever may read the copy: so only a table of Avro has its schema read, from a file
system of the cluster (`LocationPolicy.require_copyable`), and only if it is one.
"""

from __future__ import annotations

import json
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
_SERDE = ".avroserde"


def with_schema_inside(
    table: Table, place: Callable[[str], CanonicalPath], storage: Callable[[CanonicalPath], FileSystem]
) -> Table:
    """Return the table with the text of the schema in place of its address; one on the web stays where it is.

    Args:
        table: whose addresses the policy of its cluster allows; one of another format keeps them.
        place: of an address.
        storage: the store that a path is on.

    Raises:
        UnsupportedTable: the schema cannot be read, or is none of Avro.
        StorageError: it cannot be read.
    """
    if not (table.storage.serde.library or "").lower().endswith(_SERDE):
        return table

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
        if len(text) > _MOST:
            why = f"it has more than {_MOST} bytes"
        elif _is_schema(text):
            return text.decode()
        else:
            why = "it is no schema of Avro, expected a record in JSON"
    except (ElError, UnicodeDecodeError) as error:
        why = str(error)
    raise UnsupportedTable(about=str(table.name), detail=f"its {_ADDRESS} {address} cannot be read: {why}")


def _is_schema(text: bytes) -> bool:
    """Whether a text is a record of Avro, which is all that a table's rows can be."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not (isinstance(found, dict) and found.get("type") == "record" and isinstance(found.get("name"), str)):
        return False
    fields = found.get("fields")
    return isinstance(fields, list) and all(
        isinstance(each, dict) and isinstance(each.get("name"), str) and "type" in each for each in fields
    )
