"""Brings a ledger to the state of the schema that this feedctl works with: `feedctl ledger upgrade`.

One revision, one transaction. Alembic makes the changes; which one is next is decided here, under the lock that keeps a
second upgrade out, and nothing is looked for on the disk, so that it works from a zip as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.opening import require_known
from toolkit.ledger.schema_version import HEAD, REVISIONS, record, stored_revision, version_table

_MODULES = {
    "0001": "0001_runs",
    "0002": "0002_run_metadata",
    "0003": "0003_owner_mark",
    "0004": "0004_file_holds",
    "0005": "0005_manifests",
    "0006": "0006_process_runs",
    "0007": "0007_late_checks",
    "0008": "0008_verdicts",
    "0009": "0009_ledger_identity",
}
_LOCK = 0x6665656463746C  # "feedctl"; advisory locks are numbers
_DUPLICATE_TABLE = "42P07"


@dataclass(frozen=True, kw_only=True, slots=True)
class Upgraded:
    """What an upgrade did.

    Attributes:
        before: the revision that it found; None: there was no ledger.
        after: the revision that it left.
    """

    before: str | None
    after: str


def upgrade(ledger: Ledger, *, to: str = HEAD) -> Upgraded:
    """Make each change that the ledger does not have yet; a ledger that has them all stays as it is.

    Args:
        ledger: as `connected` opens it, for writing.
        to: the last revision to make; only tests want another than the newest.

    Raises:
        UnusableLedger: it is newer than this feedctl, or the database belongs to another program.
        LedgerUnavailable: the database cannot be used now; what is done so far stays, whole revisions of it.
        LedgerConflict: another upgrade takes too long.
    """
    before = ledger.write(_locked_revision)
    require_known(before, ledger.place)
    found = before
    while found is None or REVISIONS.index(found) < REVISIONS.index(to):
        found = ledger.write(partial(_step, place=ledger.place))
    return Upgraded(before=before, after=found)


def _step(tx: Transaction, place: str) -> str:
    """Make the one change that is next; another upgrade may have made some meanwhile."""
    found = _locked_revision(tx)
    require_known(found, place)
    following = REVISIONS[:1] if found is None else REVISIONS[REVISIONS.index(found) + 1 :][:1]
    for revision in following:
        _apply(tx.connection, revision, place)
        record(tx.connection, revision)
        return revision
    return HEAD


def _locked_revision(tx: Transaction) -> str | None:
    """The revision, which nobody else changes until the transaction ends; SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # a large table takes its time
        tx.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    return stored_revision(tx.connection) if sa.inspect(tx.connection).has_table(version_table.name) else None


def _apply(connection: sa.Connection, revision: str, place: str) -> None:
    with Operations.context(MigrationContext.configure(connection)):
        try:
            _change(revision)()
        except sa.exc.DBAPIError as error:
            if not _is_duplicate(error):
                raise
            found = f"has a table of another program ({str(error.orig).splitlines()[0]})"
            raise UnusableLedger(place=place, found=found, todo="give feedctl a database of its own") from error


def module_of(revision: str) -> str:
    """The full name of the module that makes a revision."""
    return f"toolkit.ledger.migrations.versions.{_MODULES[revision]}"


def _change(revision: str) -> Callable[[], None]:
    change: Callable[[], None] = import_module(module_of(revision)).upgrade
    return change


def _is_duplicate(error: sa.exc.DBAPIError) -> bool:
    is_sqlite_duplicate = str(error.orig).startswith("table ") and str(error.orig).endswith(" already exists")
    return is_sqlite_duplicate or getattr(error.orig, "sqlstate", None) == _DUPLICATE_TABLE
