"""The ledger as a whole: transactions that are retried when they collide, and errors in the ledger's own words."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import sqlalchemy as sa
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from toolkit.ledger.errors import LedgerConflict
from toolkit.ledger.failures import translated
from toolkit.ledger.transaction import DatabaseClock, Transaction, database_now

T = TypeVar("T")

TRIES = 8
"""So often a transaction is tried that collides with others."""


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """A database of runs, leases, batches and events; one connection, which threads share one at a time.

    Attributes:
        engine: of SQLAlchemy, made by `toolkit.ledger.opening`.
        place: the URL without its password, for messages.
        clock: of the database; only tests give another.
    """

    engine: sa.Engine = field(repr=False)
    place: str
    clock: DatabaseClock = field(default=database_now, repr=False)
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Do some work in one transaction, which is there as a whole or not at all.

        Args:
            work: called again when the transaction collides with another one, so it must have no effect elsewhere.

        Raises:
            LedgerUnavailable: the database cannot be used now.
            LedgerConflict: it collided in every try.
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
            stop=stop_after_attempt(TRIES),
            wait=wait_random_exponential(multiplier=0.02, max=1),
            reraise=True,
        ):
            with attempt, self._transaction(is_reading=is_reading) as transaction:
                return work(transaction)
        raise AssertionError  # Retrying ends with a return or an error

    @contextmanager
    def _transaction(self, *, is_reading: bool) -> Iterator[Transaction]:
        with (
            self._turn,
            translated(self.place),
            self.engine.connect().execution_options(feedctl_reads=is_reading) as connection,
            connection.begin(),
        ):
            yield Transaction(connection=connection, clock=self.clock)
