"""The rights that docs/concepts/ledger.md names are enough for an action on PostgreSQL, and the upgrade needs more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
import sqlalchemy as sa

from tests.contract.ledger_schema.filling import fill, rows
from toolkit.ledger.database import Transaction
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import connected, open_ledger
from toolkit.ledger.tables import event_counter, metadata
from toolkit.ledger.upgrade import upgrade

pytestmark = pytest.mark.both_databases

_GRANTS = (
    "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    "CREATE ROLE actor LOGIN",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO actor",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO actor",
)


def _grant(tx: Transaction) -> None:
    for each in _GRANTS:
        tx.connection.exec_driver_sql(each)


def _drop(tx: Transaction) -> None:
    for table in ("alembic_version", *metadata.tables):
        tx.connection.exec_driver_sql(f"DROP TABLE {table} CASCADE")


def _as_actor(location: LedgerLocation) -> LedgerLocation:
    return LedgerLocation(url=location.url.set(username="actor"), place=location.place)


@pytest.fixture
def actors_ledger(empty_postgresql: LedgerLocation) -> Iterator[LedgerLocation]:
    """A ledger that belongs to another user than the one that it is used by."""
    with closing(connected(empty_postgresql, read_only=False)) as owner:
        upgrade(owner)
        owner.write(_grant)
        yield _as_actor(empty_postgresql)
        owner.write(lambda tx: tx.connection.exec_driver_sql("DROP OWNED BY actor").close())
        owner.write(lambda tx: tx.connection.exec_driver_sql("DROP ROLE actor").close())


def test_an_action_reads_and_writes_every_table(actors_ledger: LedgerLocation) -> None:
    with closing(open_ledger(actors_ledger, read_only=False, variables={})) as ledger:
        ledger.write(lambda tx: fill(tx.connection))
        ledger.write(lambda tx: tx.execute(tx.locked(sa.select(event_counter))).close())
        assert ledger.read(lambda tx: rows(tx.connection)).keys() == metadata.tables.keys()


def test_an_upgrade_makes_no_tables_without_the_right_to(
    actors_ledger: LedgerLocation, empty_postgresql: LedgerLocation
) -> None:
    with closing(connected(empty_postgresql, read_only=False)) as owner:
        owner.write(_drop)
    with closing(connected(actors_ledger, read_only=False)) as ledger, pytest.raises(LedgerUnavailable, match="denied"):
        upgrade(ledger)
