"""Format and options with which Spark's own readers find the rows of a table: a validation asks no metastore."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.actions.validation import TableReading
from toolkit.errors import Failed

if TYPE_CHECKING:
    from toolkit.catalog.model import StorageDescriptor, Table

_COLUMNAR = {"org.apache.hadoop.hive.ql.io.orc.orcserde": "orc", "parquet": "parquet"}
_JSON = frozenset(
    {
        "org.apache.hive.hcatalog.data.jsonserde",
        "org.apache.hadoop.hive.serde2.jsonserde",
        "org.openx.data.jsonserde.jsonserde",
    }
)
_TEXT = "org.apache.hadoop.hive.serde2.lazy.lazysimpleserde"
_LINES = "org.apache.hadoop.mapred.textinputformat"
_PLAIN = r"[A-Za-z_]\w*(?: ?\( ?\d+ ?(?:, ?\d+ ?)?\))?"
_NESTED = re.compile(
    rf"\b(?:array ?< ?{_PLAIN} ?>|map ?< ?{_PLAIN} ?, ?{_PLAIN} ?>"
    rf"|struct ?< ?\w+ ?: ?{_PLAIN} ?(?:, ?\w+ ?: ?{_PLAIN} ?)*>)",
    re.ASCII | re.IGNORECASE,
)
_IS_PLAIN = re.compile(_PLAIN, re.ASCII)
_SEPARATOR, _NULL, _MOST_BYTE = "\x01", r"\N", 127
_CHANGES_LINES = {
    "escape.delim": None,
    "serialization.encoding": "utf-8",
    "serialization.last.column.takes.rest": "false",
    "timestamp.formats": "",
    "line.delim": "\n",
}
"""Parameters of text by which Hive finds other fields, with what their absence means; None: nothing else does."""
_CHANGES_ROWS = {
    "skip.header.line.count": "0",
    "skip.footer.line.count": "0",
    "parquet.column.index.access": "false",
    "orc.force.positional.evolution": "false",
}
"""Parameters by which Hive finds other rows or columns in the same files, with what their absence means."""


class NoReading(Failed):
    """Rows of a table that cannot be read as its readers see them.

    Args:
        why: what about it is in the way.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"its rows cannot be read as Hive reads them: {why}")


def reading_of(table: Table, storages: Sequence[StorageDescriptor]) -> TableReading:
    """Return how Spark reads the files of some partitions.

    Args:
        table: whose they are; its columns are looked for in all of them.
        storages: of the partitions, at least one; they may be others than the table's.

    Raises:
        NoReading: there is no such way for all of them.
    """
    for of in (table.parameters, table.storage.serde.parameters, *(each.serde.parameters for each in storages)):
        parameters = {name.lower(): value for name, value in of.items()}  # Hive finds them in any of these
        for name, absent in _CHANGES_ROWS.items():
            if parameters.get(name, absent).lower() != absent:
                raise NoReading(why=f"{name} is {parameters[name]}")
    columns = {each.name: _type(each.name, each.type) for each in table.storage.columns}
    for own in storages:  # Hive takes one for the other by their places, and Spark by their names
        pairs = zip(own.columns, table.storage.columns, strict=False)
        other = next(((one.name, of.name) for one, of in pairs if one.name.lower() != of.name.lower()), None)
        if other is not None:
            raise NoReading(why=f"a partition has the column {other[0]} where the table has {other[1]}")
    found = [_reader(own, table, columns) for own in storages]
    if any(each != found[0] for each in found):
        raise NoReading(why="some of its partitions are of another format than others")
    reader, options = found[0]
    return TableReading(
        format=reader,
        columns=columns,
        keys={each.name: _type(each.name, each.type) for each in table.keys},
        options=options,
    )


def _type(name: str, text: str) -> str:
    """Return a type after the check that it is one in SQL, too, and nothing beside it: anybody may have written it."""
    left, before = text, ""
    while left != before:
        left, before = _NESTED.sub("nested", left), left
    if not _IS_PLAIN.fullmatch(left):
        raise NoReading(why=f"the type {text} of {name}")
    return text


def _reader(storage: StorageDescriptor, table: Table, columns: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the format and its options."""
    library = (storage.serde.library or "").lower()
    for known, name in _COLUMNAR.items():
        if known in library:
            return name, {}
    if (storage.input_format or "").lower() == _LINES and library in _JSON:
        return "json", {"mode": "FAILFAST"}  # Hive fails, too, where Spark would make nulls
    if (storage.input_format or "").lower() == _LINES and library == _TEXT:
        return "text", _fields(_of_both(table, storage), columns)
    of = (storage.serde.library or "none").rpartition(".")[2]
    raise NoReading(why=f"its format ({of}) is none of parquet, ORC, JSON and delimited text")


def _of_both(table: Table, storage: StorageDescriptor) -> dict[str, str]:
    """Return parameters of the serde and the table; readers do not agree which of them counts."""
    own = storage.serde.parameters
    twice = [name for name in ("field.delim", "serialization.format", "serialization.null.format") if name in own]
    for name in twice:
        if table.parameters.get(name, own[name]) != own[name]:
            raise NoReading(why=f"{name} of its text is one thing for the table and another for its serde")
    return {**table.parameters, **own}


def _fields(parameters: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str]:
    nested = [name for name, kind in columns.items() if not _IS_PLAIN.fullmatch(kind)]
    if nested:
        raise NoReading(why=f"{nested[0]} has fields within a field of text")
    changed = [
        name
        for name, absent in _CHANGES_LINES.items()
        if name in parameters and (absent is None or parameters[name].lower() != absent)
    ]
    if changed:
        raise NoReading(why=f"{changed[0]} of its text")
    separator = parameters.get("field.delim", parameters.get("serialization.format")) or _SEPARATOR
    is_byte = separator.isascii() and separator.isdecimal() and len(separator.lstrip("0")) <= len(str(_MOST_BYTE))
    if is_byte and int(separator) <= _MOST_BYTE:
        separator = chr(int(separator))
    if not separator[0].isascii():
        raise NoReading(why="what separates the fields of its text is no ASCII")  # Hive takes one byte of it
    return {"sep": separator[0], "nullValue": parameters.get("serialization.null.format", _NULL)}
