"""A server of PostgreSQL that is frozen, and so neither answers nor breaks off the connection."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from toolkit.ledger.database import Transaction
from toolkit.ledger.errors import LedgerUnavailable

pytestmark = pytest.mark.timeout(60)


def test_who_waits_for_a_frozen_server_is_freed_by_the_next_who_wants_the_ledger(postgres_ledger_url: sa.URL) -> None:
    is_frozen, servers = threading.Event(), list[int]()

    def hang(tx: Transaction) -> None:
        servers.append(tx.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
        os.kill(servers[0], signal.SIGSTOP)
        is_frozen.set()
        tx.now()

    with closing(replace(open_ledger(postgres_ledger_url), lock_seconds=0.5)) as ledger, ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(ledger.write, hang)
        try:
            assert is_frozen.wait(30)
            with pytest.raises(LedgerUnavailable, match=r"not answered for 0\.5 seconds"):
                ledger.read(lambda tx: tx.now())
            with pytest.raises(LedgerUnavailable):
                hanging.result(60)
            assert (
                ledger.read(lambda tx: tx.connection.exec_driver_sql("SELECT 1").scalar_one()) == 1
            )  # a new connection
        finally:
            os.kill(servers[0], signal.SIGCONT)


def test_a_connection_that_ended_while_it_rested_is_made_anew(postgres_ledger_url: sa.URL) -> None:
    with closing(open_ledger(postgres_ledger_url)) as ledger, closing(open_ledger(postgres_ledger_url)) as other:
        resting = ledger.read(lambda tx: tx.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
        ended = other.read(
            lambda tx: tx.connection.exec_driver_sql("SELECT pg_terminate_backend(%s, 10000)", (resting,)).scalar_one()
        )
        assert ended
        time.sleep(1.1)
        assert ledger.write(lambda tx: tx.connection.exec_driver_sql("SELECT 1").scalar_one()) == 1
