"""Which job a call means."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.ledger.batches.instances import require_instance_key
from toolkit.ledger.registry.registration import Site
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.vocabulary import JobMode, LifeCycle


@dataclass(frozen=True, kw_only=True, slots=True)
class JobRef:
    """A process on a cluster, and the instance that it runs for.

    Attributes:
        instance_key: ``2026-03-01T06:40Z``; None: the job that works off the queue, of which there is one.

    Raises:
        InvalidInput: the key is no canonical instant.
    """

    process: str
    cluster: str
    instance_key: str | None = None

    def __post_init__(self) -> None:
        if self.instance_key is not None:
            require_instance_key(self.instance_key)

    @property
    def site(self) -> Site:
        """The process on its cluster."""
        return Site(name=self.process, cluster=self.cluster)

    @property
    def mode(self) -> JobMode:
        """How the job finds its batches."""
        return JobMode.QUEUE if self.instance_key is None else JobMode.INSTANCE

    def __str__(self) -> str:
        return f"{self.site}" + (f" for {self.instance_key}" if self.instance_key else "")


def key_of(site: Site, instance_key: str) -> RunKey:
    """The run key of a job."""
    return RunKey(life_cycle=LifeCycle.EXECUTION, entity=site.name, cluster=site.cluster, instance_key=instance_key)


def queue_key(site: Site, target_batch_id: int) -> RunKey:
    """The run key of a job on the queue: its attempts are those to make one batch."""
    return key_of(site, f"batch-{target_batch_id}")
