"""The ledger as a whole: transactions on it, which are retried when they collide, and errors in its own words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_random_exponential

from toolkit.ledger.columns import UnknownWord
from toolkit.ledger.engine import READING, UNHURRIED, cut_connection
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable, NotUtf8, UnusableLedger
from toolkit.ledger.location import SQLITE
from toolkit.ledger.sqlite_place import hindrance
from toolkit.ledger.statements import NOW, S, Timed, if_new, insert_of, locking
from toolkit.retries import retried

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


T = TypeVar("T")

SIZE = 400
"""Below the 500 selects that SQLite joins with UNION ALL, and the 999 values that an old one takes."""


Values = Mapping[str, object]
"""Parameters of a statement, by name."""

DatabaseClock = Callable[[sa.Connection], datetime]
"""Reads the clock of the database, which is the one that leases expire by."""


def database_now(connection: sa.Connection) -> datetime:
    """The present instant by the database's own clock, not that of the transaction's beginning."""
    if connection.dialect.name == "sqlite":
        text = connection.exec_driver_sql("SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')").scalar_one()
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    found: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return found.astimezone(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Transaction:
    """Transaction in which the repositories of the ledger work.

    Attributes:
        connection: within a transaction.
        clock: of the database; only tests give another.
    """

    connection: sa.Connection
    clock: DatabaseClock = database_now

    def now(self) -> datetime:
        """The present instant by the database's clock; read anew with each call."""
        return self.clock(self.connection)

    def execute(
        self, statement: sa.Executable, rows: list[dict[str, object]] | Values | None = None
    ) -> sa.CursorResult[Any]:
        """Execute a statement, with the values of its parameters, or for each of the rows."""
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def execute_timed(self, statement: Timed[S], values: list[dict[str, object]] | Values) -> sa.CursorResult[Any]:
        """Execute a statement that writes the present instant down, with values of its parameters or for each row."""
        if self.clock is database_now:
            return self.connection.execute(statement.by_database, values)
        at = {NOW: self.now()}
        rows = [{**row, **at} for row in values] if isinstance(values, list) else {**values, **at}
        return self.connection.execute(statement.by_hand, rows)

    def rows(self, kind: type[T], statement: sa.Select[Any], values: Values | None = None) -> Iterator[T]:
        """The rows of a query as values of a dataclass whose fields are named like the columns."""
        return (kind(**row) for row in self.execute(statement, values).mappings())

    def row(self, kind: type[T], statement: sa.Select[Any], values: Values | None = None) -> T | None:
        """The first row of a query, typed; None when there is none."""
        found = self.execute(statement, values).mappings().first()
        return None if found is None else kind(**found)

    def insert(self, table: sa.Table, **values: object) -> int:
        """Insert one row and return its primary key."""
        key = self.connection.execute(sa.insert(table).values(**values)).inserted_primary_key
        if key is None:
            message = f"{table.name} gave no primary key"
            raise RuntimeError(message)
        return int(key[0])

    def insert_if_new(self, table: sa.Table, values: Values) -> sa.RowMapping | None:
        """Insert a row and return it; None: another one is in its way."""
        return self.connection.execute(if_new(table), values).mappings().first()

    def upsert(self, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
        """Return an insert statement of the database's dialect, which can be turned into an upsert."""
        return insert_of(self.connection.dialect.name, table)

    def locked(self, statement: sa.Select[Any]) -> sa.Select[Any]:
        """Return the select with a row lock, where the database has such locks."""
        return locking(statement)


def in_chunks(values: Collection[T], size: int = SIZE) -> Iterator[list[T]]:
    """The values in lists of at most so many, since a statement takes only so many; none when there are none."""
    left = iter(values)
    while chunk := list(islice(left, size)):
        yield chunk


_SQLITE_CONFLICTS = frozenset({"SQLITE_BUSY", "SQLITE_LOCKED"})
_SQLITE_UNUSABLE = frozenset(
    {
        "SQLITE_CANTOPEN",
        "SQLITE_CORRUPT",
        "SQLITE_FULL",
        "SQLITE_IOERR",
        "SQLITE_NOTADB",
        "SQLITE_PERM",
        "SQLITE_AUTH",
        "SQLITE_READONLY",
        "SQLITE_PROTOCOL",
    }
)
_POSTGRESQL_CONFLICTS = frozenset({"40001", "40P01", "55P03"})
"""Serialization failure, deadlock, lock not available (PostgreSQL, error codes)."""
_POSTGRESQL_UNUSABLE = ("08", "25006", "28", "3D000", "42501", "53", "54", "57", "58", "XX")
"""Beginnings of codes: connection, read-only, password, no such database, no right, resources, shutdown, system."""


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Let errors of the database out as ours; what is neither a conflict nor an outage is a bug and stays as it is.

    Raises:
        LedgerUnavailable: the database cannot be used now.
        LedgerConflict: the transaction collided with another one; all of it was rolled back.
        UnusableLedger: the driver does not understand the options of the URL, or a row has a word that this feedctl
            does not know.
        NotUtf8: a text cannot be kept.
    """
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise LedgerUnavailable(place=place, why=_first_line(error)) from error
    except sa.exc.DBAPIError as error:
        if is_conflict(error):
            raise LedgerConflict(place=place, why=_first_line(error.orig)) from error
        if is_outage(error):
            raise _outage(place, error) from error
        if _is_bad_option(error):
            found = f"cannot be used: {_first_line(error.orig)}"
            raise UnusableLedger(place=place, found=found, todo="correct the options of its URL") from error
        raise
    except UnknownWord as error:
        todo = "a newer feedctl or a person wrote it; use that version, or correct the row"
        raise UnusableLedger(place=place, found=f"has {error}", todo=todo) from error
    except UnicodeEncodeError as error:  # of both drivers
        raise NotUtf8(text=error.object) from error


def is_conflict(error: sa.exc.DBAPIError) -> bool:
    """Return whether the same transaction may succeed when it is repeated at once."""
    sqlite_name, state = _codes(error)
    return sqlite_name in _SQLITE_CONFLICTS or state in _POSTGRESQL_CONFLICTS


def is_outage(error: sa.exc.DBAPIError) -> bool:
    """Return whether the state of the database caused the error, and not the statement."""
    sqlite_name, state = _codes(error)
    never_connected = isinstance(error, sa.exc.OperationalError) and not sqlite_name and not state
    unusable = sqlite_name in _SQLITE_UNUSABLE or state.startswith(_POSTGRESQL_UNUSABLE)
    return error.connection_invalidated or never_connected or unusable


def _outage(place: str, error: sa.exc.DBAPIError) -> LedgerUnavailable:
    why, name = _first_line(error.orig), _sqlite_name(error)
    found = _rights(place, name)
    if found is None:
        return LedgerUnavailable(place=place, why=why)
    return LedgerUnavailable(place=place, why=f"{why} ({found[0]})", todo=found[1])


def _rights(place: str, sqlite_name: str) -> tuple[str, str] | None:
    """Return which file of SQLite this user may not write, and what to do; SQLite does not say so."""
    is_of_rights = sqlite_name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))
    return hindrance(Path(place.removeprefix(SQLITE))) if is_of_rights and place.startswith(SQLITE) else None


def _codes(error: sa.exc.DBAPIError) -> tuple[str, str]:
    """SQLite's primary result code and PostgreSQL's SQLSTATE; empty where the driver gave none."""
    return "_".join(_sqlite_name(error).split("_")[:2]), getattr(error.orig, "sqlstate", None) or ""


def _sqlite_name(error: sa.exc.DBAPIError) -> str:
    """SQLite's extended result code."""
    return getattr(error.orig, "sqlite_errorname", None) or ""


def _is_bad_option(error: sa.exc.DBAPIError) -> bool:
    """Return whether the driver refused to connect because of an option; of a statement, it would be a bug of ours."""
    return isinstance(error, sa.exc.ProgrammingError) and error.statement is None and not any(_codes(error))


def _first_line(error: BaseException | None) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


TRIES = 8
"""So often a transaction is tried that collides with others."""
RETRY_SECONDS = 20.0
"""After this no further try begins: with the last one, which waits for locks, a write ends before a lease expires."""
LOCK_SECONDS = 45.0
"""So long a thread waits for another one's transaction: longer than a statement may take, shorter than a lease."""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """A database of runs, leases, batches and events; one connection at a time, which threads take turns with.

    Attributes:
        engine: of SQLAlchemy, made by `toolkit.ledger.opening`.
        place: the URL without its password, for messages.
        clock: of the database; only tests give another.
        retry_seconds: see `RETRY_SECONDS`; only tests give another.
        lock_seconds: see `LOCK_SECONDS`; only tests give another.
    """

    engine: sa.Engine = field(repr=False)
    place: str
    clock: DatabaseClock = field(default=database_now, repr=False)
    retry_seconds: float = field(default=RETRY_SECONDS, repr=False)
    lock_seconds: float = field(default=LOCK_SECONDS, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def write(self, work: Callable[[Transaction], T], *, is_lasting: bool = True) -> T:
        """Do some work in one transaction, which is there as a whole or not at all.

        Args:
            work: called again when the transaction collides with another one, so it must have no effect elsewhere.
            is_lasting: it is on the disk when this returns. Otherwise it is so after the next lasting one at the
                latest, and lost when the database's machine loses power before; the end of a process loses nothing.

        Raises:
            LedgerUnavailable: the database cannot be used now.
            LedgerConflict: it collided in every try, or for too long.
        """
        return self._retrying(work, {} if is_lasting else {UNHURRIED: True})

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Read in one transaction; see `write`."""
        return self._retrying(work, {READING: True})

    @contextmanager
    def transaction(self, *, is_lasting: bool = True) -> Iterator[Transaction]:
        """Open one transaction for the body, which ends with it; an error leaves nothing of it.

        Raises:
            LedgerUnavailable: the database cannot be used now.
            LedgerConflict: it collided with another one; nothing tries it again, since the body cannot be repeated.
        """
        with self._transaction({} if is_lasting else {UNHURRIED: True}) as transaction:
            yield transaction

    def close(self) -> None:
        """Give the connection back."""
        self.engine.dispose()

    def _retrying(self, work: Callable[[Transaction], T], options: Mapping[str, bool]) -> T:
        began = time.monotonic()

        def once() -> T:
            with self._transaction(options) as transaction:
                return work(transaction)

        def policy() -> Retrying:
            return Retrying(
                retry=retry_if_exception_type(LedgerConflict),
                stop=stop_after_attempt(TRIES) | stop_after_delay(self.retry_seconds - (time.monotonic() - began)),
                wait=wait_random_exponential(multiplier=0.02, max=1),
                reraise=True,
            )

        return retried(once, LedgerConflict, policy)

    @contextmanager
    def _transaction(self, options: Mapping[str, bool]) -> Iterator[Transaction]:
        with (
            self._locked(),
            translated(self.place),
            self.engine.connect().execution_options(**options) as connection,
            connection.begin(),
        ):
            yield Transaction(connection=connection, clock=self.clock)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """The connection for this thread alone; a thread that has had it for too long hangs, and is freed."""
        if not self._lock.acquire(timeout=self.lock_seconds):
            cut_connection(self.engine)
            raise LedgerUnavailable(place=self.place, why=f"it has not answered for {self.lock_seconds:g} seconds")
        try:
            yield
        finally:
            self._lock.release()
