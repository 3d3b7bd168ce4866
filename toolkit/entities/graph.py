"""Dependencies between entities: cluster <- feed <- process, datasource <- feed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from toolkit.entities.errors import UnknownName
from toolkit.entities.feed import Feed
from toolkit.entities.process import Process
from toolkit.entities.structure import Entity


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """The references between entities, both ways; names are global."""

    _needs: Mapping[str, frozenset[str]]
    _needed_by: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, entities: Iterable[Entity]) -> "EntityGraph":
        """The graph of some entities; references to others than these are left out."""
        referenced = {entity.name: frozenset(references(entity)) for entity in entities}
        needed_by: dict[str, set[str]] = {name: set() for name in referenced}
        for name, others in referenced.items():
            for other in others & needed_by.keys():
                needed_by[other].add(name)
        needs = {name: others & needed_by.keys() for name, others in referenced.items()}
        return cls(needs, {name: frozenset(others) for name, others in needed_by.items()})

    def depends_on(self, name: str, *, transitive: bool = False) -> tuple[str, ...]:
        """The names that an entity refers to, sorted; with `transitive` also what those refer to, and so on.

        Raises:
            UnknownName: no entity has that name.
        """
        return self._reached(self._needs, name, transitive=transitive)

    def depended_on_by(self, name: str, *, transitive: bool = False) -> tuple[str, ...]:
        """The names that refer to an entity, sorted; with `transitive` also what refers to those, and so on.

        Raises:
            UnknownName: no entity has that name.
        """
        return self._reached(self._needed_by, name, transitive=transitive)

    def _reached(self, edges: Mapping[str, frozenset[str]], name: str, *, transitive: bool) -> tuple[str, ...]:
        if name not in edges:
            raise UnknownName(what="entity", name=name, known=edges)
        reached = set(edges[name])
        pending = list(reached) if transitive else []
        while pending:
            further = edges[pending.pop()] - reached
            reached |= further
            pending.extend(further)
        return tuple(sorted(reached))


def references(entity: Entity) -> Iterator[str]:
    """The names that an entity refers to; one may come several times."""
    if isinstance(entity, Feed):
        yield from (cluster.name for cluster in entity.clusters)
        yield from archives_of(entity)
        yield from datasources_of(entity)
    elif isinstance(entity, Process):
        yield from (cluster.name for cluster in entity.clusters)
        yield from (each.feed for each in entity.inputs.values())
        yield from (each.feed for each in entity.outputs.values())
        for mirrored in entity.workflow.mirror.given().values() if entity.workflow.mirror else ():
            yield from (mirrored.source_cluster, mirrored.target_cluster)


def archives_of(feed: Feed) -> Iterator[str]:
    """The clusters that a feed's old instances are archived on."""
    for cluster in feed.clusters:
        archived = feed.archive_on(cluster.name)
        if archived is not None:
            yield archived.clusters[0].name


def datasources_of(feed: Feed) -> Iterator[str]:
    """The datasources that a feed is imported from or exported to."""
    for cluster in feed.clusters:
        if cluster.import_ is not None:
            yield cluster.import_.source.name
        if cluster.export is not None:
            yield cluster.export.target.name
