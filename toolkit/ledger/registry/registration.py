"""Registration of a config repo: plain values, and the pure way from a repo to them (DESIGN section 6)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from toolkit.entities import Cluster, Datasource, Process, Step, property_text
from toolkit.entities.nearest import suggestion
from toolkit.entities.repository import Repository
from toolkit.errors import InvalidInput
from toolkit.ledger.vocabulary import ProcessKind


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Site:
    """A process, or a feed that enqueues, on one cluster: what the ledger calls a process (BDRE, PROCESS)."""

    name: str
    cluster: str

    def __str__(self) -> str:
        return f"{self.name} on {self.cluster}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEntry:
    """A step, with what it reads and from whom.

    Attributes:
        name: within its process.
        position: from 0, the order in which the steps run.
        engine: what runs it; None: the process says no more.
        path: what is run.
        is_recoverable: a rerun keeps its success.
        feeds: the feeds that it reads.
        upstreams: who enqueues for it on the same cluster, by name; the value says whether no job waits for it.
    """

    name: str
    position: int
    engine: str | None = None
    path: str | None = None
    is_recoverable: bool = True
    feeds: frozenset[str] = frozenset()
    upstreams: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessEntry:
    """A process on one cluster, or a feed there that no process makes.

    Attributes:
        site: its name and cluster.
        domain: business domain.
        digest: of the merged entity.
        steps: in the order in which they run; a feed has none.
        properties: value by key.
    """

    site: Site
    kind: ProcessKind
    domain: str | None = None
    description: str | None = None
    digest: str
    steps: tuple[StepEntry, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerEntry:
    """Server that can have files.

    Attributes:
        kind: ``cluster`` or ``datasource``.
        endpoint: where it answers, without user, password and options.
    """

    name: str
    kind: str
    endpoint: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Registration:
    """Registration of one state of a config repo.

    Attributes:
        snapshot: the state of the config repo.
        elsewhere: clusters of the repo that its environment may not act on; what is registered there stays as it is.
    """

    snapshot: str
    processes: tuple[ProcessEntry, ...]
    servers: tuple[ServerEntry, ...]
    elsewhere: frozenset[str] = frozenset()


def config_group(key: str) -> str:
    """The group of a property: its key up to the first dot, else ``default`` (BDRE, PROPERTIES)."""
    return key.partition(".")[0] if "." in key else "default"


_SYNC = "`feedctl ledger sync` registers what is in the config repo"


class UnknownProcess(InvalidInput):
    """No such process runs on the cluster: never registered, no longer in the config repo, or a feed.

    Args:
        site: what was asked for.
        found: what is known about it.
        known: the processes that are registered there.
    """

    code = "unknown_process"

    def __init__(self, *, site: Site, found: str, known: Collection[str] = ()) -> None:
        self.process, self.cluster, self.found, self.known = site.name, site.cluster, found, tuple(sorted(known))
        hint = suggestion(site.name, self.known)
        super().__init__(f"process {site} {found}; {hint + '; ' if hint else ''}{_SYNC}")


class UnknownStep(InvalidInput):
    """A process has no such step.

    Args:
        site: the process.
        step: as given.
        known: its steps.
    """

    code = "unknown_step"

    def __init__(self, *, site: Site, step: str, known: Collection[str]) -> None:
        self.process, self.cluster, self.step, self.known = site.name, site.cluster, step, tuple(known)
        hint = suggestion(step, self.known)
        super().__init__(f"process {site} has no step named {step!r}; {hint + '; ' if hint else ''}{_SYNC}")


ONLY_STEP = "main"
"""The step of a process whose workflow has no `steps`."""

_USER_INFO = re.compile(r"(?<=://)[^/@]*@")
_OPTIONS = re.compile(r"[?;].*", re.DOTALL)


def registration_of(repository: Repository, snapshot: str) -> Registration:
    """Return the registration of a repo: its processes on the environment's clusters, and its servers.

    Args:
        repository: all entities, with the environment's overlay.
        snapshot: the state of the config repo.
    """
    acting, producers = _acting_clusters(repository), _producers(repository.processes.values())
    processes = [
        _ProcessSite(repository=repository, process=process, cluster=cluster, producers=producers).entry()
        for process, cluster in _placed(repository, acting)
    ]
    return Registration(
        snapshot=snapshot,
        processes=(*processes, *_feeds(repository, processes)),
        servers=tuple(_servers(repository)),
        elsewhere=frozenset(repository.clusters.keys() - acting),
    )


def entity_digest(repository: Repository, name: str) -> str:
    """The digest of a merged entity: two entities have the same one when they say the same.

    Raises:
        UnknownName: no entity has that name.
    """
    text = json.dumps(repository.merged(name), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _acting_clusters(repository: Repository) -> frozenset[str]:
    chosen = repository.environment.clusters if repository.environment is not None else ()
    return frozenset(chosen or repository.clusters)


def _placed(repository: Repository, clusters: frozenset[str]) -> Iterator[tuple[Process, str]]:
    for _, process in sorted(repository.processes.items()):
        yield from ((process, each.name) for each in process.clusters if each.name in clusters)


@dataclass(frozen=True, kw_only=True, slots=True)
class _ProcessSite:
    """A process on one of its clusters, with who makes which feed on which cluster."""

    repository: Repository
    process: Process
    cluster: str
    producers: Mapping[tuple[str, str], tuple[str, ...]]

    def entry(self) -> ProcessEntry:
        steps = self.process.workflow.steps
        return ProcessEntry(
            site=Site(name=self.process.name, cluster=self.cluster),
            kind=ProcessKind.PROCESS,
            domain=self.process.domain,
            description=self.process.description,
            digest=entity_digest(self.repository, self.process.name),
            steps=tuple(self._step(each, at) for at, each in enumerate(steps)) if steps else (self._only_step(),),
            properties=_properties(self.process),
        )

    def _step(self, step: Step, position: int) -> StepEntry:
        read = self.process.inputs if step.inputs is None else step.inputs
        return StepEntry(
            name=step.name,
            position=position,
            engine=str(step.engine),
            path=step.path,
            is_recoverable=step.recoverable,
            feeds=self._feeds(read),
            upstreams=self._upstreams(read),
        )

    def _only_step(self) -> StepEntry:
        workflow, read = self.process.workflow, self.process.inputs
        return StepEntry(
            name=ONLY_STEP,
            position=0,
            engine=None if workflow.engine is None else str(workflow.engine),
            path=workflow.path,
            feeds=self._feeds(read),
            upstreams=self._upstreams(read),
        )

    def _feeds(self, read: Iterable[str]) -> frozenset[str]:
        return frozenset(self.process.inputs[name].feed for name in read)

    def _upstreams(self, read: Iterable[str]) -> Mapping[str, bool]:
        """Return the producers of the inputs; one that any compulsory input reads from is waited for."""
        found: dict[str, bool] = {}
        for name in read:
            each = self.process.inputs[name]
            for upstream in self._enqueuers(each.feed):
                found[upstream] = found.get(upstream, True) and each.optional
        return dict(sorted(found.items()))

    def _enqueuers(self, feed: str) -> Iterable[str]:
        """The producers of a feed on this cluster, else the feed itself.

        A process that reads what it makes is not its own downstream: its first job would wait for itself.
        """
        producers = self.producers.get((feed, self.cluster), ())
        return (each for each in producers if each != self.process.name) if producers else (feed,)


def _producers(processes: Iterable[Process]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The processes that make a feed, by feed and cluster."""
    found: dict[tuple[str, str], set[str]] = {}
    for each in processes:
        for feed in {output.feed for output in each.outputs.values()}:
            for at in each.clusters:
                found.setdefault((feed, at.name), set()).add(each.name)
    return {key: tuple(sorted(names)) for key, names in found.items()}


def _properties(process: Process) -> dict[str, str]:
    """The process's own, and Spark's settings, which win: Spark gets them whatever else is said."""
    spark = process.workflow.spark.conf if process.workflow.spark is not None else {}
    return {key: property_text(value) for key, value in sorted({**process.properties, **spark}.items())}


def _feeds(repository: Repository, processes: Iterable[ProcessEntry]) -> Iterator[ProcessEntry]:
    """The feeds that enqueue by themselves: read by some step on a cluster without a producer."""
    read = {
        Site(name=upstream, cluster=each.site.cluster)
        for each in processes
        for step in each.steps
        for upstream in step.upstreams
        if upstream in repository.feeds
    }
    for site in sorted(read):
        feed = repository.feeds[site.name]
        yield ProcessEntry(
            site=site,
            kind=ProcessKind.FEED,
            description=feed.description,
            digest=entity_digest(repository, feed.name),
        )


def _servers(repository: Repository) -> Iterator[ServerEntry]:
    for name, cluster in sorted(repository.clusters.items()):
        yield ServerEntry(name=name, kind="cluster", endpoint=_cluster_endpoint(cluster))
    for name, datasource in sorted(repository.datasources.items()):
        yield ServerEntry(name=name, kind="datasource", endpoint=_datasource_endpoint(datasource))


def _cluster_endpoint(cluster: Cluster) -> str:
    return _bare(cluster.interfaces.write.endpoint)


def _datasource_endpoint(datasource: Datasource) -> str | None:
    interface = datasource.interfaces.readonly or datasource.interfaces.write
    return None if interface is None else _bare(interface.endpoint)


def _bare(endpoint: str) -> str:
    """An end point without what may hold a credential: the user part, and the options of a JDBC URL."""
    return _OPTIONS.sub("", _USER_INFO.sub("", endpoint))
