"""A ledger on PostgreSQL is made by the upgrade alone; one that is there opens for what it is opened for."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from tests.databases.postgresql import running_postgres
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerUnavailable, UnusableLedger
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import connected, open_ledger
from toolkit.ledger.tables import consumer_cursor
from toolkit.ledger.upgrade import upgrade

pytestmark = pytest.mark.both_databases


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


def test_a_ledger_in_a_schema_that_its_url_names_is_another_one_than_in_the_first(
    empty_postgresql: LedgerLocation,
) -> None:
    url = empty_postgresql.url.update_query_dict({"options": "-csearch_path=staging", "application_name": "etl"})
    staging = LedgerLocation(url=url, place=empty_postgresql.place)
    with closing(connected(empty_postgresql, read_only=False)) as ledger:
        upgrade(ledger)
        ledger.write(lambda tx: tx.connection.exec_driver_sql("CREATE SCHEMA staging").close())
    with pytest.raises(UnusableLedger, match="has no tables"):
        open_ledger(staging, read_only=True, variables={})
    with closing(connected(staging, read_only=False)) as ledger:
        assert _settings(ledger, "search_path", "application_name") == ["staging", "etl"]
        assert _settings(ledger, "lock_timeout", "statement_timeout", "TimeZone") == ["20s", "40s", "UTC"]


def test_what_the_url_leaves_open_is_ours_and_what_it_says_stays(empty_postgresql: LedgerLocation) -> None:
    url = empty_postgresql.url.update_query_dict({"connect_timeout": "3", "keepalives_idle": "7"})
    made = _parameters(LedgerLocation(url=url, place="here"))
    assert (made["keepalives_idle"], made["keepalives_count"], made["tcp_user_timeout"]) == ("7", "3", "20000")
    assert (made["connect_timeout"], made["application_name"]) == ("3", "feedctl")
    assert _parameters(empty_postgresql)["connect_timeout"] == "10"


@pytest.mark.parametrize(
    "query",
    [{"nonsense": "1"}, {"port": "abc"}, {"connect_timeout": "soon"}, {"host": ["a", "b"], "port": ["1", "2", "3"]}],
    ids=str,
)
def test_an_option_that_nobody_knows_is_a_mistake_in_the_url(
    empty_postgresql: LedgerLocation, query: dict[str, str | list[str]]
) -> None:
    location = LedgerLocation(url=empty_postgresql.url.update_query_dict(query), place="postgresql://db/ledger")
    with pytest.raises(
        UnusableLedger, match=r"postgresql://db/ledger cannot be used: .*correct the options of its URL"
    ):
        open_ledger(location, read_only=False, variables={})


def _settings(ledger: Ledger, *names: str) -> list[object]:
    return ledger.read(lambda tx: [tx.connection.exec_driver_sql(f"SHOW {each}").scalar_one() for each in names])


def _parameters(location: LedgerLocation) -> dict[str, str]:
    """Return what the connection was made with."""
    with closing(connected(location, read_only=False)) as ledger:
        return ledger.read(lambda tx: dict(tx.connection.connection.driver_connection.info.get_parameters()))  # type: ignore[union-attr]


def test_a_server_that_is_down_is_unavailable() -> None:
    with running_postgres() as server:
        url = sa.make_url(server.url("postgres"))
        location = LedgerLocation(url=url, place=url.render_as_string())
        server.stop()
        with pytest.raises(LedgerUnavailable, match="refused"):
            open_ledger(location, read_only=False, variables={})
