"""Tests of the reads of imports: definitions, snapshots, ranges, bounds and splits."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import psycopg
import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import DataServer, PostgresData
from toolkit.entities import DatasourceType
from toolkit.jdbc.dialect import dialect, parse_table_name
from toolkit.jdbc.errors import NoSuchField, NoSuchRelation
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.port import Database, RowQuery, ValueRange

HOSTILE = "a\"b`c; DROP TABLE t; -- ' \\ ü"


def quoted(data: DataServer, name: str) -> str:
    return dialect(data.datasource.type).quote(name)


def numbers(data: DataServer, count: int) -> None:
    rows = ", ".join(f"({each}, 'n{each % 7}', {each % 3}.5)" for each in range(count))
    data.run("CREATE TABLE n (id INT PRIMARY KEY, name VARCHAR(20), part DECIMAL(9,2))")
    if rows:
        data.run(f"INSERT INTO n VALUES {rows}")


def test_the_definition_has_columns_in_order_with_exact_types_and_keys(data: DataServer, database: Database) -> None:
    data.run(
        "CREATE TABLE t (id BIGINT NOT NULL, code VARCHAR(12) NOT NULL, price DECIMAL(12,3), day DATE, "
        "PRIMARY KEY (code, id), UNIQUE (price, day))"
    )
    with database.snapshot() as snapshot:
        found = snapshot.describe(parse_table_name("t"))
    assert [each.name for each in found.columns] == ["id", "code", "price", "day"]
    price = found.column("price")
    assert price is not None
    assert (price.size, price.scale) == (12, 3)
    assert found.primary_key == ("code", "id")
    assert found.unique_keys == (("code", "id"), ("price", "day"))


def test_a_table_that_is_not_there_is_named(database: Database) -> None:
    with pytest.raises(NoSuchRelation, match="no_such"), database.snapshot() as snapshot:
        snapshot.describe(parse_table_name("no_such"))


def test_names_are_never_more_than_identifiers(data: DataServer, database: Database) -> None:
    table, column = quoted(data, HOSTILE), quoted(data, f"{HOSTILE} c")
    data.run(f"CREATE TABLE {table} ({column} INT PRIMARY KEY); INSERT INTO {table} VALUES (1), (2), (3)")
    name = parse_table_name(f'"{HOSTILE.replace(chr(34), chr(34) * 2)}"')
    rows = RowQuery(table=name, columns=(f"{HOSTILE} c",), ranges=(ValueRange(column=f"{HOSTILE} c", low=2),))
    with database.snapshot() as snapshot:
        assert [each.name for each in snapshot.describe(name).columns] == [f"{HOSTILE} c"]
        assert snapshot.count(rows) == (2,)
        assert snapshot.bounds(rows, f"{HOSTILE} c") == (2, 3)
        assert len(snapshot.splits(rows, f"{HOSTILE} c", 2)) == 2
        assert snapshot.estimate(rows) is not None
    with database.transaction() as session:
        assert [row[0] for row in session.query(snapshot.select_text(rows))] == [2, 3]


def test_nobody_alters_a_table_between_its_description_and_the_end_of_the_snapshot(
    data: DataServer, database: Database
) -> None:
    numbers(data, 3)
    is_postgres = data.datasource.type is DatasourceType.POSTGRES
    limit = "SET lock_timeout = '300ms'" if is_postgres else "SET lock_wait_timeout = 1"
    alter = (
        "ALTER TABLE n ALTER COLUMN part TYPE DECIMAL(9,4)" if is_postgres else "ALTER TABLE n MODIFY part DECIMAL(9,4)"
    )
    with database.snapshot() as snapshot:
        snapshot.describe(parse_table_name("n"))
        with pytest.raises(Exception, match=r"(?i)lock|timeout|non-zero"):
            data.run(f"{limit}; {alter};")
    data.run(f"{alter};")


def test_a_snapshot_does_not_see_what_commits_later(data: DataServer, database: Database) -> None:
    numbers(data, 10)
    rows = RowQuery(table=parse_table_name("n"), columns=("id",))
    with database.snapshot() as snapshot:
        data.run("DELETE FROM n WHERE id >= 5")
        assert snapshot.count(rows) == (10,)
    with database.snapshot() as snapshot:
        assert snapshot.count(rows) == (5,)


def test_a_session_is_in_utc(database: Database) -> None:
    with database.transaction(read_only=True) as session:
        ((now,),) = session.query("SELECT CURRENT_TIMESTAMP")
    assert isinstance(now, datetime)
    aware = now if now.tzinfo else now.replace(tzinfo=UTC)
    assert abs((aware - datetime.now(UTC)).total_seconds()) < 60


def test_other_sessions_share_a_snapshot_of_postgresql(postgres_data: PostgresData, jdbc_gateway: JdbcGateway) -> None:
    numbers(postgres_data, 10)
    with database_of(postgres_data, jdbc_gateway).snapshot() as snapshot:
        postgres_data.run("DELETE FROM n")
        with psycopg.connect(postgres_data.url, autocommit=True) as other:
            other.execute("BEGIN")
            other.execute(str(snapshot.init_statement).encode())
            assert other.execute("SELECT count(*) FROM n").fetchone() == (10,)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (ValueRange(column="id", low=2, high=4), [2, 3]),
        (ValueRange(column="id", low=2, high=4, includes_low=False, includes_high=True), [3, 4]),
        (ValueRange(column="id", low=None, high=1, includes_high=True), [0, 1]),
        (ValueRange(column="part", low=Decimal("2.5")), [2, 5, 8]),
        (ValueRange(column="name", low="n6", high="n6", includes_high=True), [6]),
    ],
)
def test_ranges_include_or_exclude_their_ends(
    data: DataServer, database: Database, limits: ValueRange, expected: list[int]
) -> None:
    numbers(data, 10)
    rows = RowQuery(table=parse_table_name("n"), columns=("id",), ranges=(limits,))
    with database.transaction() as session, database.snapshot() as snapshot:
        found = [row[0] for row in session.query(snapshot.select_text(rows))]
    assert sorted(found, key=str) == expected


def test_ranges_of_time_are_moments_or_local_times(data: DataServer, database: Database) -> None:
    is_postgres = data.datasource.type is DatasourceType.POSTGRES
    moment, local = ("timestamptz", "timestamp") if is_postgres else ("TIMESTAMP(6)", "DATETIME(6)")
    data.run(f"CREATE TABLE t (at {moment} NULL, wall {local})")
    at, wall = datetime(2026, 3, 29, 1, 30, 0, 5, tzinfo=UTC), datetime(2026, 3, 29, 2, 30, 0, 5)  # noqa: DTZ001
    with database.transaction() as session:
        session.execute("INSERT INTO t VALUES (?, ?)", at, wall)
    rows = RowQuery(
        table=parse_table_name("t"),
        columns=("at", "wall"),
        ranges=(ValueRange(column="at", low=at), ValueRange(column="wall", low=wall)),
    )
    with database.snapshot() as snapshot:
        assert snapshot.count(rows) == (1,)
        found = snapshot.bounds(rows, "wall")
        assert found == (wall, wall)
        beyond = RowQuery(table=rows.table, columns=("at",), ranges=(ValueRange(column="at", high=at),))
        assert snapshot.count(beyond) == (0,)


@pytest.mark.parametrize("column", ["id", "part", "name"])
def test_each_row_is_in_one_split_also_without_a_value(data: DataServer, database: Database, column: str) -> None:
    numbers(data, 100)
    data.run("UPDATE n SET part = NULL, name = NULL WHERE id < 50")
    rows = RowQuery(table=parse_table_name("n"), columns=("id",))
    with database.snapshot() as snapshot, database.transaction() as session:
        for parts in (1, 2, 3, 8):
            splits = snapshot.splits(rows, column, parts)
            assert len(splits) <= parts
            found = [row[0] for each in splits for row in session.query(f"SELECT id FROM n WHERE {each}")]
            assert sorted(found, key=str) == sorted(range(100), key=str)


@pytest.mark.parametrize("count", [0, 1])
def test_a_table_of_no_or_one_row_can_be_split(data: DataServer, database: Database, count: int) -> None:
    numbers(data, count)
    rows = RowQuery(table=parse_table_name("n"), columns=("id",))
    with database.snapshot() as snapshot:
        splits = snapshot.splits(rows, "id", 4)
        assert (snapshot.bounds(rows, "id") is None) is (count == 0)
    with database.transaction() as session:
        assert sum(len(session.query(f"SELECT id FROM n WHERE {each}")) for each in splits) == count


def test_a_split_by_a_column_that_is_not_there_is_refused(data: DataServer, database: Database) -> None:
    numbers(data, 1)
    rows = RowQuery(table=parse_table_name("n"), columns=("id",))
    with database.snapshot() as snapshot, pytest.raises(NoSuchField, match="nothing"):
        snapshot.splits(rows, "nothing", 2)


def test_splits_of_skewed_values_are_about_equal_in_postgresql(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    postgres_data.run("CREATE TABLE s AS SELECT (i ^ 4)::numeric AS v FROM generate_series(1, 2000) i; ANALYZE s")
    rows = RowQuery(table=parse_table_name("s"), columns=("v",))
    with database_of(postgres_data, jdbc_gateway).snapshot() as snapshot:
        splits = snapshot.splits(rows, "v", 4)
    sizes = [postgres_data.rows(f"SELECT count(*) FROM s WHERE {each}")[0][0] for each in splits]
    assert sum(int(str(each)) for each in sizes) == 2000
    assert all(300 < int(str(each)) < 700 for each in sizes), sizes


def test_values_cross_as_what_they_are(data: DataServer, database: Database) -> None:
    binary = "bytea" if data.datasource.type is DatasourceType.POSTGRES else "VARBINARY(20)"
    data.run(f"CREATE TABLE v (i BIGINT, d DECIMAL(38,10), s VARCHAR(50), b {binary}, day DATE)")
    values = (
        2**63 - 1,
        Decimal("1234567890123456789012345678.0123456789"),
        "é😀'\\N\n",
        b"\x00\xff'",
        date(2026, 2, 28),
    )
    with database.transaction() as session:
        assert session.execute("INSERT INTO v VALUES (?, ?, ?, ?, ?)", *values) == 1
        assert session.execute("INSERT INTO v VALUES (?, ?, ?, ?, ?)", *[None] * 5) == 1
    with database.transaction() as session:
        found = session.query("SELECT * FROM v ORDER BY i IS NULL")
    assert found == [values, (None,) * 5]
