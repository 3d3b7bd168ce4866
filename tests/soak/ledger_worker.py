"""One of many processes on one ledger: enqueues, runs jobs, holds leases, at random; may kill itself anywhere."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from tests.databases.graphs import CLUSTER, FEED, SERVER, chain_and_diamond
from tests.databases.kill_points import KillPoints
from tests.databases.ledgers import open_ledger
from tests.soak.ledger_holds import holding, let_go, renewed
from toolkit.el import format_instant
from toolkit.ledger.batches.files import enqueue
from toolkit.ledger.batches.rows import FeedInstance, NewFile
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.jobs.errors import JobIsRunning, NothingEnqueued
from toolkit.ledger.jobs.job_end import halt_job, term_job
from toolkit.ledger.jobs.job_start import init_job
from toolkit.ledger.jobs.rows import JobRef, StartedJob
from toolkit.ledger.jobs.steps import halt_step, init_step, term_step
from toolkit.ledger.runs import leases, run_start, status
from toolkit.ledger.runs.errors import LeaseHeld, LeaseLost, RunIsActive
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle, ProcessKind, RunStatus

T = TypeVar("T")

PROCESSES = tuple(each.site.name for each in chain_and_diamond().processes if each.kind is ProcessKind.PROCESS)
LEASE_SECONDS = 1.5
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_KEYS, _RESOURCES = 30, 3
_HOLDS = 4
_MOST_POINTS = 250
_FAILS = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCommands:
    """What a worker shall do.

    Args:
        url: of the ledger.
        seed: of what it chooses.
        actions: how many.
        may_die: it kills itself at some point of all that it does on the ledger, unless it is done before.
        acknowledged: a file that gets a line for each thing that the ledger has confirmed.
    """

    url: str
    seed: int
    actions: int
    may_die: bool
    acknowledged: Path


def work(orders: RunCommands) -> str:
    """Return what a child does; tells how often it did what, as JSON."""
    chance = random.Random(orders.seed)  # noqa: S311 - a repeatable test, no secret
    ledger = open_ledger(sa.make_url(orders.url))
    if orders.may_die:
        KillPoints(ledger.engine, chance.randrange(_MOST_POINTS))
    worker = Worker(ledger=ledger, chance=chance, acknowledged=orders.acknowledged)
    worker.enqueue()
    for _ in range(orders.actions):
        worker.act()
    ledger.close()
    return json.dumps(worker.counts)


def drain(url: str, acknowledged: Path) -> str:
    """Run jobs, each of which succeeds, until no process has anything to read, and hold a lease."""
    ledger = open_ledger(sa.make_url(url))
    chance = random.Random(0)  # noqa: S311 - as above
    worker = Worker(ledger=ledger, chance=chance, acknowledged=acknowledged, fails=0)
    before = -1
    while before != worker.counts["halted"]:
        before = worker.counts["halted"]
        for name in PROCESSES:
            worker.run_job(name, None)
    while not worker.counts["held"]:  # a lease of a dead worker ends after `LEASE_SECONDS`
        worker.hold()
    ledger.close()
    return json.dumps(worker.counts)


class Worker:
    """Does one thing after the other.

    Args:
        ledger: its own connection.
        chance: what it chooses by.
        acknowledged: a file that gets a line for each thing that the ledger has confirmed.
        fails: the share of steps that fail.
    """

    def __init__(self, *, ledger: Ledger, chance: random.Random, acknowledged: Path, fails: float = _FAILS) -> None:
        self.counts: Counter[str] = Counter()
        self._ledger, self._chance, self._fails = ledger, chance, fails
        self._acknowledged = acknowledged
        self._origin = Origin(who="swarm", host="test", pid=os.getpid())

    def act(self) -> None:
        """Do one thing or another."""
        actions: tuple[Callable[[], None], ...] = (self.enqueue, self._any_job, self._any_job, self._holds)
        self._chance.choice(actions)()

    def run_job(self, name: str, max_batches: int | None) -> None:
        """Run a job of a process from its beginning to its end, unless there is nothing to do, or another has it."""
        ref = JobRef(process=name, cluster=CLUSTER)
        try:
            job = self._write(lambda tx: init_job(tx, ref, self._origin, max_batches=max_batches))
        except (JobIsRunning, NothingEnqueued) as refused:
            self.counts[refused.code] += 1
            return
        self._confirm("began", job.run.run_id)
        if self._steps(ref, job):
            self._write(lambda tx: halt_job(tx, ref, outputs=[self._instance(name)]))
            self._confirm("halted", job.run.run_id)
        else:
            self._write(lambda tx: term_job(tx, ref, reason="the test wants it"))
            self._confirm("failed", job.run.run_id)

    def _steps(self, ref: JobRef, job: StartedJob) -> bool:
        """Return whether all of them succeeded."""
        for step in job.steps_to_run:
            self._write(partial(init_step, ref=ref, step=step))
            if self._chance.random() < self._fails:
                self._write(partial(term_step, ref=ref, step=step))
                return False
            self._write(partial(halt_step, ref=ref, step=step))
        return True

    def _any_job(self) -> None:
        self.run_job(self._chance.choice(PROCESSES), self._chance.choice((None, 1, 3)))

    def enqueue(self) -> None:
        """Let the first processes have something to read."""
        new = NewFile(server=SERVER, path=f"/in/{self._chance.randrange(10**12)}", size=1)
        instance = self._instance(FEED.name)
        done = self._write(lambda tx: enqueue(tx, FEED, new, instance=instance))
        self._confirm("enqueued", done.batch_id)

    def _holds(self) -> None:
        for _ in range(_HOLDS):
            self.hold()

    def hold(self) -> None:
        """Lease something, keep it for a moment, perhaps renew it, and give it back."""
        number = self._chance.randrange(_KEYS)
        try:
            run = self._write(lambda tx: run_start.start(tx, self._request(number))).run
        except (LeaseHeld, RunIsActive) as refused:
            self.counts[refused.code] += 1
            return
        try:
            self._keep(run.run_id)
            self._write(lambda tx: status.change(tx, run.run_id, RunStatus.SUCCEEDED))
            self._confirm("held", run.run_id)
        except (LeaseLost, IllegalTransition) as lost:  # this process was not given the processor for long enough
            self.counts[lost.code] += 1

    def _request(self, number: int) -> StartRequest:
        """Return what a key needs depends on the key alone, as in reality; how it needs it does not."""
        key = RunKey(life_cycle=LifeCycle.EVICTION, entity=FEED.name, cluster=CLUSTER, instance_key=_key(number))
        resources = {number % _RESOURCES, number // _RESOURCES % _RESOURCES}
        modes = self._chance.choices((LeaseMode.EXCLUSIVE, LeaseMode.SHARED), k=len(resources))
        wanted = (Wanted(resource=f"resource/{n}", mode=mode) for n, mode in zip(resources, modes, strict=True))
        return StartRequest(key=key, origin=self._origin, leases=tuple(wanted), lease_seconds=LEASE_SECONDS)

    def _keep(self, run_id: int) -> None:
        self._write(lambda tx: holding(tx, run_id))
        time.sleep(self._chance.random() * 0.02)
        if self._chance.random() < 0.5:
            self._write(lambda tx: leases.renew(tx, run_id, LEASE_SECONDS))
            self._write(lambda tx: renewed(tx, run_id))
        self._write(lambda tx: let_go(tx, run_id))

    def _instance(self, feed: str) -> FeedInstance:
        return FeedInstance(feed=feed, cluster=CLUSTER, instance_key=_key(self._chance.randrange(10**6)))

    def _write(self, call: Callable[[Transaction], T]) -> T:
        return self._ledger.write(call)

    def _confirm(self, what: str, number: int) -> None:
        """Write down what the ledger has answered, in a way that survives kill -9."""
        self.counts[what] += 1
        with self._acknowledged.open("a") as file:
            file.write(f"{what} {number}\n")


def _key(minutes: int) -> str:
    return format_instant(_FIRST + timedelta(minutes=minutes))
