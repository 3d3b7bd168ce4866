"""Reference of a call to its job, and results of the calls of a job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.batches.rows import BatchFile, Downstream, batch_date, require_instance_key, tokens
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.vocabulary import JobMode, LifeCycle, QueueState, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class JobRef:
    """A process on a cluster, and the instance that it runs for.

    Attributes:
        instance_key: ``2026-03-01T06:40Z``; None: the job that works off the queue, of which there is one.
        run_id: this job and no later one, which may run in its place by now; None: whichever runs.

    Raises:
        InvalidInput: the key is no canonical instant.
    """

    process: str
    cluster: str
    instance_key: str | None = None
    run_id: int | None = None

    def __post_init__(self) -> None:
        if self.instance_key is not None:
            require_instance_key(self.instance_key)

    @property
    def site(self) -> Site:
        """The process on its cluster."""
        return Site(name=self.process, cluster=self.cluster)

    @property
    def mode(self) -> JobMode:
        """Return how the job finds its batches."""
        return JobMode.QUEUE if self.instance_key is None else JobMode.INSTANCE

    def __str__(self) -> str:
        return f"{self.site}" + (f" for {self.instance_key}" if self.instance_key else "")


def key_of(site: Site, instance_key: str) -> RunKey:
    """The run key of a job."""
    return RunKey(life_cycle=LifeCycle.EXECUTION, entity=site.name, cluster=site.cluster, instance_key=instance_key)


def queue_key(site: Site, target_batch_id: int) -> RunKey:
    """The run key of a job on the queue: its attempts are those to make one batch."""
    return key_of(site, f"batch-{target_batch_id}")


QUEUE_KEYS = ("batch-", "batch.")
"""Between these are the keys of all jobs on the queue, and no instant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceBatch:
    """A batch that a step reads.

    Attributes:
        batch_id: 0: no data, the step has no upstream.
        state: how far the step is with it.
        marking: its batch dates.
        producer: the process, or the feed, that enqueued it.
        producer_run_id: the job that made it; None: it came from outside.
    """

    batch_id: int
    state: QueueState
    marking: str | None
    producer: str | None
    producer_run_id: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedStep:
    """A step of a job, and what it reads (BDRE, InitJob: minimum and maximum batch ids and dates).

    Attributes:
        is_due: it has to run; False: its success in an earlier attempt counts.
        batches: in the order of their numbers.
    """

    step_id: int
    name: str
    is_due: bool
    batches: tuple[SourceBatch, ...]

    @property
    def min_batch_id(self) -> int | None:
        """The smallest number of its batches; None: it reads none."""
        return min((each.batch_id for each in self.batches), default=None)

    @property
    def max_batch_id(self) -> int | None:
        """The largest number of its batches; None: it reads none."""
        return max((each.batch_id for each in self.batches), default=None)

    @property
    def batch_dates(self) -> tuple[str, ...]:
        """The dates of its batches, each once, sorted as text."""
        return tuple(sorted({batch_date(token) for each in self.batches for token in tokens(each.marking)}))

    @property
    def min_batch_date(self) -> str | None:
        """The first of its batch dates; None: there is none."""
        return next(iter(self.batch_dates), None)

    @property
    def max_batch_date(self) -> str | None:
        """The last of its batch dates; None: there is none."""
        return next(reversed(self.batch_dates), None)

    @property
    def min_source_run_id(self) -> int | None:
        """The smallest number of the jobs that made its batches; None: all came from outside."""
        return min(self._producer_runs(), default=None)

    @property
    def max_source_run_id(self) -> int | None:
        """The largest number of the jobs that made its batches; None: all came from outside."""
        return max(self._producer_runs(), default=None)

    def _producer_runs(self) -> list[int]:
        return [each.producer_run_id for each in self.batches if each.producer_run_id is not None]


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedJob:
    """Answer of InitJob (BDRE, InitJob).

    Attributes:
        run: the job: its `run_id` is the process execution id.
        target_batch_id: the batch that the job makes, for its downstream.
        target_marking: the dates of all batches that it reads.
        is_rerun: an earlier attempt at the same batch did not succeed.
        steps: all live steps, in their order.
        files: of the batches that it reads.
    """

    run: Run
    target_batch_id: int
    target_marking: str | None
    is_rerun: bool
    steps: tuple[StartedStep, ...]
    files: tuple[BatchFile, ...]

    @property
    def steps_to_run(self) -> tuple[str, ...]:
        """The steps that have to run, in their order; none: only halt-job is left to do."""
        return tuple(each.name for each in self.steps if each.is_due)

    @property
    def resume_at(self) -> str | None:
        """The first step that has to run."""
        return next(iter(self.steps_to_run), None)

    @property
    def last_recoverable_step(self) -> str | None:
        """Step at which a rerun continues (BDRE, last recoverable sub-process id); None: at the first step."""
        return self.resume_at if self.is_rerun else None


@dataclass(frozen=True, kw_only=True, slots=True)
class HaltedJob:
    """Effect of HaltJob (BDRE, HaltJob).

    Attributes:
        run: the job.
        batch_id: the batch that it made, published now.
        marking: its batch dates.
        downstream: the steps that it was enqueued for.
        archived: so many batches went from the queue to the archive.
        events: the numbers of the events of its outputs.
    """

    run: Run
    batch_id: int
    marking: str | None
    downstream: tuple[Downstream, ...]
    archived: int
    events: range


@dataclass(frozen=True, kw_only=True, slots=True)
class StepRun:
    """An attempt of one step within a job: a row of the table `step_run`, where the columns are explained.

    Attributes:
        step: the name of the step.
    """

    step_run_id: int
    run_id: int
    step_id: int
    step: str
    attempt: int
    status: RunStatus
    application_id: str | None
    log_location: str | None
    started_at: datetime
    ended_at: datetime | None
