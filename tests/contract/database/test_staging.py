"""Staging tables of exports: checks of their rows, merges, the record of what was exported, and what is dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import pytest

from tests.databases.datasources import DataServer
from toolkit.entities.vocabulary import LoadType
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.errors import ConstraintViolated, DatabaseError
from toolkit.jdbc.port import Database, RelationName, Value
from toolkit.jdbc.staging import ExportKey, ExportRecord, Neighbours, StagedLoad

T = "2026-03-01T00:00Z"
KEY = ExportKey(feed="orders", cluster="primary", instance_key=T, table="orders")


def staged(
    database: Database,
    rows: Sequence[str],
    *,
    type_: LoadType = LoadType.ALLOWINSERT,
    key: tuple[str, ...] = ("id",),
    columns: tuple[str, ...] = ("id", "day", "note"),
    slice_: Mapping[str, Value] | None = None,
    table: str = "orders",
) -> StagedLoad:
    """Return a load whose staging table has the rows."""
    own = dialect(database.access.type)
    name = RelationName((table,))
    with database.transaction() as session:
        found = StagedLoad(
            dialect=own,
            table=session.describe(name),
            staging=RelationName((KEY.staging_name("7"),)),
            columns=columns,
            type=type_,
            key=key,
            slice=slice_ or {},
        )
        found.create(session)
        for row in rows:
            session.execute(f"INSERT INTO {own.table(found.staging)} VALUES {row}")
    return found


def rows(data: DataServer) -> list[tuple[str, ...]]:
    """Return the rows of the table, as texts."""
    return [tuple(map(str, row)) for row in data.rows("SELECT id, day, note, kept FROM orders ORDER BY id, note")]


@pytest.fixture
def orders(data: DataServer) -> DataServer:
    """A table with two days, and a column that no export has."""
    data.run("CREATE TABLE orders (id int PRIMARY KEY, day date, note varchar(20), kept int DEFAULT 1)")
    data.run("INSERT INTO orders VALUES (1, '2026-03-01', 'old', 5), (2, '2026-03-02', 'old', 5)")
    return data


NEW = ["(1, '2026-03-01', 'new')", "(3, '2026-03-01', 'new')"]


@pytest.mark.parametrize(
    ("type_", "written", "expected"),
    [
        (LoadType.UPDATEONLY, 1, [("1", "2026-03-01", "new", "5"), ("2", "2026-03-02", "old", "5")]),
        (
            LoadType.ALLOWINSERT,
            2,
            [("1", "2026-03-01", "new", "5"), ("2", "2026-03-02", "old", "5"), ("3", "2026-03-01", "new", "1")],
        ),
        (
            LoadType.REPLACE,
            2,
            [("1", "2026-03-01", "new", "1"), ("2", "2026-03-02", "old", "5"), ("3", "2026-03-01", "new", "1")],
        ),
    ],
)
def test_staged_rows_are_merged_as_the_load_says(
    orders: DataServer, database: Database, type_: LoadType, written: int, expected: list[tuple[str, ...]]
) -> None:
    slice_ = {"day": date(2026, 3, 1)} if type_ is LoadType.REPLACE else None
    load = staged(database, NEW, type_=type_, slice_=slice_)
    with database.transaction() as session:
        assert load.merge(session) == written
    assert rows(orders) == expected


def test_rows_are_merged_by_columns_that_are_no_key_of_the_table(orders: DataServer, database: Database) -> None:
    orders.run("CREATE TABLE plain (id int, day date, note varchar(20))")
    orders.run("INSERT INTO plain VALUES (1, '2026-03-01', 'old')")
    load = staged(database, NEW, table="plain")
    with database.transaction() as session:
        assert load.merge(session) == 2
    found = orders.rows("SELECT id, note FROM plain ORDER BY id")
    assert [tuple(map(str, row)) for row in found] == [("1", "new"), ("3", "new")]


def test_a_merge_that_breaks_a_constraint_leaves_the_table_as_it_was(orders: DataServer, database: Database) -> None:
    before = rows(orders)
    slice_ = {"day": date(2026, 3, 1)}
    load = staged(database, ["(2, '2026-03-01', 'twice')"], type_=LoadType.REPLACE, slice_=slice_)
    with pytest.raises(ConstraintViolated), database.transaction() as session:
        load.merge(session)
    assert rows(orders) == before


@pytest.mark.usefixtures("orders")
def test_keys_that_several_rows_have_or_that_are_missing_are_found(data: DataServer, database: Database) -> None:
    data.run("CREATE TABLE plain (id int, day date, note varchar(20))")
    load = staged(database, [*NEW, NEW[0], "(NULL, NULL, NULL)"], table="plain", slice_={"day": date(2026, 3, 1)})
    with database.transaction(read_only=True) as session:
        assert load.count(session) == 4
        assert [tuple(map(str, row)) for row in load.duplicates(session)] == [("1", "2")]
        assert load.count_without_key(session) == 1
        assert load.count_outside(session) == 1


@pytest.mark.usefixtures("orders")
def test_an_export_is_recorded_once_for_an_instance(database: Database) -> None:
    beside = Neighbours(dialect=dialect(database.access.type), table=RelationName(("orders",)))
    for _ in range(2):
        with database.transaction() as session:
            beside.create_records(session)
    for number in (1, 2):
        with database.transaction() as session:
            beside.record(session, KEY, locked=True)
            beside.write_record(session, KEY, ExportRecord(digest="d" * 64, run_id=str(number), rows=number))
    with database.transaction(read_only=True) as session:
        assert beside.record(session, KEY) == ExportRecord(digest="d" * 64, run_id="2", rows=2)
        other = ExportKey(feed="orders", cluster="primary", instance_key=T, table="others")
        assert beside.record(session, other) is None
        assert "feedctl_export" in beside.names(session)


def test_only_staging_tables_of_dead_runs_of_the_feed_are_abandoned(orders: DataServer, database: Database) -> None:
    other_time = ExportKey(feed="orders", cluster="primary", instance_key="2026-03-02T00:00Z", table="orders")
    names = {
        "dead": KEY.staging_name("5"),
        "own": KEY.staging_name("7"),
        "other": other_time.staging_name("6"),
        "foreign": ExportKey(feed="clicks", cluster="primary", instance_key=T, table="orders").staging_name("5"),
        "users": "feedctl_stage_of_mine",
    }
    for each in names.values():
        orders.run(f"CREATE TABLE {each} (id int)")
    beside = Neighbours(dialect=dialect(database.access.type), table=RelationName(("orders",)))
    with database.transaction(read_only=True) as session:
        there = beside.names(session)
    assert there >= set(names.values())
    assert KEY.abandoned(there, (), "7") == tuple(sorted((names["dead"], names["other"])))
    assert KEY.abandoned(there, {T, "2026-03-02T00:00Z"}, "7") == (names["dead"],)
    with database.transaction() as session:
        beside.drop(session, names["dead"])
        beside.drop(session, names["dead"])
    with database.transaction() as session, pytest.raises(ValueError, match="not a staging table"):
        beside.drop(session, "orders")
    assert rows(orders)


@pytest.mark.usefixtures("orders")
def test_a_transaction_that_only_reads_cannot_write(database: Database) -> None:
    with pytest.raises(DatabaseError), database.transaction(read_only=True) as session:
        session.execute("INSERT INTO orders (id) VALUES (9)")


def test_names_with_quotes_and_capitals_are_identifiers(data: DataServer, database: Database) -> None:
    own = dialect(database.access.type)
    odd = RelationName(('or"de`rs; DROP TABLE x',))
    with database.transaction() as session:
        session.execute(f"CREATE TABLE {own.table(odd)} ({own.names(['I d'])} int PRIMARY KEY)")
        load = StagedLoad(
            dialect=own,
            table=session.describe(odd),
            staging=RelationName((KEY.staging_name("7"),)),
            columns=("I d",),
            type=LoadType.ALLOWINSERT,
            key=("I d",),
            slice={},
        )
        load.create(session)
        session.execute(f"INSERT INTO {own.table(load.staging)} VALUES (4)")
        load.merge(session)
    assert [str(row[0]) for row in data.rows(f"SELECT * FROM {own.table(odd)}")] == ["4"]
