"""Record writers: exact conversions, strict errors, and shortcuts that agree with the rules."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.ingest.delimited import Delimited, WrongWriterSettings
from toolkit.ingest.port import IngestColumn
from toolkit.ingest.record_writer import ConvertedRecords
from toolkit.ingest.strict_json import StrictJson
from toolkit.ingest.strict_regex import StrictRegex
from toolkit.ingest.text_values import UnknownColumnType, parse_text, quick_array
from toolkit.ingest.writer_loading import UnknownRecordWriter, built_in_writer, load_writer

TYPES = ("string", "boolean", "int", "bigint", "float", "double", "decimal(5,2)", "date", "timestamp", "timestamp_ntz")
TWO = (IngestColumn(name="a", type="int"), IngestColumn(name="b", type="string"))


def only(type_: str, *, is_required: bool = False) -> tuple[IngestColumn, ...]:
    return (IngestColumn(name="a", type=type_, is_required=is_required),)


def reasons(converted: ConvertedRecords) -> list[tuple[int, str]]:
    return [(one.index, one.reason) for one in converted.bad]


def same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return bool(left == right)


TEXTS = st.one_of(
    st.text(max_size=5),
    st.text(alphabet="0123456789-+.eE", max_size=12),
    st.integers(-(2**66), 2**66).map(str),
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=2).map(lambda one: format(one, "f")),
    st.dates().map(str),
    st.datetimes().map(lambda one: one.isoformat()),
    st.datetimes(timezones=st.timezones()).map(lambda one: one.isoformat()),
    st.sampled_from(["true", "false", "True", "1", "NaN", "inf", "2024-02-30", "2024-02-29T24:00:00Z", "\n", "1\n"]),
    st.sampled_from(
        ["2024-01-01T00:00:60Z", "2024-01-01 00:00:00.1234567Z", "2024-01-01T00:00:00+23:59", "-0", "1e999"]
    ),
    st.sampled_from(["2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+00:60", "1e-400", "3.4028235e38", "3.5e38"]),
)


@pytest.mark.parametrize("type_", TYPES)
@given(text=TEXTS)
def test_what_is_converted_at_once_is_what_is_converted_one_by_one(type_: str, text: str) -> None:
    column = IngestColumn(name="a", type=type_)
    quick = quick_array(column, [text, None])
    if quick is not None:
        assert quick.to_pylist()[1] is None
        assert same(quick.to_pylist()[0], parse_text(column, text))


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("boolean", "true", True),
        ("int", "-2147483648", -(2**31)),
        ("bigint", "9223372036854775807", 2**63 - 1),
        ("double", "1e3", 1000.0),
        ("float", "0.5", 0.5),
        ("decimal(5,2)", "-999.990", Decimal("-999.99")),
        ("date", "2024-02-29", date(2024, 2, 29)),
        ("timestamp", "2024-01-01T00:00:00.000001+02:00", datetime(2023, 12, 31, 22, 0, 0, 1, UTC)),
        ("timestamp_ntz", "2024-01-01 00:00:00", datetime(2024, 1, 1)),  # noqa: DTZ001 - it has no offset
        ("binary", "AP8=", b"\x00\xff"),
    ],
)
def test_a_text_is_converted_exactly(type_: str, text: str, value: object) -> None:
    for records in ([text.encode()], [text.encode(), b"\xff"]):
        assert Delimited().convert(records, only(type_)).rows.column("a").to_pylist() == [value]


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("boolean", "1"),
        ("int", "2147483648"),
        ("int", "1.0"),
        ("bigint", "9223372036854775808"),
        ("float", "1e39"),
        ("double", "1e309"),
        ("double", "NaN"),
        ("decimal(5,2)", "1000.00"),
        ("decimal(5,2)", "0.001"),
        ("date", "2023-02-29"),
        ("timestamp", "2024-01-01T00:00:00"),
        ("timestamp", "2024-01-01T00:00:00.1234567Z"),
        ("timestamp_ntz", "2024-01-01T00:00:00Z"),
        ("binary", "AP8"),
    ],
)
def test_a_text_that_would_change_is_an_error_that_names_its_column(type_: str, text: str) -> None:
    converted = Delimited().convert([text.encode()], only(type_))
    assert converted.rows.num_rows == 0
    assert reasons(converted) == [(0, f"column a: found {text!r}, expected {type_}")]


def test_fields_are_reordered_and_dropped_and_bad_records_are_told_with_their_index() -> None:
    converted = Delimited(columns=("b", "_", "a")).convert([b"x,-,1", b"y,-,?", b"z,-,3", b"1,2", b"\xff"], TWO)
    assert converted.rows.to_pylist() == [{"a": 1, "b": "x"}, {"a": 3, "b": "z"}]
    assert converted.kept == [0, 2]
    assert [index for index, _ in reasons(converted)] == [1, 3, 4]


@given(rows=st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=2, max_size=2)))
def test_quoted_fields_are_read_as_csv_writes_them(rows: list[list[str]]) -> None:
    records = []
    for row in rows:
        written = io.StringIO()
        csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="").writerow(row)
        records.append(written.getvalue().encode())
    columns = (IngestColumn(name="a", type="string"), IngestColumn(name="b", type="string"))
    converted = Delimited().convert(records, columns)
    assert converted.bad == ()
    assert [list(row.values()) for row in converted.rows.to_pylist()] == rows


@given(text=st.text(alphabet="ab,|'", max_size=12))
def test_a_record_without_quotes_is_split_as_the_rule_says(text: str) -> None:
    writer = Delimited(separator="|", null="a")
    assert writer._split(text) == writer._split_exactly(text)  # noqa: SLF001 - the shortcut and its rule


@given(rows=st.lists(st.lists(TEXTS, min_size=1, max_size=3).map("|".join), max_size=3))
@pytest.mark.parametrize("type_", TYPES)
def test_fields_that_are_converted_at_once_are_converted_alike_one_by_one(type_: str, rows: list[str]) -> None:
    columns, names = (IngestColumn(name="a", type=type_), IngestColumn(name="b", type="string")), ("b", "a", "_")
    writer, records = Delimited(separator="|", null="1"), [row.encode() for row in rows]
    quick, exact = writer.convert_quickly(records, columns, names), writer.convert_exactly(records, columns, names)
    if quick is not None:
        assert exact.bad == ()
        assert quick.to_pylist() == exact.rows.to_pylist()
        assert quick.schema == exact.rows.schema


@pytest.mark.parametrize("text", [b'x"y,1', b'"x"y,1', b'"x,1', b'"x" ,1'])
def test_a_quote_at_a_wrong_place_is_an_error(text: bytes) -> None:
    columns = (IngestColumn(name="b", type="string"), IngestColumn(name="a", type="int"))
    assert "wrong place" in reasons(Delimited().convert([text], columns))[0][1]


def test_escapes_null_texts_and_heads_of_files() -> None:
    writer = Delimited(escape="\\", null="\\N", header=True)
    converted = writer.convert([b"a,b", b"1,\\N", b'2,"\\N"', b"3,x\\,y", b'4,"q\\""'], TWO)
    assert converted.bad == ()
    assert converted.rows.column("b").to_pylist() == [None, "N", "x,y", 'q"']
    assert converted.kept == [1, 2, 3, 4]


def test_a_required_column_takes_no_null() -> None:
    column = only("string", is_required=True)
    assert reasons(Delimited().convert([b""], column)) == [(0, "column a: found null, expected a value")]
    assert reasons(StrictJson().convert([b"{}"], column)) == [(0, "column a: found null, expected a value")]


@pytest.mark.parametrize(
    "record",
    [
        b'{"a": 1, "c": 2}',
        b'{"a": 1, "a": 1}',
        b'{"a": "1"}',
        b'{"a": 1.0}',
        b'{"a": 2147483648}',
        b'{"a": true}',
        b'{"a": [1]}',
        b'{"a": NaN}',
        b'{"b": {}}',
        b'{"b": 1}',
        b'{"b": "\xff"}',
        b'{"b": "\\ud800"}',
        b'{"a": 1} {"a": 2}',
        b'{"a": 01}',
        b"[1]",
        b"null",
        b"",
        b'{"a": 1,}',
        b'{"a":' * 100_000,
    ],
)
def test_json_that_is_no_row_is_an_error_and_its_neighbours_are_kept(record: bytes) -> None:
    converted = StrictJson().convert([b'{"a": 1}', record, b'{"b": "x"}'], TWO)
    assert converted.kept == [0, 2]
    assert [index for index, _ in reasons(converted)] == [1]
    assert "\n" not in reasons(converted)[0][1]


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**65), 2**65), st.floats(), st.text(max_size=4), st.lists(st.integers()),
    TEXTS,
)  # fmt: skip
DOCUMENTS = st.dictionaries(st.sampled_from([f"c{index}" for index in range(len(TYPES))] + ["x"]), VALUES, max_size=4)


@given(
    records=st.lists(st.one_of(DOCUMENTS.map(lambda one: json.dumps(one).encode()), st.binary(max_size=8)), max_size=3)
)
def test_json_that_is_converted_at_once_is_converted_alike_one_by_one(records: list[bytes]) -> None:
    columns = [
        IngestColumn(name=f"c{i}", type=type_) for i, type_ in enumerate(TYPES) if not type_.startswith("decimal")
    ]
    quick = StrictJson().convert_quickly(records, columns)
    exact = StrictJson().convert_exactly(records, columns)
    if quick is not None:
        assert exact.bad == ()
        assert quick.to_pylist() == exact.rows.to_pylist()
        assert quick.schema == exact.rows.schema


def test_json_numbers_keep_every_digit_in_decimals() -> None:
    converted = StrictJson().convert([b'{"a": 0.10}', b'{"a": "0.2"}', b'{"a": 0.123}'], only("decimal(5,2)"))
    assert converted.rows.column("a").to_pylist() == [Decimal("0.10"), Decimal("0.20")]
    assert [index for index, _ in reasons(converted)] == [2]


def test_a_pattern_matches_whole_records_and_its_groups_are_columns() -> None:
    converted = StrictRegex(pattern=r"(?P<a>\d+)(?: (?P<b>\w+))?").convert([b"1 x", b"2", b"3 y!"], TWO)
    assert converted.rows.to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert [index for index, _ in reasons(converted)] == [2]
    numbered = StrictRegex(pattern=r"(\w+)=(\d+)", groups={2: "a", 1: "b"}).convert([b"x=1"], TWO)
    assert numbered.rows.to_pylist() == [{"a": 1, "b": "x"}]


def test_nothing_is_converted_to_nothing_with_the_columns_of_the_table() -> None:
    for writer in (Delimited(), StrictJson(), StrictRegex(pattern="(?P<a>.*)")):
        converted = writer.convert([], TWO)
        assert (converted.rows.num_rows, converted.rows.column_names) == (0, ["a", "b"])


@pytest.mark.extended
def test_a_record_of_100_megabytes_is_converted_by_each_writer() -> None:
    big, column = b"x" * 100_000_000, only("string")
    for writer, record in (
        (Delimited(), b'"' + big + b'"'),
        (Delimited(), big),
        (StrictJson(), b'{"a":"' + big + b'"}'),
        (StrictRegex(pattern="(?P<a>.*)"), big),
    ):
        assert writer.convert([record], column).rows.column("a").nbytes > len(big)


def test_settings_that_do_not_fit_are_refused() -> None:
    for wrong in ({"separator": ""}, {"quote": ","}, {"escape": "ab"}):
        with pytest.raises(WrongWriterSettings):
            built_in_writer("delimited", wrong)
    with pytest.raises(WrongWriterSettings, match="no_such"):
        built_in_writer("json", {"no_such": 1})
    with pytest.raises(WrongWriterSettings, match="'c'"):
        Delimited(columns=("c",)).convert([], TWO)
    with pytest.raises(WrongWriterSettings):
        StrictRegex(pattern="(")
    with pytest.raises(UnknownColumnType):
        Delimited().convert([b"1"], only("array<int>"))


def test_only_the_api_loads_code_by_name() -> None:
    assert isinstance(load_writer("toolkit.ingest.strict_json:StrictJson"), StrictJson)
    assert isinstance(built_in_writer("delimited", {"columns": ["a", "_"]}), Delimited)
    for name in ("toolkit.ingest.strict_json:StrictJson", "os:system"):
        with pytest.raises(UnknownRecordWriter, match="built-in"):
            built_in_writer(name, {})
    for name in ("no.such:Class", "json:NoSuch", "none"):
        with pytest.raises(UnknownRecordWriter):
            load_writer(name)
