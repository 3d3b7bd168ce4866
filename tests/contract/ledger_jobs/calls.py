"""The calls of jobs, each in a transaction of its own, and what the ledger has afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from tests.contract.ledger_jobs.pipelines import CLUSTER, registration
from toolkit.ledger.batches import files
from toolkit.ledger.batches.files import Enqueued
from toolkit.ledger.batches.rows import BatchFile, FeedInstance, NewFile
from toolkit.ledger.database import Ledger
from toolkit.ledger.jobs import job_end, job_start, steps
from toolkit.ledger.jobs.rows import HaltedJob, JobRef, StartedJob, StepRun
from toolkit.ledger.registry.registration import ProcessEntry, Site
from toolkit.ledger.registry.sync import SyncReport, sync
from toolkit.ledger.runs import attempts
from toolkit.ledger.runs.rows import Origin, Run
from toolkit.ledger.tables import archive, metadata, queue, step
from toolkit.ledger.vocabulary import QueueState

ORIGIN = Origin(who="ada", host="edge1", pid=4711)
NOON = "2026-03-01T12:00Z"
ONE = "2026-03-01T13:00Z"


def instance(feed: str, key: str = NOON, uri: str | None = None) -> FeedInstance:
    """An instance of a feed on the cluster of the tests."""
    return FeedInstance(feed=feed, cluster=CLUSTER, instance_key=key, uri=uri)


@dataclass(frozen=True, order=True)
class Row:
    """A row of the queue, or of the archive, by names."""

    step: str
    source: int
    target: int | None
    state: QueueState
    marking: str | None


@dataclass(frozen=True)
class Calls:
    """A ledger, asked in the words of the specification."""

    ledger: Ledger

    def register(
        self, *entries: ProcessEntry, elsewhere: tuple[str, ...] = (), snapshot: str = "commit 1"
    ) -> SyncReport:
        wanted = registration(*entries, elsewhere=elsewhere, snapshot=snapshot)
        return self.ledger.write(lambda tx: sync(tx, wanted, "ada"))

    def enqueue(
        self,
        source: str,
        path: str = "/in/1",
        *,
        batch_id: int | None = None,
        marking: str | None = None,
        of: FeedInstance | None = None,
        size: int = 10,
    ) -> Enqueued:
        new, site = NewFile(server="primary", path=path, size=size), Site(name=source, cluster=CLUSTER)
        return self.ledger.write(
            lambda tx: files.enqueue(tx, site, new, batch_id=batch_id, marking=marking, instance=of)
        )

    def register_file(
        self, path: str, *, batch_id: int | None = None, size: int = 10, digest: str | None = None
    ) -> BatchFile:
        new = NewFile(server="primary", path=path, size=size, hash=digest)
        return self.ledger.write(lambda tx: files.register_file(tx, new, batch_id=batch_id))

    def init(
        self, process: str, key: str | None = None, *, most: int | None = None, inputs: Sequence[FeedInstance] = ()
    ) -> StartedJob:
        return self.ledger.write(
            lambda tx: job_start.init_job(tx, ref(process, key), ORIGIN, max_batches=most, inputs=inputs)
        )

    def halt(
        self, process: str, key: str | None = None, *, marking: str | None = None, outputs: Sequence[FeedInstance] = ()
    ) -> HaltedJob:
        return self.ledger.write(lambda tx: job_end.halt_job(tx, ref(process, key), marking=marking, outputs=outputs))

    def term(self, process: str, key: str | None = None, reason: str | None = None) -> Run:
        return self.ledger.write(lambda tx: job_end.term_job(tx, ref(process, key), reason=reason))

    def abort(self, run_id: int) -> Run:
        return self.ledger.write(lambda tx: job_end.abort_job(tx, run_id, reason="its workflow is dead"))

    def init_step(self, process: str, name: str = "main", key: str | None = None) -> StepRun:
        return self.ledger.write(lambda tx: steps.init_step(tx, ref(process, key), name))

    def halt_step(self, process: str, name: str = "main", key: str | None = None) -> StepRun:
        return self.ledger.write(lambda tx: steps.halt_step(tx, ref(process, key), name))

    def term_step(self, process: str, name: str = "main", key: str | None = None) -> StepRun:
        return self.ledger.write(lambda tx: steps.term_step(tx, ref(process, key), name))

    def step(self, process: str, name: str = "main", key: str | None = None) -> None:
        """A step that succeeds."""
        self.init_step(process, name, key)
        self.halt_step(process, name, key)

    def fail_step(self, process: str, name: str = "main", key: str | None = None) -> None:
        """A step that fails."""
        self.init_step(process, name, key)
        self.term_step(process, name, key)

    def work(self, process: str, key: str | None = None, *, most: int | None = None) -> HaltedJob:
        """A whole job that succeeds."""
        for each in self.init(process, key, most=most).steps_to_run:
            self.step(process, each, key)
        return self.halt(process, key)

    def order_again(self, run: Run, *, is_forced: bool = False) -> Run:
        """What `instance rerun` does."""
        return self.ledger.write(lambda tx: attempts.queue_again(tx, run.key, ORIGIN, is_forced=is_forced))

    def queue(self) -> list[Row]:
        """Return what is in the queue."""
        return self._rows(queue)

    def archive(self) -> list[Row]:
        """Return what is in the archive."""
        return self._rows(archive)

    def everything(self) -> dict[str, list[tuple[object, ...]]]:
        """Return all rows of all tables."""
        return self.ledger.read(
            lambda tx: {
                each.name: [tuple(row) for row in tx.execute(sa.select(each).order_by(*each.primary_key))]
                for each in metadata.sorted_tables
            }
        )

    def _rows(self, table: sa.Table) -> list[Row]:
        columns = (step.c.name, table.c.source_batch_id, table.c.target_batch_id, table.c.state, table.c.marking)
        wanted = sa.select(*columns).join(step, step.c.step_id == table.c.step_id).order_by(table.c.queue_id)
        return [Row(*values) for values in self.ledger.read(lambda tx: tx.execute(wanted).all())]


def ref(process: str, key: str | None = None) -> JobRef:
    """A job of a process on the cluster of the tests."""
    return JobRef(process=process, cluster=CLUSTER, instance_key=key)
