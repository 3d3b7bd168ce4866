"""Checks between values and between entities, which no schema can make; each is one function.

Only what would make an action do something wrong is checked at load; advice is the linter's.
"""

from collections.abc import Callable, Iterator

from toolkit.entities.checks import (
    clusters,
    datasets,
    datasources,
    exchange,
    feed_archives,
    feed_clusters,
    feed_storage,
    ingest,
    ingest_tables,
    monitoring,
    processes,
    triggers,
)
from toolkit.entities.checks.context import Context
from toolkit.entities.checks.references import reference_findings
from toolkit.entities.structure import Entity
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind

_OWN_CHECKS: dict[Kind, tuple[Callable[..., Iterator[Violation]], ...]] = {
    Kind.CLUSTER: clusters.OWN_CHECKS,
    Kind.FEED: (
        *feed_clusters.OWN_CHECKS,
        *feed_storage.OWN_CHECKS,
        *feed_archives.OWN_CHECKS,
        *datasets.OWN_CHECKS,
        *ingest.OWN_CHECKS,
        *exchange.OWN_CHECKS,
        *monitoring.FEED_CHECKS,
    ),
    Kind.PROCESS: (*processes.OWN_CHECKS, *triggers.OWN_CHECKS, *monitoring.PROCESS_CHECKS),
    Kind.DATASOURCE: datasources.OWN_CHECKS,
    Kind.MIRROR: (),
}

_CROSS_CHECKS: dict[Kind, tuple[Callable[..., Iterator[Violation]], ...]] = {
    Kind.CLUSTER: (),
    Kind.FEED: (
        *feed_clusters.CROSS_CHECKS,
        *feed_storage.CROSS_CHECKS,
        *feed_archives.CROSS_CHECKS,
        *ingest.CROSS_CHECKS,
        *ingest_tables.CROSS_CHECKS,
        *exchange.CROSS_CHECKS,
    ),
    Kind.PROCESS: (*processes.CROSS_CHECKS, *triggers.CROSS_CHECKS, *ingest.PROCESS_CHECKS),
    Kind.DATASOURCE: (),
    Kind.MIRROR: (),
}


def own_findings(entity: Entity) -> Iterator[Violation]:
    """Yield the findings about values of one entity that contradict each other."""
    for check in _OWN_CHECKS[entity.KIND]:
        yield from check(entity)


def cross_findings(entity: Entity, context: Context) -> Iterator[Violation]:
    """Yield the findings about an entity and the entities that it refers to."""
    for check in _CROSS_CHECKS[entity.KIND]:
        yield from check(entity, context)


__all__ = ["Context", "cross_findings", "own_findings", "reference_findings"]
