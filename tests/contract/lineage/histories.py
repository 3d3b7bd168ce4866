"""Histories of jobs that read and write instances, in the ledger and in a model of which version each has read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.contract.ledger_jobs.calls import Calls
from tests.contract.ledger_jobs.pipelines import CLUSTER, process, step
from tests.databases.ledgers import START, HandClock, empty_ledger
from toolkit.ledger import events, fingerprints
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.fingerprints import Fingerprint, ReadInput
from toolkit.ledger.runs import status
from toolkit.ledger.vocabulary import EventKind, RunStatus
from toolkit.lineage.instance_lineage import InstanceId

NOTHING = Fingerprint.of([])
FEEDS = ("a", "b", "c", "d")


def named(feed: str, hour: int = 0) -> InstanceId:
    """An instance of a feed on the cluster of the tests."""
    return InstanceId(feed=feed, cluster=CLUSTER, key=f"2026-03-01T{hour:02}:00Z")


@dataclass(frozen=True)
class ModelJob:
    """A job that runs: its process instance, its run, and the version of each instance that it has read."""

    process: str
    key: str
    run_id: int
    read: tuple[tuple[InstanceId, int], ...]


@dataclass
class History:
    """Jobs in a ledger whose clock stands still between commands."""

    ledger: Ledger
    clock: HandClock
    written: dict[InstanceId, list[int]] = field(default_factory=dict)
    done: list[tuple[ModelJob, tuple[InstanceId, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = replace(self.ledger, clock=self.clock)
        self.calls = Calls(self.ledger)
        self.calls.register(*(process(name, step("main")) for name in ("p", "q", "r")))

    def begin(self, name: str, hour: int, reads: Iterable[InstanceId] = ()) -> ModelJob:
        """Begin a job, which looks at its inputs."""
        self.clock.forward(1)
        key = f"2026-03-01T{hour:02}:00Z"
        run = self.calls.init(name, key).run
        self.clock.forward(1)
        distinct = list(dict.fromkeys(reads))
        looks = [
            ReadInput(
                input=f"in_{each.feed}",
                feed=each.feed,
                cluster=each.cluster,
                instance_key=each.key,
                uri=f"/{each.feed}",
                looked_at=self.clock.now,
                fingerprint=NOTHING,
            )
            for each in distinct
        ]
        self.ledger.write(lambda tx: fingerprints.write(tx, run.run_id, looks))
        versions = tuple((each, self.newest(each)) for each in distinct)
        return ModelJob(name, key, run.run_id, versions)

    def end(self, job: ModelJob, writes: Iterable[InstanceId]) -> None:
        """Let a job succeed."""
        self.clock.forward(1)
        self.calls.step(job.process, key=job.key)
        made = tuple(dict.fromkeys(writes))
        outputs = [FeedInstance(feed=each.feed, cluster=each.cluster, instance_key=each.key, uri="/x") for each in made]
        self.calls.halt(job.process, job.key, outputs=outputs)
        for each in made:
            self.written.setdefault(each, []).append(job.run_id)
        self.done.append((job, made))

    def work(self, name: str, hour: int, reads: Iterable[InstanceId], writes: Iterable[InstanceId]) -> int:
        """Run a whole job, and return its run."""
        job = self.begin(name, hour, reads)
        self.end(job, writes)
        return job.run_id

    def kill(self, job: ModelJob) -> None:
        """Let a job be killed."""
        self.clock.forward(1)
        self.ledger.write(lambda tx: status.change(tx, job.run_id, RunStatus.KILLED))

    def report(self, kind: EventKind, of: InstanceId) -> None:
        """Append an event from outside, or of retention."""
        self.clock.forward(1)
        new = NewEvent(kind=kind, feed=of.feed, cluster=of.cluster, instance_key=of.key)
        self.ledger.write(lambda tx: events.append(tx, [new]))

    def newest(self, of: InstanceId) -> int:
        """Return the run that wrote an instance last; 0: none."""
        return self.written.get(of, [0])[-1]

    def edges(self) -> set[tuple[str, str]]:
        """Return the edges that the whole history has, between versions and runs."""
        found = {(self.vertex(*read), f"run:{job.run_id}") for job, _ in self.done for read in job.read}
        return found | {
            (f"run:{job.run_id}", self.vertex(each, job.run_id)) for job, made in self.done for each in made
        }

    def vertex(self, of: InstanceId, version: int) -> str:
        """Return the vertex of a version."""
        return of.vertex_id if version == self.newest(of) else f"{of.vertex_id}#{version}"


def begun_anew(history: History) -> History:
    """Return a history without a job, in the same ledger, which is emptied: each random example begins with it."""
    with history.ledger.engine.begin() as connection:
        empty_ledger(connection)
    return History(history.ledger, HandClock(START))


def reached(edges: Iterable[tuple[str, str]], start: Iterable[str], *, up: bool) -> set[str]:
    """Return what edges lead to from some vertices, with these."""
    pairs = [(target, source) if up else (source, target) for source, target in edges]
    found, ring = set(start), set(start)
    while ring:
        ring = {there for here, there in pairs if here in ring} - found
        found |= ring
    return found
