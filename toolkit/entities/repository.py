"""A loaded config repo: its entities by name, its settings, and what can be asked about them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from toolkit.el import dataset_uri
from toolkit.entities.calendar import Calendar
from toolkit.entities.cluster import Cluster
from toolkit.entities.datasource import Datasource
from toolkit.entities.documents import Document
from toolkit.entities.entity_loading import EntityEntry
from toolkit.entities.errors import UnknownName
from toolkit.entities.feed import Feed
from toolkit.entities.graph import EntityGraph
from toolkit.entities.holds import Hold
from toolkit.entities.layers import ValueOrigin, origin, origins
from toolkit.entities.lookup import PathOwner, owners
from toolkit.entities.mirror_types import MirrorType
from toolkit.entities.pointers import value_at
from toolkit.entities.process import Process
from toolkit.entities.quality import Suite
from toolkit.entities.repo import Environment, RepoSettings
from toolkit.entities.structure import Entity
from toolkit.entities.trigger import Dataset
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer

N = TypeVar("N")


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Selection of entities; a field that is not given does not restrict.

    Attributes:
        kind: of this kind.
        tags: with all these tags.
        groups: feeds in one of these groups.
        owner: of this owner.
        pipelines: processes in one of these pipelines.
        letters: with these letters in their names, in this order, whatever their case and whatever is between them.
    """

    kind: Kind | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    owner: str | None = None
    pipelines: tuple[str, ...] = ()
    letters: str = ""

    def takes(self, entity: Entity) -> bool:
        """Return whether the entity is selected."""
        return (
            self.kind in {None, entity.KIND}
            and self.owner in {None, entity.owner}
            and all(entity.tags.get(key) == value for key, value in self.tags.items())
            and (not self.groups or (isinstance(entity, Feed) and not set(self.groups).isdisjoint(entity.groups)))
            and (not self.pipelines or (isinstance(entity, Process) and bool({*self.pipelines} & {*entity.pipelines})))
            and _has_in_order(entity.name.casefold(), self.letters.casefold())
        )


def _has_in_order(name: str, letters: str) -> bool:
    rest = iter(name)
    return all(letter in rest for letter in letters)


@dataclass(frozen=True, kw_only=True)
class Repository:
    """All usable entities of one config repo in one environment.

    Attributes:
        settings: of repo.yaml, with the environment's overlay.
        environment: the one that was asked for, or the repo's default; None: no environment.
        environments: all environments by name.
        holds: of holds.yaml.
        mirrors: as they are written, by name; the entities that they stand for are among the others.
        mirror_types: the usable ones, by name.
        suites: of expectations, by name.
        calendars: of deadlines, by name.
        read_document: reads the merged document of a name without its entity; None: all entities are made already.
    """

    clusters: Mapping[str, Cluster]
    feeds: Mapping[str, Feed]
    processes: Mapping[str, Process]
    datasources: Mapping[str, Datasource]
    settings: RepoSettings
    environment: Environment | None
    environments: Mapping[str, Environment]
    holds: tuple[Hold, ...]
    entries: Mapping[str, EntityEntry] = field(repr=False)
    mirrors: Mapping[str, EntityEntry] = field(default_factory=dict, repr=False)
    mirror_types: Mapping[str, MirrorType] = field(default_factory=dict, repr=False)
    suites: Mapping[str, Suite] = field(default_factory=dict, repr=False)
    calendars: Mapping[str, Calendar] = field(default_factory=dict, repr=False)
    read_document: Callable[[str], Document] | None = field(default=None, repr=False)

    @cached_property
    def datasets(self) -> Mapping[str, Dataset]:
        """Return the datasets of `repo.yaml` by their canonical URIs."""
        return {dataset_uri.parse(each.uri).text: each for each in self.settings.datasets}

    @cached_property
    def graph(self) -> EntityGraph:
        """Return the graph of the entities and their references."""
        return EntityGraph.of(self.entities())

    def entity(self, name: str) -> Entity:
        """The entity of a name, of whatever kind.

        Raises:
            UnknownName: no entity has that name.
        """
        found = self._entry(name).entity
        if found is None:
            raise UnknownName(what="entity", name=name, known=[each.name for each in self.entities()])
        return found

    def cluster(self, name: str) -> Cluster:
        """A cluster.

        Raises:
            UnknownName: no cluster has that name.
        """
        return _named(self.clusters, Kind.CLUSTER, name)

    def feed(self, name: str) -> Feed:
        """A feed.

        Raises:
            UnknownName: no feed has that name.
        """
        return _named(self.feeds, Kind.FEED, name)

    def process(self, name: str) -> Process:
        """A process.

        Raises:
            UnknownName: no process has that name.
        """
        return _named(self.processes, Kind.PROCESS, name)

    def datasource(self, name: str) -> Datasource:
        """A datasource.

        Raises:
            UnknownName: no datasource has that name.
        """
        return _named(self.datasources, Kind.DATASOURCE, name)

    def entities(self) -> Iterator[Entity]:
        """Yield all usable entities, sorted by name."""
        for _, entry in sorted(self.entries.items()):
            if entry.entity is not None:
                yield entry.entity

    def select(self, selection: Selection) -> tuple[Entity, ...]:
        """The entities that a selection takes, sorted by name; mirrors only if it is of this kind."""
        mirrors = (entry.entity for _, entry in sorted(self.mirrors.items()) if entry.entity is not None)
        entities = mirrors if selection.kind is Kind.MIRROR else self.entities()
        return tuple(each for each in entities if selection.takes(each))

    def expanded(self, mirror: str) -> tuple[EntityEntry, ...]:
        """Return the entities that a mirror stands for, sorted by name.

        Raises:
            UnknownName: no mirror has that name.
        """
        file = _named(self.mirrors, Kind.MIRROR, mirror).file
        return tuple(entry for _, entry in sorted(self.entries.items()) if entry.file == file)

    def merged(self, name: str) -> Document:
        """An entity's merged document.

        Raises:
            UnknownName: no entity has that name.
        """
        return self._entry(name).document

    def feed_documents(self) -> Iterator[tuple[str, Document]]:
        """Yield the merged document of each usable feed by its name; no feed is made for it."""
        return self._documents(self.feeds)

    def process_documents(self) -> Iterator[tuple[str, Document]]:
        """Yield the merged document of each usable process by its name; no process is made for it."""
        return self._documents(self.processes)

    def _documents(self, names: Iterable[str]) -> Iterator[tuple[str, Document]]:
        read = self.merged if self.read_document is None else self.read_document
        return ((name, read(name)) for name in names)

    def shown(self, name: str, *, expanded: bool = False) -> tuple[EntityEntry, ...]:
        """Return an entity as it is written, a mirror too; or, expanded, what a mirror of this name stands for.

        Raises:
            UnknownName: no entity has that name.
        """
        if name in self.mirrors:
            return self.expanded(name) if expanded else (self.mirrors[name],)
        return (self._entry(name),)

    def origins(self, name: str) -> Mapping[Pointer, ValueOrigin]:
        """File, line and column of every leaf of an entity's merged document.

        Raises:
            UnknownName: no entity has that name.
        """
        entry = self._entry(name)
        return origins(entry.layers, entry.document)

    def place(self, name: str, *pointers: Pointer) -> str:
        """File and line of the first of these values that an entity's merged document has, else of the entity's file.

        Raises:
            UnknownName: no entity has that name.
        """
        entry = self._entry(name)
        for pointer in pointers:
            found = (
                origin(entry.layers, entry.document, pointer) if value_at(entry.document, pointer) is not None else None
            )
            if found is not None:
                return f"{found.file}:{found.value.line}"
        return entry.file

    def file_of(self, name: str) -> str:
        """The file that an entity is written in.

        Raises:
            UnknownName: no entity has that name.
        """
        return self.mirrors[name].file if name in self.mirrors else self._entry(name).file

    def holds_on(self, feed: str, cluster: str) -> tuple[Hold, ...]:
        """The holds on a feed's instances on a cluster."""
        return tuple(each for each in self.holds if each.concerns(feed, cluster))

    def lookup_path(self, path: str, cluster: str | None = None) -> tuple[PathOwner, ...]:
        """Return which feeds a path belongs to.

        Args:
            path: a path, or a URI.
            cluster: only there; None: on every cluster.

        Raises:
            UnknownName: no such cluster.
            ElError: the path is relative or has an unknown scheme.
        """
        clusters = list(self.clusters.values()) if cluster is None else [self.cluster(cluster)]
        return owners(path, self.feeds.values(), clusters)

    def _entry(self, name: str) -> EntityEntry:
        if name not in self.entries:
            raise UnknownName(what="entity", name=name, known=self.entries)
        return self.entries[name]


def _named(entities: Mapping[str, N], kind: Kind, name: str) -> N:
    if name not in entities:
        raise UnknownName(what=kind, name=name, known=entities)
    return entities[name]
