"""One instance as people see it: what the ledger recorded of it, or that it waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.vocabulary import LifeCycle, RequestKind, RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRow:
    """An instance on a cluster, or one of its attempts.

    Attributes:
        life_cycle: what is done with it.
        cluster: where.
        counterpart: the other cluster of a copy, else empty.
        instance_key: instance key or nominal time.
        status: within the validity and without a run it is waiting (Falcon overview, Instance Management, status).
        run: None: there is none.
        asked: what its owner has been asked to do and has not done yet.
        is_owned: whether a living process works on it; None: not looked at, since the run is not active.
    """

    life_cycle: LifeCycle
    cluster: str
    counterpart: str
    instance_key: str
    status: RunStatus = RunStatus.WAITING
    run: Run | None = None
    asked: RequestKind | None = None
    is_owned: bool | None = None

    @classmethod
    def of(cls, run: Run) -> InstanceRow:
        """The row of a recorded attempt."""
        return cls(
            life_cycle=run.life_cycle,
            cluster=run.cluster,
            counterpart=run.counterpart,
            instance_key=run.instance_key,
            status=run.status,
            run=run,
        )

    @classmethod
    def waiting(cls, key: RunKey) -> InstanceRow:
        """The row of an instance that nobody has tried yet."""
        return cls(
            life_cycle=key.life_cycle,
            cluster=key.cluster,
            counterpart=key.counterpart,
            instance_key=key.instance_key,
        )

    @property
    def attempt(self) -> int:
        """From 1; 0: nobody has tried."""
        return 0 if self.run is None else self.run.attempt

    @property
    def started_at(self) -> datetime | None:
        """When somebody began."""
        return None if self.run is None else self.run.started_at

    @property
    def ended_at(self) -> datetime | None:
        """When it was over."""
        return None if self.run is None else self.run.ended_at
