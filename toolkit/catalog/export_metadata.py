"""Hive's ``_metadata``: a table and its partitions as Thrift's JSON in JSON (Hive's `EximUtil`, version 0.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from toolkit.catalog.adapters.thrift_json import partition_structs, partitions_of, table_of, table_struct
from toolkit.catalog.model import TableKind
from toolkit.el import is_name
from toolkit.foreign_json import BadJson, parse_json

if TYPE_CHECKING:
    from toolkit.catalog.adapters.thrift_json import Struct
    from toolkit.catalog.model import Partition, Table

METADATA = "_metadata"
"""Name of the file in the directory of an export."""
_VERSION = "0.2"
_KNOWN = ("0.1", "0.2")
_OF_A_TABLE, _OF_A_PARTITION = ("1", "2", "3", "7", "8", "9", "10", "11", "12"), ("1", "6", "7")
"""The fields that are read; Hive may write privileges as well."""
_NO_TEXT = re.compile("[\\0\ud800-\udfff]")
"""NUL, and half of a character, which JSON can escape and no encoding has."""
_KINDS = (TableKind.MANAGED, TableKind.EXTERNAL, TableKind.VIEW)


class BadMetadataText(ValueError):  # noqa: N818 - named for what was found
    """Text that is no ``_metadata``, or was cut."""


def metadata_text(table: Table, partitions: Iterable[Partition]) -> bytes:
    """Return the ``_metadata`` that Hive's EXPORT TABLE writes."""
    document = {
        "version": _VERSION,
        "table": _json(table_struct(table)),
        "partitions": [_json(each) for each in partition_structs(table.name, partitions)],
    }
    return _json(document).encode()


def _json(document: Struct) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def read_metadata(text: bytes) -> tuple[Table, list[Partition]]:
    """Return the table and its partitions.

    Raises:
        BadMetadataText: it is none, was cut, or is of a version that is not known.
    """
    document = _document(text)
    try:
        table = table_of(_typed(document["table"], _OF_A_TABLE))
        partitions = partitions_of(_typed(each, _OF_A_PARTITION) for each in document["partitions"])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        message = f"what it says of the table or a partition is no JSON of Thrift: {repr(error)[:300]}"
        raise BadMetadataText(message) from error
    if table.kind not in _KINDS:
        message = f"its table is a {table.kind}, expected {', '.join(_KINDS)}"
        raise BadMetadataText(message)
    if any(not is_name(key) for key in table.key_names):
        message = f"the keys {table.key_names} are no names of columns"
        raise BadMetadataText(message)
    if not (table.name.database and table.name.table) or not (table.storage.columns or table.kind.is_view):
        message = "its table has no name, or no columns"
        raise BadMetadataText(message)
    if any(len(each.values) != len(table.keys) for each in partitions):
        message = f"a partition has not one value for each of the keys {table.key_names}"
        raise BadMetadataText(message)
    return table, partitions


def _document(text: bytes) -> dict[str, Any]:
    try:
        document: Any = parse_json(text, most_bytes=len(text))
    except BadJson as error:
        raise BadMetadataText(str(error)) from error
    if not isinstance(document, dict) or "table" not in document or not isinstance(document.get("partitions"), list):
        message = "expected the keys version, table and partitions"
        raise BadMetadataText(message)
    version = str(document.get("version"))
    if version not in _KNOWN and str(document.get("fcversion")) not in _KNOWN:
        message = f"it is of version {version}, expected {' or '.join(_KNOWN)}"
        raise BadMetadataText(message)
    return document


def _typed(text: str, read: Collection[str]) -> Struct:
    """Return the fields of a struct that are read, each of the type that is named beside it.

    Raises:
        ValueError: it is no JSON.
        TypeError: it is no struct, or a field is of another type.
    """
    found: Any = parse_json(text.encode("utf-8", "surrogatepass"))
    struct = {number: field for number, field in found.items() if number in read}
    wrong = [number for number, field in struct.items() if not _is("rec", {number: field})]
    if wrong:
        message = f"field {wrong[0]} is not of its type: {str(struct[wrong[0]])[:80]!r}"
        raise TypeError(message)
    return struct


def _is(kind: str, value: object) -> bool:
    """Return whether a value, with all that is in it, is of a type of Thrift's JSON."""
    match kind, value:
        case "rec", dict():
            fields = value.values()
            return all(isinstance(each, dict) and len(each) == 1 and _is(*next(iter(each.items()))) for each in fields)
        case (("lst" | "set"), [("str" | "rec" | "lst") as of, _, *items]):
            return all(_is(of, each) for each in items)
        case "map", [_, "str", _, dict() as texts]:
            return all(_is("str", each) for each in (*texts.keys(), *texts.values()))
        case "str", str():
            return not _NO_TEXT.search(value)
        case (("rec" | "lst" | "set" | "map" | "str"), _):
            return False
        case _:
            return isinstance(value, int | float) and not isinstance(value, bool)
