"""Calls that are made at the same moment, each with a connection of its own, by threads or by processes."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

import sqlalchemy as sa

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, alone, key
from tests.databases.ledgers import open_ledger
from toolkit.errors import FeedctlError
from toolkit.ledger.database import DatabaseClock, Ledger, Transaction
from toolkit.ledger.runs import run_start
from toolkit.ledger.runs.run_start import StartRequest

T = TypeVar("T")
_SECONDS = 30
Work: TypeAlias = Callable[[Transaction], T]


class Race:
    """Connections that make calls at the same moment, round after round.

    Args:
        ledgers: one for each racer.
        threads: at least as many.
    """

    def __init__(self, ledgers: Sequence[Ledger], threads: ThreadPoolExecutor) -> None:
        self._ledgers, self._threads = ledgers, threads
        self._validator = threading.Barrier(len(ledgers))

    def __call__(self, works: Sequence[Work[T]]) -> list[T | FeedctlError]:
        """Return what each of the works returned or raised, all having begun at once."""
        return list(self._threads.map(self._run, self._ledgers, works))

    def _run(self, ledger: Ledger, work: Work[T]) -> T | FeedctlError:
        self._validator.wait(_SECONDS)
        try:
            return ledger.write(work)
        except FeedctlError as error:
            return error


@contextmanager
def racing(url: sa.URL, clocks: Sequence[DatabaseClock]) -> Iterator[Race]:
    """A race with a racer for each of the clocks, all connected."""
    ledgers = [open_ledger(url, clock) for clock in clocks]
    for ledger in ledgers:
        ledger.read(lambda tx: tx.now())
    with ThreadPoolExecutor(len(clocks)) as threads:
        yield Race(ledgers, threads)
    for ledger in ledgers:
        ledger.close()


def race_processes(url: sa.URL, count: int) -> list[str]:
    """The outcome of each process that tries to start a run of its own on one resource."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, ProcessPoolExecutor(count, mp_context=context) as processes:
        barrier = manager.Barrier(count)
        tries = [
            processes.submit(_start, url.render_as_string(hide_password=False), each, barrier) for each in range(count)
        ]
        return [each.result(60) for each in tries]


def _start(url: str, number: int, barrier: threading.Barrier) -> str:
    ledger = open_ledger(sa.make_url(url))
    ledger.read(lambda tx: tx.now())
    of = key(f"2026-03-20T12:{number:02}Z")
    request = StartRequest(key=of, origin=ORIGIN, leases=alone("evict/clicks"), lease_seconds=LEASE_SECONDS)
    barrier.wait(_SECONDS)
    try:
        ledger.write(lambda tx: run_start.start(tx, request))
    except FeedctlError as error:
        return type(error).__name__
    finally:
        ledger.close()
    return "started"
