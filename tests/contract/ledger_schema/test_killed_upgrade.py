"""An upgrade that is killed between any two statements leaves a ledger of a whole revision."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.ledger_schema.filling import fill, lost, rows
from tests.contract.ledger_schema.later_revision import LATER, WITH_LATER
from toolkit.ledger.database import Ledger
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.schema_version import HEAD, stored_revision
from toolkit.ledger.upgrade import Upgraded, upgrade

pytestmark = pytest.mark.both_databases

_ROOT = Path(__file__).resolve().parents[3]
_SCRIPT = "tests.contract.ledger_schema.killed_upgrade"


def _upgrade_killed_after(location: LedgerLocation, statement: str) -> int:
    url = location.url.render_as_string(hide_password=False)
    command = [sys.executable, "-m", _SCRIPT, url, statement]
    return subprocess.run(command, cwd=_ROOT, check=False, timeout=60).returncode


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE lease",
        pytest.param("CREATE TABLE process", marks=pytest.mark.extended),
        pytest.param("INSERT INTO alembic_version", marks=pytest.mark.extended),
    ],
)
def test_a_killed_first_upgrade_leaves_an_empty_database(
    location: LedgerLocation, database: Ledger, statement: str
) -> None:
    assert _upgrade_killed_after(location, statement) == -signal.SIGKILL
    assert database.read(lambda tx: stored_revision(tx.connection)) is None
    assert database.read(lambda tx: rows(tx.connection)) == {}
    assert upgrade(database) == Upgraded(before=None, after=HEAD)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE later",
        pytest.param("ALTER TABLE run", marks=pytest.mark.extended),
        pytest.param("INSERT INTO alembic_version", marks=pytest.mark.extended),
    ],
)
def test_a_killed_upgrade_leaves_the_revision_and_the_rows_that_were_there(
    location: LedgerLocation, database: Ledger, statement: str
) -> None:
    upgrade(database)
    database.write(lambda tx: fill(tx.connection))
    before = database.read(lambda tx: rows(tx.connection))
    database.engine.dispose()
    assert _upgrade_killed_after(location, statement) == -signal.SIGKILL
    assert database.read(lambda tx: stored_revision(tx.connection)) == HEAD
    assert database.read(lambda tx: rows(tx.connection)) == before
    assert upgrade(database, revisions=WITH_LATER) == Upgraded(before=HEAD, after=LATER)
    assert lost(before, database.read(lambda tx: rows(tx.connection))) == []
