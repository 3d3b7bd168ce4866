"""The process entity: a workflow over feed instances (Falcon entity specification, Process)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from toolkit.el import Frequency, InstanceSequence, Unit
from toolkit.entities.errors import UnknownName
from toolkit.entities.sla import ProcessSla
from toolkit.entities.trigger import Trigger
from toolkit.entities.trigger_vocabulary import Emit, OutputScope, ScheduleMode
from toolkit.entities.values import Acl, Notification, Properties, Validity
from toolkit.entities.vocabulary import Kind, Order, Prepare
from toolkit.entities.workflow import LateProcess, Retry, Workflow


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessCluster:
    """A process on one cluster.

    Attributes:
        sla: replaces the process's.
        version: the least version of the cluster that will do.
    """

    name: str
    validity: Validity
    sla: ProcessSla | None = None
    version: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """A range of a feed's instances that a process instance reads.

    Attributes:
        start: EL expression of the first.
        end: EL expression of the last, which is included.
        partition: sub-directories to read, in the order of the feed's partitions.
        optional: the process does not wait for it.
    """

    feed: str
    start: str
    end: str
    partition: str | None = None
    optional: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """A feed instance that a process instance makes.

    Attributes:
        instance: EL expression.
        allow_empty: the workflow has succeeded also when it made nothing of it.
        allow_existing: the workflow has succeeded also when it left what was there as it was.
        suites: of expectations, besides those of the feed.
        prepare: what an attempt does to it before its first step; None: nothing.
        scope: how long it stays.
    """

    feed: str
    instance: str
    allow_empty: bool = False
    allow_existing: bool = False
    suites: tuple[str, ...] = ()
    prepare: Prepare | None = None
    scope: OutputScope = OutputScope.SERIES


@dataclass(frozen=True, kw_only=True, slots=True)
class Process:
    """A process.

    Attributes:
        domain: business domain.
        pipelines: for search and lineage.
        parallel: so many instances may run at once.
        schedule: what starts instances.
        trigger: which updates of datasets start instances; None if and only if `schedule` is `only`.
        timeout: how long an instance waits for its inputs; absent: see `effective_timeout`.
        outlets: URIs of datasets, as written, that a successful run updates besides the outputs.
        inlets: URIs of datasets, as written, that a run reads besides the inputs.
        emit: when a successful rerun announces its outputs and outlets again.
        version: rises with incompatible changes.
    """

    KIND: ClassVar[Kind] = Kind.PROCESS

    name: str
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    domain: str | None = None
    pipelines: tuple[str, ...] = ()
    clusters: tuple[ProcessCluster, ...]
    parallel: int = 1
    order: Order = Order.FIFO
    frequency: Frequency
    schedule: ScheduleMode = ScheduleMode.ONLY
    trigger: Trigger | None = None
    timezone: str = "UTC"
    timeout: Frequency | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict)
    outputs: Mapping[str, Output] = field(default_factory=dict)
    outlets: tuple[str, ...] = ()
    inlets: tuple[str, ...] = ()
    emit: Emit = Emit.ON_CHANGE
    properties: Properties = field(default_factory=dict)
    workflow: Workflow
    retry: Retry | None = None
    late_process: LateProcess | None = None
    sla: ProcessSla | None = None
    notification: Notification | None = None
    acl: Acl | None = None
    version: int = 0

    def cluster(self, name: str) -> ProcessCluster:
        """Return the settings of the process for a cluster.

        Raises:
            UnknownName: the process is not on that cluster.
        """
        for each in self.clusters:
            if each.name == name:
                return each
        known = [each.name for each in self.clusters]
        raise UnknownName(what="cluster", name=name, known=known, where=f"process {self.name}")

    @property
    def effective_timeout(self) -> Frequency:
        """Return how long an instance waits for its inputs: `timeout`, else max(6 x frequency, 30 minutes).

        Source: Falcon entity specification, Timeout.
        """
        if self.timeout is not None:
            return self.timeout
        computed = self.frequency.times(6)
        is_short = computed.elapsed is not None and computed.elapsed < timedelta(minutes=30)
        return Frequency(unit=Unit.MINUTES, count=30) if is_short else computed

    def instances_on(self, cluster_name: str) -> InstanceSequence:
        """The instances of the process on a cluster.

        Raises:
            UnknownName: the process is not on that cluster.
        """
        return self.cluster(cluster_name).validity.sequence(self.frequency, self.timezone)

    def sla_on(self, cluster_name: str) -> ProcessSla | None:
        """The SLA on a cluster: its own, else the process's.

        Raises:
            UnknownName: the process is not on that cluster.
        """
        return self.cluster(cluster_name).sla or self.sla
