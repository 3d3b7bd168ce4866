"""The checks of one cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.catalogs import open_catalog
from toolkit.bootstrap.mirrors import web_spec
from toolkit.bootstrap.storages import storage_spec
from toolkit.doctor.acting import Acting, acting, acting_findings
from toolkit.doctor.executors import Place
from toolkit.doctor.findings import Check, ok, skipped, warning
from toolkit.doctor.hadoop import hadoop_findings, web_addresses
from toolkit.doctor.kerberos import klist
from toolkit.doctor.metastore import metastore_findings
from toolkit.doctor.services import addresses_of, spark_findings, tcp_findings
from toolkit.doctor.stores import answer_findings, base_findings, location_findings
from toolkit.doctor.tables import table_findings
from toolkit.el import PathTemplate
from toolkit.entities.vocabulary import LocationType
from toolkit.errors import FeedctlError
from toolkit.planning.instance_storage import FeedStorage
from toolkit.storage import open_file_system
from toolkit.storage.hadoop_conf import asks_for_kerberos, hadoop_settings
from toolkit.storage.hdfs.tokens import handed_out
from toolkit.storage.webhdfs.endpoints import name_node_urls
from toolkit.storage.webhdfs.snapshots import open_snapshots

if TYPE_CHECKING:
    from toolkit.doctor.findings import CheckResult
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.repository import Repository
    from toolkit.storage import FileSystem, StorageSpec

_JAVA_SECONDS = 60.0
_WEB = frozenset({"webhdfs", "swebhdfs"})
_LOCATIONS = ("staging", "temp", "working")


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterChecks:
    """Makes the checks of one cluster.

    Attributes:
        cluster: the cluster.
        feeds: those on it.
        seconds: so long one check may take.
        mirrored: directories on it of snapshot mirrors, by the names of the mirrors.
        others: all clusters of the environment; feeds may have locations on their end points.
        variables: of the environment.
    """

    cluster: Cluster
    feeds: tuple[Feed, ...]
    seconds: float
    mirrored: tuple[tuple[str, str], ...] = ()
    others: tuple[Cluster, ...] = ()
    variables: Mapping[str, str]

    @classmethod
    def of(
        cls, cluster: Cluster, repository: Repository, seconds: float, variables: Mapping[str, str]
    ) -> ClusterChecks:
        """The checks of a cluster of a config repo."""
        feeds = [feed for _, feed in sorted(repository.feeds.items()) if _is_on(feed, cluster)]
        environment, clusters = repository.environment, repository.clusters.values()
        others = tuple(each for each in clusters if environment is None or environment.allows(each.name))
        return cls(
            cluster=cluster,
            feeds=tuple(feeds),
            mirrored=tuple(_mirrored(repository, cluster)),
            seconds=seconds,
            others=others,
            variables=variables,
        )

    @property
    def is_kerberos(self) -> bool:
        """True if the cluster asks for Kerberos."""
        try:
            return asks_for_kerberos(self._settings(self._endpoint(self.cluster.default_fs)))
        except FeedctlError:  # a check says so
            return False

    def checks(self) -> Iterator[Check]:
        """Return the checks of the cluster."""
        yield self._check("write", partial(self._answers, self.cluster.default_fs))
        readonly = self.cluster.interfaces.readonly
        if readonly is not None:
            yield self._check("readonly", partial(self._answers, readonly.endpoint))
        yield self._check("identity", self._identity)
        if self._is_hadoop():
            yield self._check("hadoop", self._hadoop)
        for name in _LOCATIONS:
            text = getattr(self.cluster.locations, name)
            if text is not None:
                yield self._check(name, partial(self._location, text))
        for name, text in self.mirrored:
            yield replace(self._check("mirror", partial(self._snapshots, text)), what=name)
        yield from self._bases()
        yield from self._tables()
        yield from self._services()

    def _is_hadoop(self) -> bool:
        return self.cluster.default_fs.startswith(("hdfs:", "webhdfs:", "swebhdfs:"))

    def undescribed(self) -> Iterator[str]:
        """The write end point, when it is on HDFS without a port, and the cluster's own settings do not describe it."""
        endpoint = self.cluster.default_fs
        if not endpoint.startswith("hdfs:") or addresses_of(endpoint):
            return
        with suppress(FeedctlError):  # a check says so
            path = self._endpoint(endpoint)
            if f"dfs.ha.namenodes.{path.authority}" not in {key.lower() for key in self._spec(path).hadoop_conf}:
                yield endpoint

    def places(self) -> Iterable[Place]:
        """The write end point, for executors; none that cannot be understood."""
        try:
            path = self._endpoint(self.cluster.default_fs)
            return [Place(cluster=self.cluster.name, path=path, spec=self._spec(path))]
        except FeedctlError:
            return []

    def _check(self, name: str, look: Callable[[], Iterable[CheckResult]]) -> Check:
        return Check(about=f"cluster {self.cluster.name}", name=name, look=look, seconds=self.seconds)

    def _endpoint(self, text: str) -> CanonicalPath:
        return self.cluster.place(f"{text.rstrip('/')}/")

    def _spec(self, path: CanonicalPath) -> StorageSpec:
        """Open the store as a run for this cluster alone does."""
        return storage_spec(path, (self.cluster,), self.others)

    def _opened(self, path: CanonicalPath) -> FileSystem:
        """The store, without the patience of a run: what is silent now is what is asked for."""
        return open_file_system(self._spec(path), read_only=True, patience=0)

    def _settings(self, path: CanonicalPath) -> Mapping[str, str]:
        return hadoop_settings(self._spec(path), self.variables)

    def _acting(self, path: CanonicalPath) -> Acting:
        """Only Hadoop's own stores are asked for with Hadoop's settings."""
        settings = self._settings(path) if path.scheme in {"hdfs", *_WEB} else {}
        return acting(path.scheme, settings, self.variables, partial(klist, self.variables))

    def _answers(self, endpoint: str) -> Iterator[CheckResult]:
        path = self._endpoint(endpoint)
        yield from answer_findings(path, self._opened)
        if path.scheme == "webhdfs":
            yield from self._token_on_the_way(path)

    def _token_on_the_way(self, path: CanonicalPath) -> Iterator[CheckResult]:
        settings = self._settings(path)
        nodes = [url.partition("://")[2] for url in name_node_urls(path.scheme, path.authority, settings)]
        if handed_out(self._spec(path), nodes, settings, self.variables) is not None:
            todo = "let the NameNodes listen to HTTPS (dfs.http.policy) and use swebhdfs:"
            yield warning(f"the delegation token goes over plain HTTP to {', '.join(nodes)}", todo=todo)

    def _identity(self) -> Iterator[CheckResult]:
        path = self._endpoint(self.cluster.default_fs)
        return acting_findings(path.scheme, lambda: self._acting(path))

    def _hadoop(self) -> Iterator[CheckResult]:
        return hadoop_findings(self._name_nodes())

    def _name_nodes(self) -> Sequence[str]:
        """Their web addresses: WebHDFS is there as well."""
        readonly = self.cluster.interfaces.readonly
        for endpoint in (self.cluster.default_fs, *([] if readonly is None else [readonly.endpoint])):
            path = self._endpoint(endpoint)
            if path.scheme in _WEB:
                return name_node_urls(path.scheme, path.authority, self._settings(path))
        path = self._endpoint(self.cluster.default_fs)
        return web_addresses(path.authority, self._settings(path))

    def _location(self, text: str) -> Iterator[CheckResult]:
        path = self.cluster.place(text)
        return location_findings(path, self._opened, self._acting(path).actor)

    def _snapshots(self, text: str) -> Iterator[CheckResult]:
        """Check that a directory can have snapshots; the error has the administrator's command."""
        path = self.cluster.place(text)
        spec = web_spec(path, self.cluster, self._spec(path), self.variables)
        found = open_snapshots(spec, read_only=True).list(path)
        yield ok(f"{path} can have snapshots, and has {len(found):,}")

    def _bases(self) -> Iterator[Check]:
        for feed in self.feeds:
            is_evicted = feed.cluster(self.cluster.name).retention is not None
            for location, text in feed.locations_on(self.cluster.name).by_type():
                what = feed.name if location is LocationType.DATA else f"{feed.name} {location}"
                look = partial(self._base, feed, text, is_evicted=is_evicted)
                yield replace(self._check("feed", look), what=what)

    def _base(self, feed: Feed, text: str, *, is_evicted: bool) -> Iterator[CheckResult]:
        template = PathTemplate(text, feed.path_timezone).bind(feed.variables_on(self.cluster))
        path = self.cluster.place(f"{template.base}/")
        actor = self._acting(path).actor
        return base_findings(path, self._opened, actor, is_evicted=is_evicted)

    def _tables(self) -> Iterator[Check]:
        """Yield the checks of table feeds; the first one starts Java, which takes its time."""
        for feed in self.feeds:
            if feed.table_on(self.cluster.name) is not None:
                seconds = max(self.seconds, _JAVA_SECONDS)
                yield replace(self._check("feed", partial(self._table, feed)), what=feed.name, seconds=seconds)

    def _table(self, feed: Feed) -> Iterator[CheckResult]:
        table = FeedStorage.of(feed, self.cluster).table
        if self.cluster.interfaces.registry is None:
            yield skipped("the cluster has no registry here, so no action can reach the table")
        elif table is not None:
            yield from table_findings(open_catalog(self.cluster, read_only=True), table)

    def _services(self) -> Iterator[Check]:
        """The services that the entity names; one that it does not have is simply absent."""
        interfaces = self.cluster.interfaces
        looks = (
            ("registry", interfaces.registry, metastore_findings),
            ("execute", interfaces.execute, tcp_findings),
            ("messaging", interfaces.messaging, tcp_findings),
            ("spark", interfaces.spark, partial(spark_findings, variables=self.variables)),
        )
        for name, interface, look in looks:
            if interface is not None:
                yield self._check(name, partial(look, interface.endpoint))


def _mirrored(repository: Repository, cluster: Cluster) -> Iterator[tuple[str, str]]:
    for name, process in sorted(repository.processes.items()):
        mirror = None if process.workflow.mirror is None else process.workflow.mirror.hdfs_snapshot
        if mirror is not None:
            ends = zip((mirror.source_cluster, mirror.target_cluster), mirror.directories(), strict=True)
            yield from ((name, directory) for of, directory in ends if of == cluster.name)


def _is_on(feed: Feed, cluster: Cluster) -> bool:
    return any(each.name == cluster.name for each in feed.clusters)
