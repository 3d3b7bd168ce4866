"""What an instance of a process reads and makes, as the ledger's calls take it (DESIGN section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.el import format_instant, parse_instant
from toolkit.entities import Cluster, LocationType
from toolkit.entities.repository import Repository
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.planning.instance_storage import FeedStorage, InstanceStorage
from toolkit.planning.process_io import ProcessSite, depends_on_availability, partition_uri


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolvedInputs:
    """The instances that a process instance reads, as far as the config repo alone can tell.

    Attributes:
        instances: oldest first, input by input.
        unresolved: the names of the inputs that count available instances (`latest`, `future`), and so are left out.
    """

    instances: tuple[FeedInstance, ...]
    unresolved: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class JobIo:
    """The inputs and outputs of one instance of a process on a cluster.

    Attributes:
        site: the process there.
        instance_key: its nominal time.
    """

    site: ProcessSite
    instance_key: str

    @classmethod
    def of(cls, repository: Repository, process: str, cluster: str, instance_key: str) -> JobIo:
        """The inputs and outputs of an instance.

        Raises:
            UnknownName: no such process or cluster, or the process is not there.
            ElError: the process has no such instance there.
        """
        found = repository.process(process)
        found.instances_on(cluster).index(parse_instant(instance_key))
        site = ProcessSite(process=found, cluster=repository.cluster(cluster), feeds=repository.feeds)
        return cls(site=site, instance_key=instance_key)

    def inputs(self) -> ResolvedInputs:
        """What the instance reads; what is optional is taken for there.

        Raises:
            ElError: an expression that cannot be resolved.
        """
        names = self.site.process.inputs
        unresolved = tuple(name for name, each in names.items() if depends_on_availability(each))
        read = [instance for name in names if name not in unresolved for instance in self._read(name)]
        return ResolvedInputs(instances=tuple(dict.fromkeys(read)), unresolved=unresolved)

    def outputs(self) -> tuple[FeedInstance, ...]:
        """What the instance makes, with its place.

        Raises:
            ElError: an expression that cannot be resolved.
            BeforeFirstInstance: an expression means a time before the feed's first instance.
        """
        made = self.site.outputs(parse_instant(self.instance_key))
        return tuple(self._instance(each.storage, each.instance) for each in made)

    def _read(self, name: str) -> Iterator[FeedInstance]:
        planned = self.site.input(name, parse_instant(self.instance_key))
        return (self._instance(planned.storage, each) for each in planned.instances)

    def _instance(self, storage: FeedStorage, instance: InstanceStorage) -> FeedInstance:
        return FeedInstance(
            feed=storage.feed,
            cluster=storage.cluster,
            instance_key=format_instant(instance.instant),
            uri=_uri(self.site.cluster, storage, instance),
        )


def _uri(cluster: Cluster, storage: FeedStorage, instance: InstanceStorage) -> str:
    """Where the data is: a path with its store, or a partition with its metastore."""
    if storage.table is not None and instance.partition is not None:
        registry = cluster.interfaces.registry
        return partition_uri("" if registry is None else registry.endpoint, storage.table, instance.partition)
    return str(cluster.place(instance.paths[LocationType.DATA]))
