"""Brings a ledger to the state of the schema that this feedctl works with: `feedctl ledger upgrade`.

A database without a ledger gets the newest tables at once; a ledger of an older release gets one revision after the
other, each in a transaction of its own. Alembic makes the changes; which one is next is decided here, under the lock
that keeps a second upgrade out, and nothing is looked for on the disk, so that it works from a zip as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from toolkit.ledger import migrations
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.opening import require_known
from toolkit.ledger.schema_version import HEAD, REVISIONS, create_head, record, stored_revision, version_table

_LOCK = 0x6665656463746C  # "feedctl"; advisory locks are numbers
_DUPLICATE_TABLE = "42P07"


@dataclass(frozen=True, kw_only=True, slots=True)
class Upgraded:
    """Effect of an upgrade.

    Attributes:
        before: the revision that it found; None: there was no ledger.
        after: the revision that it left.
    """

    before: str | None
    after: str


def upgrade(ledger: Ledger, *, revisions: Sequence[str] = REVISIONS) -> Upgraded:
    """Make each change that the ledger does not have yet; a ledger that has them all stays as it is.

    Args:
        ledger: as `connected` opens it, for writing.
        revisions: all that there are, oldest first; only tests know of others.

    Raises:
        UnusableLedger: it is newer than this feedctl or older than the first release, or the database belongs to
            another program.
        LedgerUnavailable: the database cannot be used now; what is done so far stays, whole revisions of it.
        LedgerConflict: another upgrade takes too long.
    """
    before = ledger.write(_locked_revision)
    require_known(before, ledger.place, revisions)
    found = before
    while found != revisions[-1]:
        found = ledger.write(partial(_step, place=ledger.place, revisions=revisions))
    return Upgraded(before=before, after=revisions[-1])


def _step(tx: Transaction, place: str, revisions: Sequence[str]) -> str:
    """Make the one change that is next; another upgrade may have made some meanwhile."""
    found = _locked_revision(tx)
    require_known(found, place, revisions)
    if found is None:
        with _own_tables(place):
            create_head(tx.connection)
        return HEAD
    for revision in revisions[revisions.index(found) + 1 :][:1]:
        change = import_module(f"{migrations.__name__}.revision_{revision}").upgrade
        with _own_tables(place), Operations.context(MigrationContext.configure(tx.connection)):
            change()
        record(tx.connection, revision)
        return revision
    return found


def _locked_revision(tx: Transaction) -> str | None:
    """The revision, which no other process changes until the transaction ends; SQLite has one writer anyway."""
    if tx.connection.dialect.name == "postgresql":
        tx.connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # a large table takes its time
        tx.connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
    return stored_revision(tx.connection) if sa.inspect(tx.connection).has_table(version_table.name) else None


@contextmanager
def _own_tables(place: str) -> Iterator[None]:
    """Refuse a database in which a table of ours is another program's.

    Raises:
        UnusableLedger: a table that is to be created is there.
    """
    try:
        yield
    except sa.exc.DBAPIError as error:
        if not _is_duplicate(error):
            raise
        found = f"has a table of another program ({str(error.orig).splitlines()[0]})"
        raise UnusableLedger(place=place, found=found, todo="give feedctl a database of its own") from error


def _is_duplicate(error: sa.exc.DBAPIError) -> bool:
    is_sqlite_duplicate = str(error.orig).startswith("table ") and str(error.orig).endswith(" already exists")
    return is_sqlite_duplicate or getattr(error.orig, "sqlstate", None) == _DUPLICATE_TABLE
