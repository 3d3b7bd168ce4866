"""Tests of the writes of exports: staging tables and merges from them."""

from __future__ import annotations

import pytest

from tests.databases.datasources import DataServer
from toolkit.jdbc.dialect import Dialect, dialect, parse_table_name
from toolkit.jdbc.errors import ConstraintViolated
from toolkit.jdbc.port import Database

TABLE, STAGING = parse_table_name("t"), parse_table_name("feedctl_stage_1")
COLUMNS = ("id", "name")


@pytest.fixture
def own(data: DataServer, database: Database) -> Dialect:
    found = dialect(data.datasource.type)
    data.run("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(9) UNIQUE, other INT DEFAULT 7)")
    data.run("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    with database.transaction() as session:
        session.execute(found.staging_statement(STAGING, TABLE, COLUMNS))
        session.execute(f"INSERT INTO {found.table(STAGING)} VALUES (2, 'B'), (3, NULL)")
    return found


def rows(database: Database) -> list[tuple[object, ...]]:
    with database.transaction() as session:
        return list(session.query("SELECT id, name, other FROM t ORDER BY id"))


def test_an_update_changes_rows_of_the_same_key_alone(own: Dialect, database: Database) -> None:
    with database.transaction() as session:
        assert session.execute(own.update_statement(STAGING, TABLE, COLUMNS, ("id",))) == 1
    assert rows(database) == [(1, "a", 1), (2, "B", 2)]


def test_an_insert_adds_rows_of_other_keys(own: Dialect, database: Database) -> None:
    with database.transaction() as session:
        assert session.execute(own.insert_statement(STAGING, TABLE, COLUMNS, ("id",))) == 1
    assert rows(database) == [(1, "a", 1), (2, "b", 2), (3, None, 7)]


def test_an_upsert_does_both(own: Dialect, database: Database) -> None:
    statement = own.upsert_statement(STAGING, TABLE, COLUMNS, ("id",))
    if statement is None:
        pytest.skip("one statement would overwrite rows by other unique keys")
    with database.transaction() as session:
        assert session.execute(statement) == 2
    assert rows(database) == [(1, "a", 1), (2, "B", 2), (3, None, 7)]


def test_a_row_that_breaks_another_key_fails_instead_of_replacing_that_row(own: Dialect, database: Database) -> None:
    with database.transaction() as session:
        session.execute(f"INSERT INTO {own.table(STAGING)} VALUES (4, 'a')")
    with pytest.raises(ConstraintViolated), database.transaction() as session:
        session.execute(own.insert_statement(STAGING, TABLE, COLUMNS, ("id",)))
    assert rows(database) == [(1, "a", 1), (2, "b", 2)]
