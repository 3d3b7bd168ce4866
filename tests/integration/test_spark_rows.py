"""Rows go from a database to files and back by Spark, with each value as it was."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import PASSWORD, MariaDbData, PostgresData
from tests.integration.round_trips import STAGING, RoundTrip
from toolkit.entities.vocabulary import DataFormat
from toolkit.exchange.rows import Merge, RowsFailed, StageRequest, StoredFormat, WrittenRows
from toolkit.exchange.spark_rows import SparkRows
from toolkit.jdbc.errors import (
    ConstraintViolated,
    DatabaseError,
    DatabaseTimeout,
    DatabaseUnreachable,
    DriverMissing,
    LoginRefused,
    NoSuchField,
    NoSuchRelation,
)
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.port import Secret

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Spark leaves sockets open
]

POSTGRES = """
CREATE TYPE mood AS ENUM ('sad', 'very "happy"');
CREATE TABLE t ("Id; DROP" bigint, "sm""all" smallint, i integer, b boolean, r real, d double precision,
  n numeric(38,10),
  text text, short char(5), u uuid, j jsonb, x xml, e mood, ip inet, bin bytea, day date, wall timestamp,
  at timestamptz,
  span interval, clock time, bits bit(3), many int[]);
INSERT INTO t VALUES
 (1, -32768, 2147483647, true, 1.1, 0.1, 1234567890123456789012345678.0123456789, 'plain', 'a', gen_random_uuid(),
  '{"a": [1]}',
  '<a/>', 'sad', '10.0.0.1/8', '\\x00ff0a', '2026-03-29', '2026-03-29 02:30:00.123456', '2026-10-25 02:30:00+01',
  '1 day',
  '23:59:59.999999', '101', '{1,NULL}'),
 (-9223372036854775808, 32767, -2147483648, false, 'NaN', '-Infinity', -0.0000000001, E'a"b,''c\\n\\r\\n\\t\\\\N',
  '  x', NULL,
  'null', NULL, 'very "happy"', '::1', '', '0001-01-01', '0001-01-02', '0001-01-02 00:00+00', NULL, NULL, NULL, '{}'),
 (9223372036854775807, NULL, 0, NULL, '-0', '5e-324', 0, '', '', NULL, '"\\u00e9"', NULL, NULL, NULL, NULL,
  '9999-12-31',
  '9999-12-30 23:59:59.999999', '9999-12-30 23:59:59.999999+00', NULL, NULL, NULL, NULL),
 (3, 3, 3, true, 'Infinity', 1.7976931348623157e308, 3, E' \\U0001F600 #\\r ', NULL, NULL, NULL, NULL, NULL, NULL,
  '\\x5c4e',
  '1582-10-10', '1582-10-10 12:00', '1582-10-10 12:00+00', NULL, NULL, NULL, NULL),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL)
"""
POSTGRES_COLUMNS = dict.fromkeys(("span", "clock", "bits", "many"), "string")
MARIADB = """
CREATE TABLE t (`Id; DROP` bigint, `sm``all` tinyint, big bigint unsigned, one tinyint(1), y year, f float,
  d double, n decimal(38,10),
  text text, short char(5), j json, e enum('a', 'b'), bin varbinary(10), day date, wall datetime(6),
  at timestamp(6) NULL,
  clock time(6), m mediumint unsigned);
INSERT INTO t VALUES
 (1, -128, 18446744073709551615, 2, 2155, 1.1, 0.1, 1234567890123456789012345678.0123456789,
  'a"b,''c\\n\\r\\n\\t\\\\N', 'a', '{"a": [1]}', 'a',
  x'00ff0a', '2026-03-29', '2026-03-29 02:30:00.123456', '2026-10-25 02:30:00.5', '-838:59:59', 16777215),
 (-9223372036854775808, 127, 0, 0, 1901, 3.4e38, 1.7976931348623157e308, -0.0000000001, '', '', 'null', 'b', '',
  '1000-01-01', '1000-01-01',
  '1970-01-01 00:00:01', '23:59:59.999999', 0),
 (9223372036854775807, NULL, NULL, NULL, NULL, NULL, 4.9e-324, 0, ' \U0001f600 #\\r ', NULL, NULL, NULL, '\\\\N',
  '9999-12-31', '9999-12-31 23:59:59.999999',
  '2038-01-19 03:14:07', NULL, NULL),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""
PARQUET, CSV = StoredFormat(), StoredFormat(format=DataFormat.CSV, null_text="<null>")
OTHERS = (StoredFormat(format=DataFormat.ORC), StoredFormat(format=DataFormat.JSON), CSV)
FORMATS = [PARQUET, *(pytest.param(each, marks=pytest.mark.extended) for each in OTHERS)]


@pytest.fixture(scope="module")
def rows() -> Iterator[SparkRows]:
    """Rows by a Spark in this process, whose clock has hours that are skipped."""
    before = os.environ.get("TZ")
    os.environ |= {"TZ": "America/New_York"}
    made = SparkRows()
    yield made
    made.close()
    os.environ |= {"TZ": before or "UTC"}


@pytest.mark.parametrize("stored", FORMATS, ids=lambda each: str(each.format))
def test_values_of_postgresql_come_back(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path, stored: StoredFormat
) -> None:
    postgres_data.run(POSTGRES)
    trip = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path, stored, POSTGRES_COLUMNS)
    on_interrupt = signal.getsignal(signal.SIGINT)
    written = trip.read("i", 2)
    assert signal.getsignal(signal.SIGINT) is on_interrupt, "Ctrl-C still ends a run in order"
    assert written.rows == 5
    assert sorted(each.name[:5] for each in tmp_path.iterdir()) == ["part-"] * written.files
    assert trip.stage() == 5
    assert not (found := trip.differences()), found


@pytest.mark.parametrize("stored", FORMATS, ids=lambda each: str(each.format))
@pytest.mark.extended
def test_values_of_mariadb_come_back(
    mariadb_data: MariaDbData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path, stored: StoredFormat
) -> None:
    table = MARIADB.replace("sm``all", "small") if stored.format is DataFormat.ORC else MARIADB
    mariadb_data.run(f"SET time_zone = '+00:00'; {table}")
    trip = RoundTrip(mariadb_data, jdbc_gateway, rows, tmp_path, stored, {"clock": "string"})
    assert trip.read().rows == 4
    assert trip.stage() == 4
    assert not (found := trip.differences()), found


def _table(data: PostgresData, rows: str) -> None:
    data.run(f"CREATE TABLE t (id int, v text, at timestamp, n numeric(10,2)); INSERT INTO t VALUES {rows}")  # noqa: S608


def _merge(trip: RoundTrip, previous: tuple[str, ...], *, is_unique: bool = False) -> WrittenRows:
    with database_of(trip.data, trip.gateway).snapshot() as snapshot:
        merge = Merge(previous=previous, key=("id",), order="at", is_unique=is_unique)
        return trip.rows.read(dataclasses.replace(trip.request(snapshot), merge=merge))


@pytest.mark.extended
def test_the_newest_row_of_each_key_is_written(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path
) -> None:
    _table(postgres_data, "(1, 'a', '2026-01-01', 1.5), (2, 'b', '2026-01-02', 2.5), (4, 'newer', '2026-02-01', 1)")
    first = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "first")
    assert first.read().rows == 3
    postgres_data.run(
        "DELETE FROM t WHERE id = 1; UPDATE t SET v = 'equal' WHERE id = 2;"
        "UPDATE t SET v = 'older', at = '2026-01-31' WHERE id = 4; INSERT INTO t VALUES (3, 'new', NULL, 3)"
    )
    merged = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "merged")
    assert _merge(merged, first.files).rows == 4
    assert merged.stage() == 4
    found = postgres_data.rows("SELECT id, v FROM s ORDER BY id")
    assert found == [(1, "a"), (2, "equal"), (3, "new"), (4, "newer")]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("NULL, 'x', NULL", "no value of its merge_key"),
        ("2, 'x', '2026-01-02'", "neither is the newest"),
        ("2, 'x', '2026-01-03'", "several rows have the same merge_key"),
    ],
)
def test_a_key_that_tells_no_row_fails_a_merge(
    postgres_data: PostgresData,
    jdbc_gateway: JdbcGateway,
    rows: SparkRows,
    tmp_path: Path,
    row: str,
    message: str,
) -> None:
    _table(postgres_data, f"(2, 'b', '2026-01-02', 2.5), ({row}, 1)")
    with pytest.raises(RowsFailed, match=message):
        _merge(RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path), (), is_unique="several" in message)


@pytest.mark.extended
def test_values_that_a_column_cannot_keep_are_refused_by_name(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path
) -> None:
    _table(postgres_data, "(1, '<null>', '2026-01-01', 1.55)")
    trip = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "csv", CSV)
    with pytest.raises(RowsFailed, match="a text in the column v is '<null>', which means null"):
        trip.read()
    trip = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "parquet")
    trip.read()
    columns = dict(rows.columns(trip.files, PARQUET))
    assert columns == {"id": "int", "v": "string", "at": "timestamp_ntz", "n": "decimal(10,2)"}
    access = database_of(postgres_data, jdbc_gateway).access
    for name, kind in (("n", "decimal(10,1)"), ("v", "int"), ("n", "int")):
        narrow = StageRequest(
            access=access, table=STAGING, files=trip.files, stored=PARQUET, columns={**columns, name: kind}
        )
        postgres_data.run("DROP TABLE IF EXISTS s; CREATE TABLE s AS TABLE t WITH NO DATA")
        with pytest.raises(RowsFailed, match=f"the column {name} has a value of type .* that is no"):
            rows.stage(narrow)
        assert postgres_data.rows("SELECT * FROM s") == []
    constant = StageRequest(
        access=access,
        table=STAGING,
        files=trip.files,
        stored=PARQUET,
        columns={"id": "int", "n": "decimal(10,2)", "v": "string", "at": "timestamp_ntz"},
        constants={"id": "7"},
    )
    assert rows.stage(constant) == 1
    assert postgres_data.rows("SELECT id, v, n::text FROM s") == [(7, "<null>", "1.55")]


@pytest.mark.extended
def test_a_null_of_the_only_column_is_no_line_of_csv_without_a_text_for_it(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path
) -> None:
    postgres_data.run("DROP TABLE IF EXISTS t, s; CREATE TABLE t (v text); INSERT INTO t VALUES ('a'), ('b')")
    stored = dataclasses.replace(CSV, null_text="")
    assert RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "whole", stored).read().rows == 2
    postgres_data.run("INSERT INTO t VALUES (NULL)")
    with pytest.raises(RowsFailed, match="the column v is the only one"):
        RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "null", stored).read()


@pytest.mark.extended
def test_files_of_another_run_in_the_same_place_are_not_counted_as_its_own(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path
) -> None:
    _table(postgres_data, "(1, 'a', '2026-01-01', 1)")
    trip = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path)
    assert trip.read(split_by="id", parts=2).rows == 1
    with pytest.raises(RowsFailed, match="another run writes to"):
        trip.read()


@pytest.mark.extended
@pytest.mark.parametrize("line", ["S3CRET,a", "1,a,S3CRET"])
def test_a_record_that_cannot_be_read_is_in_no_message(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path, line: str
) -> None:
    postgres_data.run("DROP TABLE IF EXISTS t, s; CREATE TABLE s (a integer, b text)")
    (tmp_path / "x.csv").write_text(f"a,b\n{line}\n")
    access, columns = database_of(postgres_data, jdbc_gateway).access, {"a": "int", "b": "string"}
    files = (f"file://{tmp_path}/x.csv",)
    with pytest.raises(RowsFailed, match=r"a record of .*x\.csv is not of its format") as found:
        rows.stage(StageRequest(access=access, table=STAGING, files=files, stored=CSV, columns=columns))
    assert "S3CRET" not in str(found.value)


@pytest.mark.extended
def test_failures_of_a_database_have_their_errors_and_no_password(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path
) -> None:
    _table(postgres_data, "(1, 'a', '2026-01-01', 1)")
    with database_of(postgres_data, jdbc_gateway).snapshot() as snapshot:
        read = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path).request(snapshot)
    read = dataclasses.replace(read, init_statement=None)
    access, slow = read.access, "SELECT id, v, at, n FROM t, pg_sleep(9)"
    for change, error in (
        ({"selects": ("SELECT * FROM nothing",)}, NoSuchRelation),
        ({"selects": ("SELECT nothing, v, at, n FROM t",)}, NoSuchField),
        ({"selects": ("SELECT id / 0, v, at, n FROM t",)}, DatabaseError),
        ({"init_statement": "SET statement_timeout = 200", "selects": (slow,)}, DatabaseTimeout),
        ({"access": dataclasses.replace(access, password=Secret(PASSWORD + "x"))}, LoginRefused),
        ({"access": dataclasses.replace(access, url="jdbc:postgresql://127.0.0.1:1/x")}, DatabaseUnreachable),
        ({"access": dataclasses.replace(access, driver_class="no.Driver")}, DriverMissing),
        ({"target": "file:///proc/1/nothing"}, RowsFailed),
    ):
        with pytest.raises(error) as found:
            rows.read(dataclasses.replace(read, **change))
        assert PASSWORD not in str(found.value)
    postgres_data.run("CREATE TABLE s (LIKE t); ALTER TABLE s ADD CHECK (id > 1)")
    RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path).read()
    stage = StageRequest(
        access=access, table=STAGING, files=(f"file://{tmp_path}",), stored=PARQUET, columns=read.columns
    )
    with pytest.raises(ConstraintViolated):
        rows.stage(stage)


@pytest.mark.extended
def test_splits_see_one_snapshot_while_another_session_writes(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path
) -> None:
    postgres_data.run("CREATE TABLE t AS SELECT id, 1 AS n FROM generate_series(1, 20000) AS id")
    trip = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path)
    with database_of(postgres_data, jdbc_gateway).snapshot() as snapshot:
        request = trip.request(snapshot, "id", 4)
        postgres_data.run("CREATE TABLE before AS TABLE t; DELETE FROM t WHERE id % 3 = 0; UPDATE t SET n = 2")
        postgres_data.run("INSERT INTO t SELECT id, 3 FROM generate_series(20001, 30000) AS id")
        assert len(request.selects) == 4
        assert rows.read(request).rows == 20000
    postgres_data.run("DROP TABLE t; ALTER TABLE before RENAME TO t")
    assert trip.stage() == 20000
    assert trip.differences() == []
    moment = RoundTrip(postgres_data, jdbc_gateway, rows, tmp_path / "empty")
    postgres_data.run("DELETE FROM t")
    assert (moment.read().rows, moment.stage(), moment.differences()) == (0, 0, [])
