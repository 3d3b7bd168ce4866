"""Conversion of texts to the types of a table: exact, or an error.

boolean is ``true`` or ``false``; int and bigint are decimal digits with an optional ``-``, in range. float and double
take the nearest value of a decimal number; NaN, infinity, and numbers beyond the range are errors. decimal(P,S) takes
no digit that it cannot hold. date is ``2026-03-01``. timestamp is ISO 8601 with an offset or ``Z``, in whole
microseconds, in the years 0001 to 9999 of UTC; without an offset it is an error. timestamp_ntz is the same without an
offset. binary is base64.
"""

from __future__ import annotations

import binascii
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation
from functools import cache, partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from toolkit.errors import InvalidInput
from toolkit.ingest.port import IngestColumn
from toolkit.ingest.record_writer import BadRecord, ConvertedRecords

Cell = str | None
"""Text of a value; None is null."""
_SHOWN = 40
_NUMBER = r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_DAY = r"-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
_OFFSET = r"(Z|[+-][0-9]{2}:[0-9]{2})"
_ANY_YEAR, _USUAL_YEAR = "[0-9]{4}", "[1-8][0-9]{3}"
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_WIDEST = Context(prec=200, traps=[Inexact, InvalidOperation])


class UnknownColumnType(InvalidInput):
    """A column has a type that records cannot be converted to.

    Args:
        column: its name.
        type: what was found.
    """

    code = "unknown_column_type"

    def __init__(self, *, column: str, type: str) -> None:  # noqa: A002 - as in `IngestColumn`
        self.column, self.type = column, type
        super().__init__(f"column {column!r} has the type {type!r}; expected a primitive type of Spark")


class BadValue(ValueError):  # noqa: N818 - named for what was found
    """A value of a record does not fit; the text is the reason of a `BadRecord`.

    Args:
        found: for people.
        expected: for people.
        column: the name of its column; empty: it has none.
    """

    def __init__(self, *, found: str, expected: str, column: str = "") -> None:
        super().__init__(f"{f'column {column}: ' if column else ''}found {found}, expected {expected}")


@dataclass(frozen=True, kw_only=True, slots=True)
class TextType:
    """Conversion of texts to one type.

    Attributes:
        arrow: the type of the rows.
        grammar: what `parse` takes, as a pattern of the whole text.
        parse: converts one text that fits the grammar; ValueError or ArithmeticError: it does not fit the type.
        quick: pattern of the texts that pyarrow converts as `parse` does; empty: it does not.
    """

    arrow: pa.DataType
    grammar: str
    parse: Callable[[str], Any]
    quick: str = ""


def _integer(bits: int, text: str) -> int:
    value = int(text)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise OverflowError
    return value


def _floating(form: str, text: str) -> float:
    value: float = struct.unpack(form, struct.pack(form, float(text)))[0]
    if not math.isfinite(value):
        raise OverflowError
    return value


def _decimal(precision: int, scale: int, text: str) -> Decimal:
    value = _WIDEST.quantize(Decimal(text), Decimal(1).scaleb(-scale))
    if len(value.as_tuple().digits) > precision:
        raise OverflowError
    return value


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _time_type(arrow: pa.DataType, rest: str, parse: Callable[[str], Any]) -> TextType:
    return TextType(arrow=arrow, grammar=_ANY_YEAR + rest, parse=parse, quick=_USUAL_YEAR + rest)


_TYPES = {
    "string": TextType(arrow=pa.string(), grammar="(?s:.*)", parse=str, quick="(?s:.*)"),
    "boolean": TextType(arrow=pa.bool_(), grammar="true|false", parse="true".__eq__, quick="true|false"),
    "int": TextType(arrow=pa.int32(), grammar="-?[0-9]{1,40}", parse=partial(_integer, 32), quick="-?[0-9]{1,10}"),
    "bigint": TextType(arrow=pa.int64(), grammar="-?[0-9]{1,40}", parse=partial(_integer, 64), quick="-?[0-9]{1,18}"),
    "float": TextType(arrow=pa.float32(), grammar=_NUMBER, parse=partial(_floating, "<f"), quick=_NUMBER),
    "double": TextType(arrow=pa.float64(), grammar=_NUMBER, parse=partial(_floating, "<d"), quick=_NUMBER),
    "date": _time_type(pa.date32(), _DAY, date.fromisoformat),
    "timestamp": _time_type(pa.timestamp("us", "UTC"), _DAY + _CLOCK + _OFFSET, _instant),
    "timestamp_ntz": _time_type(pa.timestamp("us"), _DAY + _CLOCK, datetime.fromisoformat),
    "binary": TextType(
        arrow=pa.binary(), grammar="[A-Za-z0-9+/=]*", parse=partial(binascii.a2b_base64, strict_mode=True)
    ),
}


@cache
def text_type(column: IngestColumn) -> TextType:
    """Return the conversion of a column.

    Raises:
        UnknownColumnType: it has none.
    """
    if found := _DECIMAL.fullmatch(column.type):
        precision, scale = int(found[1]), int(found[2])
        if 1 <= precision <= 38 and scale <= precision:  # noqa: PLR2004 - the widest decimal of Spark
            parse = partial(_decimal, precision, scale)
            return TextType(
                arrow=pa.decimal128(precision, scale), grammar=r"-?[0-9]{1,60}(\.[0-9]{1,60})?", parse=parse
            )
    if column.type not in _TYPES:
        raise UnknownColumnType(column=column.name, type=column.type)
    return _TYPES[column.type]


def parse_text(column: IngestColumn, text: Cell) -> object:
    """Convert one text.

    Raises:
        BadValue: it is no value of the column.
    """
    if text is None:
        if column.is_required:
            raise BadValue(column=column.name, found="null", expected="a value")
        return None
    known = text_type(column)
    try:
        if re.fullmatch(known.grammar, text):
            return known.parse(text)
    except (ValueError, ArithmeticError, struct.error):
        pass
    raise BadValue(column=column.name, found=shown(text), expected=column.type)


def shown(text: object) -> str:
    """Return the beginning of a text for a message, on one line."""
    whole = text if isinstance(text, str) else str(text)
    return ascii(whole[:_SHOWN])[: 2 * _SHOWN] + ("..." if len(whole) > _SHOWN else "")


def quick_array(column: IngestColumn, cells: Sequence[Cell] | pa.Array) -> pa.Array | None:
    """Convert all texts of a column at once; None: not certain to be right, `parse_text` decides."""
    known = text_type(column)
    try:
        texts = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
        if not known.quick or (column.is_required and texts.null_count) or isinstance(texts, pa.ChunkedArray):
            return None
        if known.arrow == pa.string():
            return texts
        if pc.all(pc.match_substring_regex(texts, f"^(?:{known.quick})$")).as_py() is False:
            return None
        return _cast(texts, known.arrow)
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return None


def _cast(texts: pa.Array, arrow: pa.DataType) -> pa.Array | None:
    if not pa.types.is_floating(arrow):
        return pc.cast(texts, arrow)
    numbers = pc.cast(pc.cast(texts, pa.float64()), arrow, safe=False)
    return None if pc.all(pc.is_finite(numbers)).as_py() is False else numbers


def assemble(
    columns: Sequence[IngestColumn], cells: Mapping[str, Sequence[Cell]], kept: Sequence[int], bad: Mapping[int, str]
) -> ConvertedRecords:
    """Convert the texts of all columns, and leave out the records with a text that is no value of its column.

    Args:
        columns: of the table; those without cells are null.
        cells: by the name of a column; of the records in `kept`.
        kept: indexes of the records.
        bad: reasons of the records that are bad already.
    """
    reasons, values = dict(bad), {}
    for column in columns:
        texts = cells.get(column.name) or [None] * len(kept)
        array = quick_array(column, texts)
        values[column.name] = array if array is not None else _one_by_one(column, texts, kept, reasons)
    good = [row for row, index in enumerate(kept) if index not in reasons]
    arrays = [_array(column, values[column.name], good) for column in columns]
    names = [column.name for column in columns]
    rows = pa.table(arrays, names=names)
    found = tuple(BadRecord(index=index, reason=reasons[index]) for index in sorted(reasons))
    return ConvertedRecords(rows=rows, kept=[kept[row] for row in good], bad=found)


def _one_by_one(column: IngestColumn, texts: Sequence[Cell], kept: Sequence[int], reasons: dict[int, str]) -> list[Any]:
    values: list[Any] = []
    for index, text in zip(kept, texts, strict=True):
        try:
            values.append(parse_text(column, text))
        except BadValue as error:
            values.append(None)
            reasons.setdefault(index, str(error))
    return values


def _array(column: IngestColumn, values: pa.Array | list[Any], good: Sequence[int]) -> pa.Array:
    if isinstance(values, list):
        return pa.array([values[row] for row in good], text_type(column).arrow)
    return values if len(good) == len(values) else values.take(pa.array(good, pa.int64()))


def decoded(records: Sequence[bytes]) -> tuple[list[str], list[int], dict[int, str]]:
    """Return the texts of the records that are UTF-8, their indexes, and the reasons of the others."""
    try:
        return [record.decode() for record in records], list(range(len(records))), {}
    except UnicodeDecodeError:
        texts, kept, bad = [], [], {}
    for index, record in enumerate(records):
        try:
            texts.append(record.decode())
            kept.append(index)
        except UnicodeDecodeError as error:
            bad[index] = f"byte {error.start} is no UTF-8"
    return texts, kept, bad
