"""No transaction waits for ever: neither for its turn, nor in its tries."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.ledger.test_opening import batches, opened
from toolkit.ledger import database, engine
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.runs.lease import LEASE_SECONDS


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with closing(opened(tmp_path)) as made:
        yield made


def test_a_thread_does_not_wait_for_ever_for_another_ones_transaction(ledger: Ledger) -> None:
    hasty = replace(ledger, lock_seconds=0.05)
    is_begun, may_end = threading.Event(), threading.Event()

    def hang(_: Transaction) -> bool:
        is_begun.set()
        return may_end.wait(30)

    with ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(hasty.write, hang)
        assert is_begun.wait(30)
        with pytest.raises(LedgerUnavailable, match=r"not answered for 0\.05 seconds"):
            hasty.read(lambda tx: tx.now())
        may_end.set()
        assert hanging.result(30)
    assert batches(hasty) == 1


def test_the_tries_of_a_transaction_end_after_a_while_however_few_they_were(ledger: Ledger) -> None:
    tries: list[float] = []

    def collide(_: Transaction) -> None:
        tries.append(time.monotonic())
        time.sleep(0.06)
        raise LedgerConflict(place="here", why="busy")

    with pytest.raises(LedgerConflict):
        replace(ledger, retry_seconds=0.1).write(collide)
    assert len(tries) < database.TRIES


def test_whatever_waits_gives_up_before_a_lease_expires(ledger: Ledger) -> None:
    last_try = max(engine.BUSY_SECONDS, engine.LOCK_SECONDS)
    assert database.RETRY_SECONDS + last_try < LEASE_SECONDS
    assert engine.STATEMENT_SECONDS < database.LOCK_SECONDS < LEASE_SECONDS
    busy = ledger.read(lambda tx: tx.connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one())
    assert busy == engine.BUSY_SECONDS * 1000
