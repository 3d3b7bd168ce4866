"""Records that are JSON objects of primitive values."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pa_json
from typing_extensions import override

from toolkit.ingest.port import IngestColumn
from toolkit.ingest.record_writer import ConvertedRecords, RecordWriter
from toolkit.ingest.text_values import BadValue, Cell, assemble, decoded, quick_array, shown, text_type

_NUMBERS = ("int", "bigint", "float", "double")
_MOST_BYTES = 1 << 30


class _Number(str):
    """Digits of a number, as they are in the record."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class StrictJson(RecordWriter):
    """Converts JSON objects in UTF-8, one a record.

    A key that is no column, a key that comes twice, and a value of another type than its column are errors. A key that
    is absent is null. Numbers belong into columns of numbers, true and false into boolean ones, and texts into all
    others; a decimal may be a number or a text. `text_values` has the rules of the types.
    """

    @override
    def convert(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> ConvertedRecords:
        rows = self.convert_quickly(records, columns)
        return ConvertedRecords(rows=rows) if rows is not None else self.convert_exactly(records, columns)

    def convert_quickly(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> pa.Table | None:
        """Convert records by pyarrow; None: not certain that it is right, `convert_exactly` decides."""
        data = b"\n".join(records)
        if not _is_plain(data, records) or any(column.type.startswith("decimal") for column in columns):
            return None
        schema = pa.schema([(column.name, _read_type(column)) for column in columns])
        try:
            data.decode()
            table = pa_json.read_json(
                io.BytesIO(data),
                read_options=pa_json.ReadOptions(block_size=len(data) + 1, use_threads=False),
                parse_options=pa_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
            )
        except (pa.ArrowInvalid, UnicodeDecodeError):
            return None
        if len(table) != len(records):
            return None
        arrays = [_finish(column, table.column(column.name)) for column in columns]
        return None if any(one is None for one in arrays) else pa.table(arrays, names=schema.names)

    def convert_exactly(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> ConvertedRecords:
        """Convert records one by one, and find which of them are bad."""
        by_name = {column.name: column for column in columns}
        texts, kept, bad = decoded(records)
        rows: list[dict[str, Cell]] = []
        indexes: list[int] = []
        for index, text in zip(kept, texts, strict=True):
            try:
                rows.append(_cells(text, by_name))
                indexes.append(index)
            except (ValueError, RecursionError) as error:
                bad[index] = str(error) if not isinstance(error, RecursionError) else "it is nested too deeply"
        cells = {name: [row.get(name) for row in rows] for name in by_name} if rows else {}
        return assemble(columns, cells, indexes, bad)


def _is_plain(data: bytes, records: Sequence[bytes]) -> bool:
    """Return whether each record is one line that begins an object: then as many rows as records are one of each."""
    marks = data.count(b"\n") == len(records) - 1 and b"\r" not in data and b"\0" not in data
    return bool(records) and marks and len(data) < _MOST_BYTES and all(record[:1] == b"{" for record in records)


def _read_type(column: IngestColumn) -> pa.DataType:
    if column.type == "float":
        return pa.float64()
    known = text_type(column).arrow
    return known if column.type in (*_NUMBERS, "boolean") else pa.string()


def _finish(column: IngestColumn, values: pa.ChunkedArray) -> pa.Array | None:
    if column.is_required and values.null_count:
        return None
    if column.type in ("float", "double"):
        values = pc.cast(values, text_type(column).arrow, safe=False)
        if pc.all(pc.is_finite(values)).as_py() is False:
            return None
    if column.type in (*_NUMBERS, "boolean", "string"):
        return values
    return quick_array(column, values.combine_chunks())


def _cells(text: str, columns: dict[str, IngestColumn]) -> dict[str, Cell]:
    document = json.loads(
        text, object_pairs_hook=_unique, parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant
    )
    if not isinstance(document, dict):
        raise BadValue(found=shown(text), expected="an object")
    if unknown := [name for name in document if name not in columns]:
        raise BadValue(found=f"the key {shown(unknown[0])}", expected="names of columns")
    return {name: _cell(columns[name], value) for name, value in document.items()}


def _cell(column: IngestColumn, value: object) -> Cell:
    if value is None:
        return None
    is_decimal = column.type.startswith("decimal")
    expected = _Number if column.type in _NUMBERS else bool if column.type == "boolean" else str
    if isinstance(value, str) and (type(value) is expected or is_decimal):
        if any("\ud800" <= one <= "\udfff" for one in value):
            raise BadValue(column=column.name, found="half of a surrogate pair", expected="Unicode")
        return str(value)
    if type(value) is not expected:
        raise BadValue(column=column.name, found=shown(value), expected=column.type)
    return str(value).lower()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadValue(found=f"the key {shown(twice)} twice", expected="each once")
    return document


def _refuse_constant(text: str) -> NoReturn:
    raise BadValue(found=text, expected="JSON, which has no such number")
