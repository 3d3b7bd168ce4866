"""Opens the ledger, under the rules of DESIGN section 6, or looks at it from outside (`feedctl ledger status`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa

from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.engine import connect
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable, UnusableLedger
from toolkit.ledger.location import LedgerLocation
from toolkit.ledger.schema_version import HEAD, REVISIONS, UNRELEASED, create_tables, is_empty, stored_revision
from toolkit.ledger.sqlite_place import make_place, own_mounts, refuse_old_library, refuse_shared, require_writable
from toolkit.ledger.tables import metadata, run
from toolkit.ledger.vocabulary import RunStatus

UPGRADE = "run `feedctl ledger upgrade`"
"""Advice for a ledger that is older than this feedctl."""
BEGIN_ANEW = (
    "it cannot be upgraded, and nothing was changed: use the feedctl that made it, or begin a new ledger: "
    "move the SQLite file away or name another database, then run `feedctl ledger upgrade`"
)
"""Way out for a ledger that was made before the first release."""
_LIBPQ = 160_000
"""The first version of libpq that refuses a server's wish for another authentication (`require_auth`)."""


def open_ledger(location: LedgerLocation, *, read_only: bool, variables: Mapping[str, str]) -> Ledger:
    """The ledger at a place, ready for work.

    A SQLite file that is not there is made with all its tables; for reading only, nothing is made and the ledger is
    empty. The tables of PostgreSQL, and those of an older feedctl, are made by `feedctl ledger upgrade` alone.

    Args:
        location: where.
        read_only: the database refuses every change.
        variables: of the environment, which says whether this machine is one that a cluster chose.

    Raises:
        UnusableLedger: it must not be used from here, or not with this feedctl.
        LedgerUnavailable: the database cannot be used now.
    """
    refuse_place(location, variables)
    if location.file is None:
        return _checked(connected(location, read_only=read_only))
    return _readable(location, location.file) if read_only else _writable(location, location.file)


def refuse_place(location: LedgerLocation, variables: Mapping[str, str]) -> None:
    """Refuse a SQLite file that is not the same file, or not safe, for every machine that acts on this ledger.

    Args:
        location: of any ledger; PostgreSQL will do from everywhere.
        variables: of the environment.

    Raises:
        UnusableLedger: SQLite, or its library, will not do here.
    """
    if location.file is not None:
        refuse_old_library(location.place)
        refuse_shared(location.file, location.place, variables, own_mounts())


def connected(location: LedgerLocation, *, read_only: bool) -> Ledger:
    """The ledger at a place, whatever is in it; no connection is made yet.

    Raises:
        LedgerUnavailable: this user may not write one of its files, which SQLite needs to read them, too.
        UnusableLedger: the driver of PostgreSQL is not installed, or does not understand the URL.
    """
    if location.file is not None:
        require_writable(location.file, location.place)
    try:
        engine = connect(location.url, read_only=read_only, from_repo=location.from_repo)
    except ImportError as error:
        found = f"is on PostgreSQL, whose driver cannot be loaded ({error})"
        raise UnusableLedger(place=location.place, found=found, todo="pip install feedctl[postgresql]") from error
    except (sa.exc.ArgumentError, ValueError):  # they may say parts of the URL, and so of its password
        found = "cannot be used: a host or port among the options of its URL is none"
        raise UnusableLedger(place=location.place, found=found, todo="correct the options of its URL") from None
    if location.from_repo and location.file is None and _libpq_version(engine) < _LIBPQ:
        found = f"is named by the config repo, for which libpq {_LIBPQ // 10_000} is needed"
        todo = "pip install --upgrade 'psycopg[binary]', or name the ledger in FEEDCTL_LEDGER"
        raise UnusableLedger(place=location.place, found=found, todo=todo)
    return Ledger(engine=engine, place=location.place)


def _libpq_version(engine: sa.Engine) -> int:
    version: int = engine.dialect.loaded_dbapi.pq.version()
    return version


def require_head(revision: str | None, place: str) -> None:
    """Refuse a ledger that is not in the state of the schema that this feedctl works with.

    Raises:
        UnusableLedger: it is empty, older, or newer.
    """
    require_known(revision, place)
    if revision is None:
        raise UnusableLedger(place=place, found="has no tables of feedctl", todo=f"{UPGRADE} once")
    if revision != HEAD:
        found = f"has the tables of an older feedctl (revision {revision}, expected {HEAD})"
        raise UnusableLedger(place=place, found=found, todo=UPGRADE)


def require_known(revision: str | None, place: str, revisions: Sequence[str] = REVISIONS) -> None:
    """Refuse a ledger of a newer feedctl, or of one before the first release; None, which is no ledger, will do.

    Raises:
        UnusableLedger: the revision is not one that this feedctl works with or upgrades.
    """
    if revision in UNRELEASED:
        found = f"has revision {revision}, of a feedctl before its first release (this one works with {HEAD})"
        raise UnusableLedger(place=place, found=found, todo=BEGIN_ANEW)
    if revision is not None and revision not in revisions:
        found = f"has revision {revision}, which this feedctl does not know (it works with {HEAD})"
        todo = "use the feedctl that upgraded it, or a newer one; nothing was changed"
        raise UnusableLedger(place=place, found=found, todo=todo)


def _writable(location: LedgerLocation, file: Path) -> Ledger:
    make_place(file, location.place)
    ledger = connected(location, read_only=False)
    with _closed_on_error(ledger):
        if _revision(ledger) is None:
            ledger.write(lambda tx: create_tables(tx.connection, location.place))
    return _checked(ledger)


def _readable(location: LedgerLocation, file: Path) -> Ledger:
    if not file.exists():
        return _empty(location.place)
    ledger = connected(location, read_only=True)
    with _closed_on_error(ledger):
        is_new = ledger.read(lambda tx: is_empty(tx.connection))
    if not is_new:
        return _checked(ledger)
    ledger.close()
    return _empty(location.place)


def _empty(place: str) -> Ledger:
    """A ledger in memory, read-only; it lives as long as its one connection."""
    ledger = Ledger(engine=connect(sa.URL.create("sqlite")), place=place)
    ledger.write(lambda tx: create_tables(tx.connection, place))
    ledger.read(lambda tx: tx.connection.exec_driver_sql("PRAGMA query_only = ON").close())
    return ledger


def _checked(ledger: Ledger) -> Ledger:
    with _closed_on_error(ledger):
        require_head(_revision(ledger), ledger.place)
    return ledger


@contextmanager
def _closed_on_error(ledger: Ledger) -> Iterator[None]:
    with ExitStack() as stack:
        stack.callback(ledger.close)
        yield
        stack.pop_all()


def _revision(ledger: Ledger) -> str | None:
    return ledger.read(lambda tx: stored_revision(tx.connection))


class LedgerState(StrEnum):
    """Compatibility of this feedctl with a ledger."""

    READY = "ready"
    """It can."""
    ABSENT = "absent"
    """There is no SQLite file yet: the first action that changes something makes it."""
    OUTDATED = "outdated"
    """It has no tables, or those of an older feedctl: `feedctl ledger upgrade` makes the new ones."""
    UNKNOWN = "unknown"
    """A newer feedctl, or another program, made the tables."""
    UNRELEASED = "unreleased"
    """A feedctl from before the first release made the tables; nothing upgrades them."""
    UNREACHABLE = "unreachable"
    """The database does not answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenRun:
    """A run that is not over; the fields are columns of the table `run`."""

    run_id: int
    life_cycle: str
    entity: str
    cluster: str
    instance_key: str
    status: RunStatus
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerExamination:
    """Result of an examination of the ledger.

    Attributes:
        place: the URL without its password.
        state: whether this feedctl can work with it.
        revision: of its schema; None: it has no tables, or it is unknown.
        why: why it does not answer; None: it does.
        rows: how many each table has, by name.
        size: bytes on the disk; None: unknown.
        oldest_open: of the runs that are not over, the one that was written first.
    """

    place: str
    state: LedgerState
    revision: str | None = None
    why: str | None = None
    rows: Mapping[str, int] = field(default_factory=dict)
    size: int | None = None
    oldest_open: OpenRun | None = None


def examine(location: LedgerLocation, variables: Mapping[str, str]) -> LedgerExamination:
    """Look at a ledger, whatever state it is in; nothing is changed or made.

    Args:
        location: where it is.
        variables: of the environment.

    Raises:
        UnusableLedger: it must not be used from here, or its driver is missing.
    """
    refuse_place(location, variables)
    if location.file is not None and not location.file.exists():
        return LedgerExamination(place=location.place, state=LedgerState.ABSENT)
    try:
        with closing(connected(location, read_only=True)) as ledger:
            revision = ledger.read(lambda tx: stored_revision(tx.connection))
            return ledger.read(lambda tx: _examined(tx, location, revision))
    except (LedgerUnavailable, LedgerConflict) as error:
        return LedgerExamination(place=location.place, state=LedgerState.UNREACHABLE, why=error.why)


def _examined(tx: Transaction, location: LedgerLocation, revision: str | None) -> LedgerExamination:
    tables = sorted(set(sa.inspect(tx.connection).get_table_names()) & set(metadata.tables))
    return LedgerExamination(
        place=location.place,
        state=_state(revision),
        revision=revision,
        rows={name: _count(tx, name) for name in tables},
        size=_file_size(location.file) if location.file is not None else _database_size(tx),
        oldest_open=_oldest_open(tx) if revision in REVISIONS else None,
    )


def _state(revision: str | None) -> LedgerState:
    if revision == HEAD:
        return LedgerState.READY
    if revision in UNRELEASED:
        return LedgerState.UNRELEASED
    return LedgerState.OUTDATED if revision is None or revision in REVISIONS else LedgerState.UNKNOWN


def _count(tx: Transaction, table: str) -> int:
    found: int = tx.execute(sa.select(sa.func.count()).select_from(sa.table(table))).scalar_one()
    return found


def _file_size(file: Path) -> int:
    """With what SQLite has not moved into the file yet."""
    parts = (file, file.with_name(f"{file.name}-wal"))
    return sum(each.stat().st_size for each in parts if each.exists())


def _database_size(tx: Transaction) -> int:
    names = sa.text(
        "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname = ANY(:names)"
    )
    return int(tx.execute(names.bindparams(names=list(metadata.tables))).scalar_one())


def _oldest_open(tx: Transaction) -> OpenRun | None:
    columns = (run.c[name] for name in OpenRun.__dataclass_fields__)
    is_open = run.c.status.in_([each for each in RunStatus if not each.is_terminal])
    return tx.row(OpenRun, sa.select(*columns).where(is_open).order_by(run.c.run_id).limit(1))
