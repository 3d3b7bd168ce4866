"""Many processes on one ledger at once, some of which kill themselves, and proof that nothing is lost or doubled."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from tests.databases.forking import Ended, Forks, Task
from tests.databases.graphs import chain_and_diamond
from tests.databases.invariants import violations
from tests.databases.ledgers import open_ledger
from tests.soak.ledger_holds import held, overlaps
from tests.soak.ledger_worker import RunCommands, drain, work
from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs.job_end import abort_job
from toolkit.ledger.registry.sync import sync
from toolkit.ledger.tables import archive, batch, process, queue, run, step, upstream
from toolkit.ledger.vocabulary import BatchKind, RunStatus

_JOINING = "join"
"""The one process that waits for two others: what came from one of them may wait for ever for the other."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Swarm:
    """What shall happen.

    Args:
        workers: how many processes in all.
        at_once: how many of them at a time.
        actions: of each.
        seed: of everything.
    """

    workers: int
    at_once: int
    actions: int
    seed: int

    def run(self, url: sa.URL, forks: Forks, directory: Path) -> Counter[str]:
        """Let all of them work, then check; how often what happened."""
        acknowledged = directory / "acknowledged"
        with closing(open_ledger(url)) as ledger:
            held.drop(ledger.engine, checkfirst=True)  # of a test before
            held.create(ledger.engine)
            ledger.write(lambda tx: sync(tx, chain_and_diamond(), "swarm"))
            counts = self._work(str(url), forks, ledger, acknowledged)
            drained = forks.call(drain, str(url), acknowledged)
            assert drained.code == 0, drained.output
            counts.update(json.loads(drained.output))
            ledger.read(lambda tx: _check(tx.connection, acknowledged))
        return counts

    def _work(self, url: str, forks: Forks, ledger: Ledger, acknowledged: Path) -> Counter[str]:
        counts: Counter[str] = Counter()
        failed: list[str] = []
        for ended in forks.run(self._tasks(url, acknowledged), at_once=self.at_once):
            if ended.was_killed:
                counts["killed"] += 1
                _bury(ledger, ended)
            elif ended.code:
                failed.append(ended.output)
            else:
                counts.update(json.loads(ended.output))
        assert not failed, f"{len(failed)} workers failed, the first with\n{failed[0]}"
        return counts

    def _tasks(self, url: str, acknowledged: Path) -> list[Task]:
        chance = random.Random(self.seed)  # noqa: S311 - a repeatable test, no secret
        orders = (
            RunCommands(
                url=url,
                seed=chance.randrange(2**32),
                actions=self.actions,
                may_die=bool(number % 2),
                acknowledged=acknowledged,
            )
            for number in range(self.workers)
        )
        return [Task(function=work, arguments=(each,)) for each in orders]


def _bury(ledger: Ledger, ended: Ended) -> None:
    """End the job that a dead worker has left, as somebody would with `feedctl instance kill`."""
    left = sa.select(run.c.run_id).where(
        run.c.pid == ended.pid, run.c.status == RunStatus.RUNNING, run.c.process_id.is_not(None)
    )
    for run_id in ledger.read(lambda tx: tx.execute(left).scalars().all()):
        ledger.write(partial(abort_job, run_id=run_id, reason="its worker was killed"))


def _check(connection: sa.Connection, acknowledged: Path) -> None:
    wrong = {
        "broken rules": violations(connection, deliveries=True),
        "leases held twice": overlaps(connection),
        "processes that could have read more": _unread(connection) - {_JOINING},
        "batches not read once": _not_read_once(connection),
        "confirmed and lost": _lost(connection, acknowledged),
    }
    found = {what: which for what, which in wrong.items() if which}
    assert not found, found


def _unread(connection: sa.Connection) -> set[str]:
    """The processes that have something left to read, after nothing is left to do."""
    waiting = (
        sa.select(process.c.name)
        .join(step, step.c.process_id == process.c.process_id)
        .join(queue, queue.c.step_id == step.c.step_id)
    )
    return set(connection.execute(waiting).scalars())


def _not_read_once(connection: sa.Connection) -> list[tuple[int, int]]:
    """Batches from outside that were not consumed exactly once by every step that reads the feed."""
    times = sa.select(sa.func.count()).where(
        archive.c.source_batch_id == batch.c.batch_id, archive.c.step_id == upstream.c.step_id
    )
    pairs = (
        sa.select(batch.c.batch_id, upstream.c.step_id)
        .join(upstream, upstream.c.process_id == batch.c.process_id)
        .where(batch.c.kind == BatchKind.FILE, times.scalar_subquery() != 1)
    )
    return list(connection.execute(pairs).tuples())


def _lost(connection: sa.Connection, acknowledged: Path) -> set[tuple[str, int]]:
    """Return what the ledger had confirmed and does not have."""
    lines = (line.split() for line in acknowledged.read_text().splitlines())
    confirmed = {(what, int(number)) for what, number in lines}
    ended = {RunStatus.SUCCEEDED: ("halted", "held"), RunStatus.FAILED: ("failed",)}
    runs = connection.execute(sa.select(run.c.run_id, run.c.status)).all()
    found = {(what, run_id) for run_id, status in runs for what in (*ended.get(status, ()), "began")}
    batches = connection.execute(sa.select(batch.c.batch_id).where(batch.c.kind == BatchKind.FILE)).scalars()
    return confirmed - found - {("enqueued", number) for number in batches}
