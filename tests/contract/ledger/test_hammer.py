"""Many who do everything at once leave a legal state behind, and never wait for each other in a circle."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import sqlalchemy as sa

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, key
from tests.databases.ledgers import HandClock, open_ledger
from toolkit.errors import FeedctlError
from toolkit.ledger import events
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import LedgerConflict
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import attempts, items, leases, queries, run_start, status
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.queries import RunFilter
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.tables import lease
from toolkit.ledger.vocabulary import EventKind, LeaseMode, RequestKind, RunStatus

WORKERS = 6
COMMANDS = 40
INSTANCES = [f"2026-03-20T1{hour}:00Z" for hour in range(4)]
RESOURCES = ["a", "b", "c"]
_EVENT = NewEvent(kind=EventKind.UPDATED, feed="clicks", cluster="primary", instance_key="2026-03-20T12:00Z")
Command = Callable[[Transaction], object]


class _Worker:
    """Gives random commands over a connection of its own, and lets time pass now and then."""

    def __init__(self, url: sa.URL, clock: HandClock, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self._clock, self._ledger = clock, open_ledger(url, clock)

    def work(self) -> list[FeedctlError]:
        """The refusals."""
        refusals = []
        for _ in range(COMMANDS):
            if self._chance.random() < 0.1:
                self._clock.forward(LEASE_SECONDS / 3)
            try:
                self._ledger.write(self._command())
            except FeedctlError as error:
                refusals.append(error)
        self._ledger.close()
        return refusals

    def _command(self) -> Command:
        return self._chance.choice([self._start, self._start, self._end, self._renew, self._order, self._kill_all])()

    def _start(self) -> Command:
        chosen = self._chance.sample(RESOURCES, self._chance.randint(1, 3))
        wanted = tuple(Wanted(resource=each, mode=self._chance.choice(list(LeaseMode))) for each in chosen)
        of = key(self._chance.choice(INSTANCES))
        request = StartRequest(key=of, origin=ORIGIN, leases=wanted, lease_seconds=LEASE_SECONDS)
        return lambda tx: run_start.start(tx, request)

    def _end(self) -> Command:
        pick, to = self._chance.random(), self._chance.choice([RunStatus.SUCCEEDED, RunStatus.FAILED])
        position = self._chance.randrange(2**60)  # of several that end the same run, the first alone counts

        def end(tx: Transaction) -> None:
            for run in _one(queries.active(tx), pick):
                items.intend(tx, run.run_id, [NewItem(position=position, kind="data", path="/a", instance_key="")])
                status.change(tx, run.run_id, to)
                events.append(tx, [_EVENT], run.run_id)

        return end

    def _renew(self) -> Command:
        pick, kind = self._chance.random(), self._chance.choice(list(RequestKind))

        def renew(tx: Transaction) -> None:
            for run in _one(queries.active(tx), pick):
                leases.renew(tx, run.run_id, LEASE_SECONDS)
                status.ask_owner(tx, run.run_id, kind, "bob")

        return renew

    def _order(self) -> Command:
        of, pick = key(self._chance.choice(INSTANCES)), self._chance.random()
        if pick < 0.5:
            return lambda tx: attempts.queue_again(tx, of, ORIGIN, is_forced=False)
        if pick < 0.75:
            return lambda tx: attempts.skip(tx, of, ORIGIN, "said so")
        return lambda tx: attempts.suspend_ahead(tx, of, ORIGIN)

    def _kill_all(self) -> Command:
        """As a command on a range of instances does: in the order of the runs' numbers."""

        def kill(tx: Transaction) -> None:
            runs = queries.find(tx, RunFilter(entity="clicks", statuses=queries.OPEN))
            for run in sorted(runs, key=lambda run: run.run_id):
                status.change(tx, run.run_id, RunStatus.KILLED)

        return kill


def test_everything_at_once_leaves_a_legal_state_and_no_deadlock(ledger: Ledger, ledger_url: sa.URL) -> None:
    clock, deadlocks = HandClock(), _deadlocks(ledger)
    workers = [_Worker(ledger_url, clock, seed) for seed in range(WORKERS)]
    with ThreadPoolExecutor(WORKERS) as threads:
        refusals = [error for each in threads.map(_Worker.work, workers) for error in each]
    assert [error for error in refusals if isinstance(error, LedgerConflict)] == []
    assert _deadlocks(ledger) == deadlocks
    ledger.read(_check)


def _check(tx: Transaction) -> None:
    runs = queries.find(tx, RunFilter(entity="clicks", all_attempts=True))
    by_id = {run.run_id: run for run in runs}
    for _, group in groupby(runs, key=lambda run: run.key):
        own = list(group)
        assert [run.attempt for run in own] == list(range(1, len(own) + 1))
        assert all(run.status.is_terminal for run in own[:-1])
    held = tx.execute(sa.select(lease.c.resource, lease.c.run_id, lease.c.mode).order_by(lease.c.resource)).all()
    assert all(by_id[row.run_id].status in queries.ACTIVE for row in held)
    for _, rows in groupby(held, key=lambda row: row.resource):
        modes = [row.mode for row in rows]
        assert len(modes) == 1 or LeaseMode.EXCLUSIVE not in modes
    numbers = [event.sequence for event in events.after(tx, 0)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def _one(runs: list[Run], pick: float) -> list[Run]:
    """One of them, if there is one."""
    return runs[int(pick * len(runs)) :][:1]


def _deadlocks(ledger: Ledger) -> int:
    """How many deadlocks the server had to break in this database; SQLite has one writer and so none."""
    if ledger.engine.dialect.name == "sqlite":
        return 0
    count = sa.text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
    found: int = ledger.read(lambda tx: tx.execute(count).scalar_one())
    return found
