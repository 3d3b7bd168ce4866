"""A ledger on PostgreSQL is made by the upgrade alone; one that is there opens for what it is opened for."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from tests.databases.postgresql import running_postgres
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import LedgerUnavailable, UnusableLedger
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import open_ledger
from toolkit.ledger.tables import consumer_cursor
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.upgrading import upgrade


def _write(tx: Transaction) -> None:
    tx.execute(sa.insert(consumer_cursor).values(consumer="lineage", sequence=0, moved_at=tx.now()))


@pytest.mark.parametrize("read_only", [False, True])
def test_an_empty_database_of_postgresql_is_refused_and_stays_empty(
    empty_postgresql: LedgerLocation,
    read_only: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    with pytest.raises(UnusableLedger, match="has no tables of feedctl; run `feedctl ledger upgrade` once"):
        open_ledger(empty_postgresql, read_only=read_only, variables={})


def test_a_ledger_that_is_opened_for_reading_cannot_be_written(database: Ledger, location: LedgerLocation) -> None:
    upgrade(database)
    with closing(open_ledger(location, read_only=True, variables={})) as ledger:
        with pytest.raises(LedgerUnavailable, match=r"read-?only"):
            ledger.write(_write)
        assert ledger.read(lambda tx: tx.execute(sa.select(consumer_cursor)).all()) == []
    with closing(open_ledger(location, read_only=False, variables={})) as ledger:
        ledger.write(_write)


def test_a_server_that_is_down_is_unavailable() -> None:
    with running_postgres() as server:
        url = sa.make_url(server.url("postgres"))
        location = LedgerLocation(url=url, place=url.render_as_string())
        server.stop()
        with pytest.raises(LedgerUnavailable, match="refused"):
            open_ledger(location, read_only=False, variables={})
