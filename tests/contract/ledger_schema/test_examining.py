"""What `feedctl ledger status` says of a ledger, whatever state it is in."""

from __future__ import annotations

import sqlalchemy as sa

from tests.contract.ledger_schema.filling import fill
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.opening import LedgerExamination, LedgerState, examine
from toolkit.ledger.schema_version import HEAD, version_table
from toolkit.ledger.tables import metadata, run
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import LifeCycle, RunStatus


def _examined(location: LedgerLocation) -> LedgerExamination:
    return examine(location, {})


def _insert_runs(tx: Transaction) -> None:
    for attempt, status in enumerate((RunStatus.FAILED, RunStatus.RUNNING, RunStatus.READY), start=1):
        tx.insert(
            run,
            life_cycle=LifeCycle.EVICTION,
            entity="clicks",
            cluster="primary",
            counterpart="",
            instance_key="2026-03-20T12:00Z",
            attempt=attempt,
            status=status,
            is_forced=False,
            who="ann",
            created_at=tx.now(),
        )


def test_a_ledger_of_this_feedctl_is_ready_and_its_rows_are_counted(database: Ledger, location: LedgerLocation) -> None:
    upgrade(database)
    database.write(_insert_runs)
    found = _examined(location)
    assert (found.place, found.state, found.revision) == (location.place, LedgerState.READY, HEAD)
    assert found.rows.keys() == metadata.tables.keys()
    assert (found.rows["run"], found.rows["batch"], found.rows["queue"]) == (3, 1, 0)
    assert found.size is not None
    assert found.size > 100_000
    assert found.oldest_open is not None
    assert (found.oldest_open.run_id, found.oldest_open.status) == (2, RunStatus.RUNNING)


def test_a_ledger_of_before_the_first_release_is_named_as_such(database: Ledger, location: LedgerLocation) -> None:
    upgrade(database)
    database.write(lambda tx: tx.execute(sa.update(version_table).values(version_num="0003")).close())
    database.write(lambda tx: tx.connection.exec_driver_sql("DROP TABLE manifest").close())
    found = _examined(location)
    assert (found.state, found.revision, found.oldest_open) == (LedgerState.UNRELEASED, "0003", None)
    assert "run" in found.rows
    assert "manifest" not in found.rows


def test_a_ledger_of_a_newer_feedctl_is_unknown(database: Ledger, location: LedgerLocation) -> None:
    upgrade(database)
    database.write(lambda tx: fill(tx.connection))
    database.write(lambda tx: tx.execute(sa.update(version_table).values(version_num="9999")).close())
    found = _examined(location)
    assert (found.state, found.revision, found.oldest_open) == (LedgerState.UNKNOWN, "9999", None)
    assert found.rows["run"] == 1


def test_an_empty_database_of_postgresql_must_be_upgraded(empty_postgresql: LedgerLocation) -> None:
    found = _examined(empty_postgresql)
    assert (found.state, found.revision, found.rows, found.size) == (LedgerState.OUTDATED, None, {}, 0)


def test_a_missing_file_of_sqlite_is_absent_and_stays_so(empty_sqlite: LedgerLocation) -> None:
    assert _examined(empty_sqlite) == LedgerExamination(place=empty_sqlite.place, state=LedgerState.ABSENT)
    assert empty_sqlite.file is not None
    assert not empty_sqlite.file.exists()


def test_a_server_that_does_not_answer_is_unreachable() -> None:
    nowhere = LedgerLocation(
        url=sa.make_url("postgresql://127.0.0.1:1/ledger"), place="postgresql://127.0.0.1:1/ledger"
    )
    found = _examined(nowhere)
    assert found.state is LedgerState.UNREACHABLE
    assert found.why is not None
    assert "refused" in found.why
