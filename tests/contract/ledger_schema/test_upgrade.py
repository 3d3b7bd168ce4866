"""A ledger of any revision becomes one of the newest, with its rows; one of another feedctl stays as it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy as sa

from tests.contract.ledger_schema.description import described
from tests.contract.ledger_schema.filling import Rows, fill, lost, rows
from tests.contract.ledger_schema.later_revision import LATER, WITH_LATER
from toolkit.ledger.database import Ledger
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import connected, open_ledger
from toolkit.ledger.schema_version import HEAD, stored_revision, version_table
from toolkit.ledger.upgrade import Upgraded, upgrade

pytestmark = pytest.mark.both_databases


def _rows(ledger: Ledger) -> Rows:
    return ledger.read(lambda tx: rows(tx.connection))


def _revision(ledger: Ledger) -> str | None:
    return ledger.read(lambda tx: stored_revision(tx.connection))


def _become(ledger: Ledger, revision: str) -> None:
    """Let the ledger say that it has a revision."""
    ledger.write(lambda tx: tx.execute(sa.update(version_table).values(version_num=revision)).close())


def test_an_upgrade_keeps_all_rows(database: Ledger) -> None:
    upgrade(database)
    database.write(lambda tx: fill(tx.connection))
    before = _rows(database)
    assert min(map(len, before.values())) > 0
    assert upgrade(database, revisions=WITH_LATER) == Upgraded(before=HEAD, after=LATER)
    after = _rows(database)
    assert lost(before, after) == []
    assert after["later"] == []
    assert "later" in after["run"][0]


@pytest.mark.parametrize("revision", ["0001", "0009"])
def test_a_ledger_of_before_the_first_release_is_refused_and_stays_as_it_is(
    database: Ledger, location: LedgerLocation, revision: str
) -> None:
    upgrade(database)
    _become(database, revision)
    database.write(lambda tx: tx.connection.exec_driver_sql("DROP TABLE manifest").close())  # which 0001 has not
    schema, before = database.read(lambda tx: described(tx.connection)), _rows(database)
    found = rf"revision {revision}, of a feedctl before its first release.*{HEAD}.*nothing was changed.*a new ledger"
    for read_only in (False, True):
        with pytest.raises(UnusableLedger, match=found):
            open_ledger(location, read_only=read_only, variables={})
    with pytest.raises(UnusableLedger, match=found):
        upgrade(database)
    assert _revision(database) == revision
    assert (database.read(lambda tx: described(tx.connection)), _rows(database)) == (schema, before)


def test_an_empty_database_is_upgraded_once(database: Ledger) -> None:
    assert upgrade(database) == Upgraded(before=None, after=HEAD)
    schema, content = database.read(lambda tx: described(tx.connection)), _rows(database)
    assert upgrade(database) == Upgraded(before=HEAD, after=HEAD)
    assert (database.read(lambda tx: described(tx.connection)), _rows(database)) == (schema, content)


def test_a_batch_after_the_first_has_the_number_1(database: Ledger) -> None:
    upgrade(database)
    insert = sa.text("INSERT INTO batch (kind, state, created_at) VALUES ('file', 'published', '2026-01-01')")
    database.write(lambda tx: tx.execute(insert).close())
    assert [row["batch_id"] for row in _rows(database)["batch"]] == [0, 1]


@pytest.mark.extended
@pytest.mark.parametrize("revision", ["0000", "9999", "ab12cd34ef56"])
def test_a_ledger_that_this_feedctl_does_not_know_is_refused_and_stays_as_it_is(
    database: Ledger, location: LedgerLocation, revision: str
) -> None:
    upgrade(database)
    _become(database, revision)
    before = _rows(database)
    for read_only in (False, True):
        with pytest.raises(UnusableLedger, match=f"revision {revision}, which this feedctl does not know"):
            open_ledger(location, read_only=read_only, variables={})
    with pytest.raises(UnusableLedger, match="a newer one; nothing was changed"):
        upgrade(database)
    assert (_revision(database), _rows(database)) == (revision, before)


def test_a_database_with_a_table_of_another_program_stays_as_it_is(database: Ledger) -> None:
    database.write(lambda tx: tx.connection.exec_driver_sql("CREATE TABLE item (name TEXT)").close())
    with pytest.raises(UnusableLedger, match=r"table of another program.*a database of its own"):
        upgrade(database)
    assert list(_rows(database)) == ["item"]


@pytest.mark.extended
def test_upgrades_at_the_same_time_make_each_change_once(location: LedgerLocation) -> None:
    ledgers = [connected(location, read_only=False) for _ in range(4)]
    with ThreadPoolExecutor(len(ledgers)) as threads:
        done = list(threads.map(partial(upgrade, revisions=WITH_LATER), ledgers))
    assert {each.after for each in done} == {LATER}
    assert _revision(ledgers[0]) == LATER
    assert len(_rows(ledgers[0])["batch"]) == 1
    for each in ledgers:
        each.close()
