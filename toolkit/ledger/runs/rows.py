"""The row of a run, the key that its attempts share, and who runs it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.vocabulary import JobMode, LifeCycle, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class RunKey:
    """Key of a run: one action for one instance; its attempts are numbered from 1 (DESIGN section 6, Run).

    Attributes:
        life_cycle: what the action does.
        entity: feed or process.
        cluster: where.
        instance_key: instance key or nominal time, for example ``2026-03-20T12:00Z``; ``batch-N`` for a queue job.
        counterpart: the other cluster of a copy, else empty.
    """

    life_cycle: LifeCycle
    entity: str
    cluster: str
    instance_key: str
    counterpart: str = ""

    def __str__(self) -> str:
        other = f" with {self.counterpart}" if self.counterpart else ""
        return f"{self.life_cycle} of {self.entity} on {self.cluster}{other} for {self.instance_key}"


RUN_KEY = tuple(RunKey.__dataclass_fields__)
"""Columns of a run's key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """Origin of a run: user, machine, and the state of the config repo that was read.

    Attributes:
        who: the user that the run belongs to.
        snapshot: the state of the config repo that was read.
        digest: of the merged entity.
        versions: of feedctl, Python and tzdata.
        host: of the owner.
        pid: of the owner.
        owner_mark: tells its process from all others of its machine; None: it is unknown whether it lives.
        log_location: where the log is, as the scheduler said.
        application_id: of Spark or YARN.
    """

    who: str
    snapshot: str | None = None
    digest: str | None = None
    versions: str | None = None
    host: str | None = None
    pid: int | None = None
    owner_mark: str | None = None
    log_location: str | None = None
    application_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class JobFacts:
    """Facts that make a run a job of a process (DESIGN section 6, Run metadata after BDRE).

    Attributes:
        process_id: of the process on its cluster.
        mode: how it finds its batches.
        target_batch_id: the batch that it makes.
        target_marking: the batch dates of all batches that it reads.
    """

    process_id: int
    mode: JobMode
    target_batch_id: int
    target_marking: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """An attempt; the fields are the columns of the table `run`, where each is explained."""

    run_id: int
    life_cycle: LifeCycle
    entity: str
    cluster: str
    counterpart: str
    instance_key: str
    attempt: int
    status: RunStatus
    suspended_from: RunStatus | None
    is_forced: bool
    process_id: int | None
    mode: JobMode | None
    target_batch_id: int | None
    target_marking: str | None
    snapshot: str | None
    digest: str | None
    versions: str | None
    who: str
    host: str | None
    pid: int | None
    owner_mark: str | None
    application_id: str | None
    log_location: str | None
    exit_code: int | None
    reason: str | None
    created_at: datetime
    started_at: datetime | None
    heartbeat_at: datetime | None
    ended_at: datetime | None
    cause: str | None = None
    retry: int | None = None
    retry_at: datetime | None = None

    @property
    def key(self) -> RunKey:
        """The key that its attempts share."""
        return RunKey(
            life_cycle=self.life_cycle,
            entity=self.entity,
            cluster=self.cluster,
            instance_key=self.instance_key,
            counterpart=self.counterpart,
        )

    def __str__(self) -> str:
        return f"run {self.run_id} ({self.key}, attempt {self.attempt})"
