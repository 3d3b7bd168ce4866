"""The ledger as a whole: transactions that are retried when they collide, and errors in the ledger's own words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import sqlalchemy as sa
from tenacity import (
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_after_delay,
    wait_random_exponential,
)

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.ledger.failures import translated
from toolkit.ledger.line import cut_line
from toolkit.ledger.reading import ReadConnection
from toolkit.ledger.transaction import DatabaseClock, Transaction, database_now

T = TypeVar("T")

TRIES = 8
"""So often a transaction is tried that collides with others."""
RETRY_SECONDS = 20.0
"""After this no further try begins: with the last one, which waits for locks, a write ends before a lease expires."""
TURN_SECONDS = 45.0
"""So long a thread waits for another one's transaction: longer than a statement may take, shorter than a lease."""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """A database of runs, leases, batches and events; one connection at a time, which threads take turns with.

    Attributes:
        engine: of SQLAlchemy, made by `toolkit.ledger.opening`.
        place: the URL without its password, for messages.
        clock: of the database; only tests give another.
        retry_seconds: see `RETRY_SECONDS`; only tests give another.
        turn_seconds: see `TURN_SECONDS`; only tests give another.
    """

    engine: sa.Engine = field(repr=False)
    place: str
    clock: DatabaseClock = field(default=database_now, repr=False)
    retry_seconds: float = field(default=RETRY_SECONDS, repr=False)
    turn_seconds: float = field(default=TURN_SECONDS, repr=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do some work in one transaction, which is there as a whole or not at all.

        Args:
            work: called again when the transaction collides with another one, so it must have no effect elsewhere.

        Raises:
            LedgerUnavailable: the database cannot be used now.
            LedgerConflict: it collided in every try, or for too long.
        """
        return self._retrying(work, is_reading=False)

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Read in one transaction; see `write`."""
        return self._retrying(work, is_reading=True)

    def close(self) -> None:
        """Give the connection back."""
        self.engine.dispose()

    def _retrying(self, work: Callable[[Transaction], T], *, is_reading: bool) -> T:
        for attempt in Retrying(
            retry=retry_if_exception_type(LedgerConflict),
            stop=stop_after_attempt(TRIES) | stop_after_delay(self.retry_seconds),
            wait=wait_random_exponential(multiplier=0.02, max=1),
            reraise=True,
        ):
            with attempt, self._transaction(is_reading=is_reading) as transaction:
                return work(transaction)
        raise AssertionError  # Retrying ends with a return or an error

    @contextmanager
    def _transaction(self, *, is_reading: bool) -> Iterator[Transaction]:
        with (
            self._own_turn(),
            translated(self.place),
            self.engine.connect().execution_options(feedctl_reads=is_reading) as connection,
            connection.begin(),
            _Whole(connection, self.place),
        ):
            yield Transaction(connection=connection, clock=self.clock)

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        """The connection for this thread alone; whoever has had it for too long hangs, and is freed."""
        if not self._turn.acquire(timeout=self.turn_seconds):
            cut_line(self.engine)
            raise LedgerUnavailable(place=self.place, why=f"it has not answered for {self.turn_seconds:g} seconds")
        try:
            yield
        finally:
            self._turn.release()


class _Whole:
    """Lets nothing out of a transaction that read while a writer was about, neither its result nor its error."""

    def __init__(self, connection: sa.Connection, place: str) -> None:
        self._used: object = connection.connection.dbapi_connection
        self._place = place

    def __enter__(self) -> None:
        """Nothing is known yet."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        may_be_torn = error is None or isinstance(error, Exception)
        if may_be_torn and isinstance(self._used, ReadConnection) and self._used.is_overtaken():
            raise LedgerConflict(place=self._place, why="another run began to write while it was read") from error
