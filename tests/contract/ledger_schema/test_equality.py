"""An upgrade makes exactly the tables that the code works with."""

from __future__ import annotations

from tests.contract.ledger_schema.description import described
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.schema_version import HEAD, record, seed
from toolkit.ledger.tables import metadata
from toolkit.ledger.upgrade import upgrade


def _make_from_tables(tx: Transaction) -> None:
    metadata.create_all(tx.connection)
    seed(tx.connection)
    record(tx.connection, HEAD)


def _drop(tx: Transaction) -> None:
    """Clear the database, so that the other way of making the tables can have it."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        tx.connection.exec_driver_sql("CREATE SCHEMA public")
        return
    metadata.drop_all(tx.connection)
    tx.connection.exec_driver_sql("DROP TABLE alembic_version")


def _first_rows(tx: Transaction) -> list[str]:
    """The rows of a new ledger, without the times and the identity, which nobody can foresee."""
    found = []
    for table in metadata.sorted_tables:
        for row in tx.connection.execute(table.select()).mappings():
            known = {name: value for name, value in row.items() if not name.endswith("_at") and name != "identity"}
            times = {name: value is not None for name, value in row.items() if name.endswith("_at")}
            found.append(f"{table.name}: {known} {times}")
    return found


def test_an_upgraded_ledger_has_the_schema_and_the_first_rows_of_a_new_one(database: Ledger) -> None:
    database.write(_make_from_tables)
    wanted, wanted_rows = database.read(lambda tx: described(tx.connection)), database.read(_first_rows)
    database.write(_drop)
    assert database.read(lambda tx: described(tx.connection)) == []
    upgrade(database)
    assert database.read(lambda tx: described(tx.connection)) == wanted
    assert database.read(_first_rows) == wanted_rows
