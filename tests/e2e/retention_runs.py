"""Runs of the retention entrypoint that are looked at, paused or killed in their middle, and what the ledger says."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from tests.databases.ledgers import open_ledger
from tests.e2e.retention_process import Repo, plain_command
from tests.short_leases import short_leases
from toolkit.ledger import events
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import items, queries
from toolkit.ledger.runs.queries import RunFilter
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import EventKind, ItemState

INSTANCES = 1440
DAY = "clicks/2026/03/01"
SECONDS = 60
"""So long anything may take that a test waits for."""


def filled(directory: Path, files: int = 3) -> Repo:
    """A day of old instances, and two young ones."""
    repo = Repo.make(directory)
    repo.fill("2026/03/01", INSTANCES, files)
    repo.fill("2026/03/19", 2)
    return repo


def left_by_an_uninterrupted_run(repo: Repo) -> list[str]:
    """To be asked before any run."""
    return [each for each in repo.tree() if "2026/03/01" not in each]


def wait_until(happened: Callable[[], bool]) -> None:
    """Look often, so that the middle of a run is not missed."""
    deadline = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.002)


@contextmanager
def in_the_middle(
    repo: Repo, *arguments: str, lease_seconds: float = 60, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A run by plain Python that has removed some of the instances."""
    known = {**os.environ, **short_leases(lease_seconds), **(env or {})}
    with subprocess.Popen(
        plain_command(repo, "--feed", "clicks", "--output", "json", *arguments),
        env=known,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            wait_until(lambda: not (repo.data / DAY / "02").exists())
            assert (repo.data / DAY / "23/59").exists(), "the run was over before anything could be done to it"
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()


def stop(process: subprocess.Popen[str], repo: Repo) -> None:
    """Stop a process, at a moment at which it does not have SQLite's one lock."""
    while True:
        process.send_signal(signal.SIGSTOP)
        if _can_be_written(repo.ledger):
            return
        process.send_signal(signal.SIGCONT)
        time.sleep(0.003)


def _can_be_written(file: Path) -> bool:
    connection = sqlite3.connect(file, timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


@contextmanager
def looking_into(url: sa.URL) -> Iterator[Ledger]:
    """The ledger, for reading."""
    ledger = open_ledger(url)
    yield ledger
    ledger.close()


def sqlite_url(repo: Repo) -> sa.URL:
    """Return the sqlite url of the repo's own ledger."""
    return sa.URL.create("sqlite", database=str(repo.ledger))


def runs_of(url: sa.URL) -> list[Run]:
    """Return all evictions of clicks, oldest first."""
    with looking_into(url) as ledger:
        found = ledger.read(lambda tx: queries.find(tx, RunFilter(entity="clicks", all_attempts=True)))
    return sorted(found, key=lambda run: run.run_id)


def times_evicted(url: sa.URL) -> Counter[str]:
    """How many events say of each instance that it was evicted."""
    with looking_into(url) as ledger:
        found = ledger.read(lambda tx: events.after(tx, 0, limit=10 * INSTANCES))
    assert {event.kind for event in found} <= {EventKind.EVICTED}
    return Counter(event.instance_key for event in found)


def item_states(url: sa.URL, run_id: int) -> Counter[ItemState]:
    """How many items of a run are in which state."""
    with looking_into(url) as ledger:
        return Counter(ledger.read(lambda tx: items.counts(tx, [run_id])).get(run_id, {}))
