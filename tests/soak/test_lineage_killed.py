"""kill -9 of runs at random points of their calls: no edge without a success, and none is missing after one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import ORIGIN, key
from tests.contract.lineage.histories import History, named
from tests.databases.forking import Forks, forking
from tests.databases.kill_points import KillPoints
from tests.databases.ledgers import HandClock, open_ledger
from tests.soak.chance import seeded
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import attempts
from toolkit.ledger.tables import lineage_edge, run
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus
from toolkit.runs.ledger_recorder import LedgerRecorder
from toolkit.runs.outcome import SUCCEEDED
from toolkit.runs.recorder import RecordBatch, RecordedRun

_POINTS = 60
"""More than the statements of a job and a copy: so some of them live."""
COPIED = NewEvent(kind=EventKind.AVAILABLE, feed="b", cluster="backup", instance_key=named("b").key)


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with forking() as started:
        yield started


def work(url: str, number: int, kill_at: int) -> str:
    """Run a job that reads two instances and writes one, and a copy of what it wrote, until the process dies."""
    ledger = open_ledger(sa.make_url(url))
    history = History(ledger, HandClock())
    KillPoints(ledger.engine, kill_at)
    process, hour = "pqr"[number // 24], number % 24  # a job that was killed is open: the next needs another instance
    history.work(process, hour, [named("a"), named("a", 1)], [named("b")])
    of_copy = key(
        named("b", hour).key,
        entity=f"b{process}",
        cluster="backup",
        life_cycle=LifeCycle.REPLICATION,
        counterpart="primary",
    )
    begun = ledger.write(lambda tx: attempts.begin(tx, of_copy, ORIGIN))
    recorder, recorded = LedgerRecorder(ledger=ledger), RecordedRun(key=of_copy, run_id=begun.run_id, attempt=1)
    recorder.record(recorded, RecordBatch(events=(COPIED,)))
    recorder.finish(recorded, SUCCEEDED)
    return "it lived"


def kill(url: sa.URL, forks: Forks, kills: int) -> None:
    """Kill so many runs, and compare the edges of all with their status each time."""
    chance, killed = seeded(), 0
    ledger = open_ledger(url)
    history = History(ledger, HandClock())  # registers the processes
    while killed < kills:
        at = chance.randrange(_POINTS)
        killed += forks.call(work, url.render_as_string(hide_password=False), killed, at).was_killed
        _check(history)
    ledger.close()


def _check(history: History) -> None:
    with history.ledger.engine.connect() as connection:
        edges = sa.select(
            lineage_edge.c.direction, lineage_edge.c.feed, lineage_edge.c.cluster, lineage_edge.c.instance_key
        )
        for each in connection.execute(sa.select(run.c.run_id, run.c.status, run.c.life_cycle)).all():
            found = sorted(map(tuple, connection.execute(edges.where(lineage_edge.c.run_id == each.run_id))))
            is_copy = each.life_cycle is LifeCycle.REPLICATION
            read = [("b", "primary", 0)] if is_copy else [("a", "primary", 0), ("a", "primary", 1)]
            made = ("b", "backup", 0) if is_copy else ("b", "primary", 0)
            wanted = [*(("input", *_name(one)) for one in read), ("output", *_name(made))]
            assert found == (wanted if each.status is RunStatus.SUCCEEDED else []), each


def _name(of: tuple[str, str, int]) -> tuple[str, str, str]:
    return of[0], of[1], named(of[0], of[2]).key


@pytest.mark.extended
def test_five_runs_that_are_killed_leave_the_edges_of_successes_alone(ledger_url: sa.URL, forks: Forks) -> None:
    kill(ledger_url, forks, 5)


@pytest.mark.soak
def test_fifty_runs_that_are_killed_leave_the_edges_of_successes_alone(ledger_url: sa.URL, forks: Forks) -> None:
    kill(ledger_url, forks, 50)
