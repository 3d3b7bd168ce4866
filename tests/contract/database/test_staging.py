"""Staging tables of exports: checks of their rows, merges, the record of what was exported, and what is dropped."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from tests.databases.datasources import DataServer
from toolkit.entities.vocabulary import DatasourceType, LoadType
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.errors import ConstraintViolated, DatabaseError
from toolkit.jdbc.port import Database, RelationName, TableDescription, Value
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


def described(database: Database, table: str) -> TableDescription:
    """Return the definition of a table."""
    with database.transaction(read_only=True) as session:
        return session.describe(RelationName((table,)))


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


def test_values_that_the_table_would_round_or_cut_are_found_and_others_come_through(
    data: DataServer, database: Database
) -> None:
    is_mysql = database.access.type is DatasourceType.MYSQL
    kinds = "at datetime, t time(3), n decimal(60,2)" if is_mysql else "at timestamp(0), t time(3), n numeric(60,2)"
    data.run(f"CREATE TABLE narrow (id int PRIMARY KEY, {kinds}, d date)")
    if not is_mysql:
        data.run("ALTER TABLE narrow ADD w timestamptz(3), ADD v varchar(3), ADD a numeric(10,2)[]")
    more = "" if is_mysql else ", '2026-01-01 10:00:00.001+02', 'abc', '{1.20,NULL}'"
    fits = f"(1, '2026-01-01 10:00:00', '10:00:00.123', '1.230', '2026-01-01'{more})"
    columns = tuple(each.name for each in described(database, "narrow").columns)
    load = staged(database, [fits], table="narrow", columns=columns)
    with database.transaction() as session:
        assert load.cut_columns(session) == ()
        assert load.merge(session) == 1
        more = "" if is_mysql else ", '2026-01-01 10:00:00.0001+02', 'abc ', '{1.239}'"
        cut = f"(2, '2026-01-01 10:00:00.7', '10:00:00.1234', '1.239', NULL{more})"
        session.execute(f"INSERT INTO {load.dialect.table(load.staging)} VALUES {cut}")
        assert load.cut_columns(session) == tuple(each for each in columns if each not in {"id", "d"})
    assert [str(row[0]) for row in data.rows("SELECT n FROM narrow")] == ["1.23"]


def test_a_key_of_zero_stays_zero(data: DataServer, database: Database) -> None:
    kind = "int AUTO_INCREMENT" if database.access.type is DatasourceType.MYSQL else "serial"
    data.run(f"CREATE TABLE numbered (id {kind} PRIMARY KEY, note varchar(9))")
    load = staged(database, ["(0, 'zero')"], table="numbered", columns=("id", "note"))
    with database.transaction() as session:
        load.merge(session)
    assert [tuple(map(str, row)) for row in data.rows("SELECT id, note FROM numbered")] == [("0", "zero")]


def test_a_column_that_the_database_fills_does_not_keep_an_empty_instance_from_its_slice(
    data: DataServer, database: Database
) -> None:
    data.run("CREATE TABLE filled (id int PRIMARY KEY, next_id int GENERATED ALWAYS AS (id + 1) STORED)")
    data.run("INSERT INTO filled (id) VALUES (1), (2)")
    load = staged(
        database, [], table="filled", columns=("id", "next_id"), key=(), type_=LoadType.REPLACE, slice_={"id": 1}
    )
    with database.transaction() as session:
        assert load.merge(session) == 0
    assert [str(row[0]) for row in data.rows("SELECT id FROM filled")] == ["2"]


def test_merges_into_a_table_take_turns_by_whichever_name_so_that_a_key_without_an_index_comes_once(
    data: DataServer, database: Database
) -> None:
    data.run("CREATE TABLE plain (id int, day date, note varchar(20))")
    load = staged(database, NEW, table="plain")
    is_mysql = database.access.type is DatasourceType.MYSQL
    ((schema,),) = data.rows(f"SELECT {'DATABASE()' if is_mysql else 'current_schema'}")
    beside = Neighbours(dialect=load.dialect, table=load.table.name)
    by_schema = Neighbours(dialect=load.dialect, table=RelationName((str(schema), "plain")))
    began, merged = threading.Event(), threading.Event()

    def other() -> None:
        with database.transaction() as session:
            began.set()
            assert by_schema.lock(session)
            load.merge(session)
            merged.set()

    with ThreadPoolExecutor(1) as pool:
        with database.transaction() as session:
            assert beside.lock(session)
            second = pool.submit(other)
            assert began.wait(60)
            assert not merged.wait(1)
            load.merge(session)
        second.result(60)
    assert [str(row[0]) for row in data.rows("SELECT id FROM plain ORDER BY id")] == ["1", "3"]


def test_merges_into_tables_of_one_name_in_two_schemas_do_not_wait_for_each_other(
    data: DataServer, database: Database
) -> None:
    own = dialect(database.access.type)
    one, other = (Neighbours(dialect=own, table=RelationName((schema, "t"))) for schema in ("one", "other"))
    if database.access.type is DatasourceType.POSTGRES:
        data.run("CREATE SCHEMA one; CREATE SCHEMA other; GRANT USAGE ON SCHEMA one, other TO PUBLIC")
        data.run("CREATE TABLE one.t (id int); CREATE TABLE other.t (id int)")
    with database.transaction() as session, database.transaction() as second:
        assert one.lock(session)
        assert other.lock(second)


def test_tables_that_cannot_keep_an_export_whole_are_named(data: DataServer, database: Database) -> None:
    own = dialect(database.access.type)
    data.run("CREATE TABLE feedctl_export (id int PRIMARY KEY)")
    data.run("CREATE VIEW feedctl_exports AS SELECT * FROM feedctl_export")
    data.run("CREATE TABLE plain (id int)")

    def fault(table: str) -> str:
        beside = Neighbours(dialect=own, table=RelationName((table,)))
        with database.transaction(read_only=True) as session:
            return beside.fault(session, beside.names(session))

    assert fault("feedctl_export") == "feedctl_export has the name of a table of feedctl itself"
    assert fault(KEY.staging_name("1")).endswith("has the name of a table of feedctl itself")
    assert fault("plain") == "feedctl_export is no table of feedctl; rename it"
    data.run("DROP VIEW feedctl_exports")
    data.run("DROP TABLE feedctl_export")
    with database.transaction() as session:
        Neighbours(dialect=own, table=RelationName(("plain",))).create_records(session)
    assert fault("plain") == ""
    if own.type is DatasourceType.MYSQL:
        data.run("ALTER TABLE plain ENGINE=MyISAM")
        assert fault("plain") == "the engine of plain has no transactions; convert it: ALTER TABLE ... ENGINE=InnoDB"


def test_a_backslash_in_a_text_is_itself_whatever_the_server_says(database: Database) -> None:
    own = dialect(database.access.type)
    text = r"a\' OR 1=1 --\n"
    with database.transaction() as session:
        if own.type is DatasourceType.POSTGRES:
            session.execute("SET standard_conforming_strings = off")
        assert session.query(f"SELECT {own.literal(text)}") == [(text,)]
