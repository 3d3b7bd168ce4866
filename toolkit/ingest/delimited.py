"""Records of fields with a separator between them: CSV, TSV and the like."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.csv as pa_csv
from typing_extensions import override

from toolkit.errors import InvalidInput
from toolkit.ingest.port import IngestColumn
from toolkit.ingest.record_writer import ConvertedRecords, RecordWriter
from toolkit.ingest.text_values import Cell, assemble, decoded, quick_array, shown, text_type

DROPPED = "_"
"""Name, in the list of columns, of a field that is not used."""


class WrongWriterSettings(InvalidInput):
    """Settings of a record writer that fit neither each other nor the table.

    Args:
        setting: its name.
        found: what it is.
        expected: what it has to be.
    """

    code = "wrong_writer_settings"

    def __init__(self, *, setting: str, found: object, expected: str) -> None:
        self.setting, self.found, self.expected = setting, found, expected
        super().__init__(f"`{setting}` of the format is {found!r}; expected {expected}")


def check_columns(setting: str, names: Sequence[str], columns: Sequence[IngestColumn]) -> None:
    """Check that the fields of a format are columns of the table, each once.

    Raises:
        WrongWriterSettings: they are not.
    """
    known, used = {column.name for column in columns}, [name for name in names if name != DROPPED]
    if unknown := [name for name in used if name not in known]:
        raise WrongWriterSettings(setting=setting, found=unknown[0], expected=f"one of {', '.join(sorted(known))}")
    if len(used) != len(set(used)):
        raise WrongWriterSettings(setting=setting, found=list(names), expected="each column once")


@dataclass(frozen=True, kw_only=True)
class Delimited(RecordWriter):
    """Converts delimited text in UTF-8; a record has exactly as many fields as expected.

    A quoted field begins and ends with the quote, which is doubled inside; text beside the quotes and a quote in an
    unquoted field are errors. `text_values` has the rules of the types.

    Attributes:
        separator: one character.
        quote: one character; empty: there are no quotes.
        escape: one character; the character behind it stands for itself. Empty: there is none.
        header: a record that has exactly the names of the fields is the head of a file and no row.
        null: an unquoted field with this text, before escapes are resolved, is null.
        columns: the names of the fields in their order, `_` for one that is dropped; empty: those of the table.
    """

    separator: str = ","
    quote: str = '"'
    escape: str = ""
    header: bool = False
    null: str = ""
    columns: tuple[str, ...] = ()
    _field: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the settings, and compile the pattern of a field."""
        for name, text, least in (
            ("separator", self.separator, 1),
            ("quote", self.quote, 0),
            ("escape", self.escape, 0),
        ):
            if not least <= len(text) <= 1 or text in ("\n", "\r"):
                raise WrongWriterSettings(setting=name, found=text, expected="one character that ends no line")
        marks = [mark for mark in (self.separator, self.quote, self.escape) if mark]
        if len(marks) != len(set(marks)):
            raise WrongWriterSettings(setting="quote", found=self.quote, expected="another character than the others")
        object.__setattr__(self, "_field", self._pattern())

    def _pattern(self) -> re.Pattern[str]:
        separator, quote, escape = (re.escape(mark) for mark in (self.separator, self.quote, self.escape))
        escaped = f"|{escape}." if escape else ""
        plain = rf"(?:[^{separator}{quote}{escape}]{escaped})*+"
        inside = rf"{quote}((?:[^{quote}{escape}]|{quote}{quote}{escaped})*+){quote}" if quote else r"(?!)()"
        return re.compile(rf"(?:{inside}|({plain}))(?:{separator}|\Z)", re.DOTALL)

    @override
    def convert(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> ConvertedRecords:
        names = self.columns or tuple(column.name for column in columns)
        check_columns("columns", names, columns)
        rows = self.convert_quickly(records, columns, names)
        return ConvertedRecords(rows=rows) if rows is not None else self.convert_exactly(records, columns, names)

    def convert_quickly(
        self, records: Sequence[bytes], columns: Sequence[IngestColumn], names: Sequence[str]
    ) -> pa.Table | None:
        """Convert records by pyarrow; None: not certain that it is right, `convert_exactly` decides."""
        data = b"\n".join(records)
        marks = [b"\r", b"\0", *(mark.encode() for mark in (self.quote, self.escape) if mark)]
        lines = data.count(b"\n") + 1
        if self.header or not all(records) or lines != len(records) or any(mark in data for mark in marks):
            return None
        known = {column.name: column for column in columns}
        used = [name for name in names if name != DROPPED]
        try:
            table = self._read(data, names)
            arrays = {name: quick_array(known[name], table.column(name).combine_chunks()) for name in used}
        except (pa.ArrowInvalid, ValueError):
            return None
        absent = [column for column in columns if column.name not in arrays]
        if any(one is None for one in arrays.values()) or any(one.is_required for one in absent):
            return None
        arrays |= {column.name: pa.nulls(len(records), text_type(column).arrow) for column in absent}
        return pa.table([arrays[column.name] for column in columns], names=[column.name for column in columns])

    def _read(self, data: bytes, names: Sequence[str]) -> pa.Table:
        unique = [f"{index} dropped" if name == DROPPED else name for index, name in enumerate(names)]
        return pa_csv.read_csv(
            io.BytesIO(data),
            read_options=pa_csv.ReadOptions(column_names=unique, block_size=len(data) + 1, use_threads=False),
            parse_options=pa_csv.ParseOptions(delimiter=self.separator, quote_char=False, ignore_empty_lines=False),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(unique, pa.string()), null_values=[self.null], strings_can_be_null=True
            ),
        )

    def convert_exactly(
        self, records: Sequence[bytes], columns: Sequence[IngestColumn], names: Sequence[str]
    ) -> ConvertedRecords:
        """Convert records one by one, and find which of them are bad."""
        texts, kept, bad = decoded(records)
        rows: list[list[Cell]] = []
        indexes: list[int] = []
        for index, text in zip(kept, texts, strict=True):
            fields = self._split(text)
            if fields is None:
                bad[index] = f"a quote or an escape is at a wrong place: {shown(text)}"
            elif self.header and fields == list(names):
                continue
            elif len(fields) != len(names):
                bad[index] = f"found {len(fields)} fields, expected {len(names)}: {shown(text)}"
            else:
                rows.append(fields)
                indexes.append(index)
        cells = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
        return assemble(columns, cells, indexes, bad)

    def _split(self, text: str) -> list[Cell] | None:
        if (self.quote and self.quote in text) or (self.escape and self.escape in text):
            return self._split_exactly(text)
        fields: list[Cell] = list(text.split(self.separator))
        return [None if one == self.null else one for one in fields] if self.null in fields else fields

    def _split_exactly(self, text: str) -> list[Cell] | None:
        """Split a record by the pattern of a field: the rule that `_split` is a shortcut of."""
        fields: list[Cell] = []
        position = 0
        while found := self._field.match(text, position):
            fields.append(self._value(found))
            position = found.end()
            if position == self._end(found):  # without a separator behind it: the last one
                return fields
        return None

    @staticmethod
    def _end(found: re.Match[str]) -> int:
        """Return where a field ends, its quote included and its separator not."""
        return found.end(2) if found[1] is None else found.end(1) + 1

    def _value(self, found: re.Match[str]) -> Cell:
        quoted, plain = found[1], found[2]
        if quoted is None and plain == self.null:
            return None
        text = plain if quoted is None else quoted
        if self.escape:
            inside = re.escape(self.escape)
            doubled = f"|{re.escape(self.quote)}({re.escape(self.quote)})" if quoted is not None else ""
            return re.sub(rf"{inside}(.){doubled}", lambda one: one[one.lastindex or 0], text, flags=re.DOTALL)
        return text if quoted is None else text.replace(self.quote * 2, self.quote)
