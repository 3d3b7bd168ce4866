"""The cluster entity: where data lives and work runs (Falcon entity specification, Cluster)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from toolkit.el import CanonicalPath, name_service_aliases
from toolkit.entities.ingest import IcebergSettings
from toolkit.entities.values import Acl, Properties
from toolkit.entities.vocabulary import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Interface:
    """An end point of a cluster.

    Attributes:
        endpoint: a URL or host:port; for `spark` a master (``yarn-cluster``, ``local``).
        version: of the service behind it; informative.
    """

    endpoint: str
    version: str | None = None


STOMP_ENDPOINT = re.compile(
    r"stomp(?P<tls>\+ssl)?://(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9._-]+)):(?P<port>\d{1,5})/?"
)
"""End point of a broker to which messages can be sent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokerLogin:
    """Login at a message broker; the password is in an environment variable."""

    user: str
    env: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Messaging:
    """The message broker.

    Attributes:
        endpoint: of its STOMP connector, see `STOMP_ENDPOINT`.
        version: of the broker; informative.
        credential: None: the broker takes messages from anybody.
    """

    endpoint: str
    version: str | None = None
    credential: BrokerLogin | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Interfaces:
    """A cluster's end points.

    Attributes:
        readonly: replication reads here (WebHDFS).
        write: the file system; its end point is the default file system of the cluster's paths.
        execute: the resource manager.
        workflow: the workflow engine.
        registry: the Hive metastore (``thrift://host:9083``).
        messaging: the message broker.
        spark: the Spark master.
        iceberg: the catalog of tables that streaming ingest writes.
    """

    write: Interface
    readonly: Interface | None = None
    execute: Interface | None = None
    workflow: Interface | None = None
    registry: Interface | None = None
    messaging: Messaging | None = None
    spark: Interface | None = None
    iceberg: IcebergSettings | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterLocations:
    """Directories of a cluster: for feedctl's own work, and around the data of tables.

    Attributes:
        tables: below these, partitions may have data outside of their table's own directory.
    """

    staging: str | None = None
    temp: str | None = None
    working: str | None = None
    tables: tuple[str, ...] = ()

    @property
    def work(self) -> Mapping[str, str]:
        """The directories for feedctl's own work by their names, as far as they are given."""
        own = {"staging": self.staging, "temp": self.temp, "working": self.working}
        return {name: text for name, text in own.items() if text is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A cluster.

    Attributes:
        colo: the data centre; `${cluster.colo}` in templates and partition expressions.
        hadoop_conf: Hadoop settings (name services, security), also for the other side's executors.
        properties: template variables and settings, after the feed's own.
        version: rises with incompatible changes; references may ask for it.
    """

    KIND: ClassVar[Kind] = Kind.CLUSTER

    name: str
    description: str | None = None
    owner: str | None = None
    colo: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    interfaces: Interfaces
    locations: ClusterLocations = field(default_factory=ClusterLocations)
    hadoop_conf: Properties = field(default_factory=dict)
    properties: Properties = field(default_factory=dict)
    acl: Acl | None = None
    version: int = 0
    _name_services: Mapping[str, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_name_services", name_service_aliases(self.hadoop_conf))

    @property
    def default_fs(self) -> str:
        """The file system, with an optional root directory, that the cluster's paths are on."""
        return self.interfaces.write.endpoint

    @property
    def name_services(self) -> Mapping[str, str]:
        """Authorities under which its name services are known besides their names, see `name_service_aliases`."""
        return self._name_services

    @property
    def file_systems(self) -> tuple[CanonicalPath, ...]:
        """The directories of its end points, and its other name services; local ones only when its own is local.

        Raises:
            ElError: an end point is no file system.
        """
        own = self.place("/")
        services = (CanonicalPath("hdfs", name, "/") for name in sorted(set(self.name_services.values())))
        found = dict.fromkeys((own, self.place_for_reading("/"), *services))
        return tuple(each for each in found if own.is_local or not each.is_local)

    @property
    def table_roots(self) -> tuple[CanonicalPath, ...]:
        """The places of `ClusterLocations.tables`; local ones only when the cluster's own file system is local.

        Raises:
            ElError: one is no path.
        """
        found = [self.place(f"{text.rstrip('/')}/") for text in self.locations.tables]
        return tuple(each for each in found if self.place("/").is_local or not each.is_local)

    def place(self, text: str) -> CanonicalPath:
        """The place of a path or URI as written for this cluster: two spellings of one place are equal.

        Raises:
            ElError: what cannot be resolved, see `CanonicalPath.parse`.
        """
        return CanonicalPath.parse(text, self.default_fs, self.name_services)

    def place_for_reading(self, text: str) -> CanonicalPath:
        """Do as `place` does, but by the ``readonly`` end point where there is one; a URI of its own stays what it is.

        Raises:
            ElError: what cannot be resolved, see `CanonicalPath.parse`.
        """
        readonly = self.interfaces.readonly
        default_fs = self.default_fs if readonly is None else readonly.endpoint
        return CanonicalPath.parse(text, default_fs, self.name_services)
