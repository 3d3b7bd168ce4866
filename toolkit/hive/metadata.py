"""Hive's ``_metadata``: a table and its partitions as Thrift's JSON in JSON (Hive's `EximUtil`, version 0.2)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolkit.catalog.adapters.thrift_json import partition_of, partition_struct, table_of, table_struct

if TYPE_CHECKING:
    from toolkit.catalog.adapters.thrift_json import Struct
    from toolkit.catalog.model import Partition, Table

_VERSION = "0.2"
_KNOWN = ("0.1", "0.2")


class BadMetadataText(ValueError):  # noqa: N818 - named for what was found
    """A text is no ``_metadata``, or was cut."""


def metadata_text(table: Table, partitions: Iterable[Partition]) -> bytes:
    """What Hive's EXPORT TABLE writes."""
    document = {
        "version": _VERSION,
        "table": _json(table_struct(table)),
        "partitions": [_json(partition_struct(table.name, each)) for each in partitions],
    }
    return _json(document).encode()


def _json(document: Struct) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read_metadata(text: bytes) -> tuple[Table, list[Partition]]:
    """The table and its partitions.

    Raises:
        BadMetadataText: it is none, was cut, or is of a version that is not known.
    """
    try:
        document: Any = json.loads(text)
    except ValueError as error:
        message = f"it is no JSON, or was cut: {error}"
        raise BadMetadataText(message) from error
    if not isinstance(document, dict) or "table" not in document or not isinstance(document.get("partitions"), list):
        message = "expected the keys version, table and partitions"
        raise BadMetadataText(message)
    version = str(document.get("version"))
    if version not in _KNOWN and str(document.get("fcversion")) not in _KNOWN:
        message = f"it is of version {version}, expected {' or '.join(_KNOWN)}"
        raise BadMetadataText(message)
    try:
        table = table_of(json.loads(document["table"]))
        partitions = [partition_of(json.loads(each)) for each in document["partitions"]]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        message = f"what it says of the table or a partition is no JSON of Thrift: {error!r}"
        raise BadMetadataText(message) from error
    if not (table.name.database and table.name.table) or not (table.storage.columns or table.kind.is_view):
        message = "its table has no name, or no columns"
        raise BadMetadataText(message)
    if any(len(each.values) != len(table.keys) for each in partitions):
        message = f"a partition has not one value for each of the keys {table.key_names}"
        raise BadMetadataText(message)
    return table, partitions
