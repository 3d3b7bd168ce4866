"""Owner of a path or a partition: by the templates of feeds, else by the metastores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.bootstrap.catalogs import catalog_for_reading
from toolkit.catalog.errors import CatalogError
from toolkit.management.table_owners import RequestedPartition, owners_of_location, owners_of_partition

if TYPE_CHECKING:
    from toolkit.entities import Cluster
    from toolkit.entities.lookup import PathOwner
    from toolkit.entities.repository import Repository


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookup:
    """Owners of a path or partition.

    Attributes:
        owners: sorted.
        problems: tables that could not be looked at, so that their feeds may own it, too.
    """

    owners: tuple[PathOwner, ...]
    problems: tuple[CatalogError, ...] = ()


def look_up(repository: Repository, text: str, cluster: str | None) -> Lookup:
    """The feeds that a path, a URI or a partition belongs to.

    Metastores are asked when no template fits a path, since a partition may be anywhere.

    Args:
        repository: all entities.
        text: a path or a partition, see `RequestedPartition.parse`.
        cluster: only there; None: on every cluster.

    Raises:
        UnknownName: no such cluster.
        ElError: neither a path nor a partition.
    """
    clusters = list(repository.clusters.values()) if cluster is None else [repository.cluster(cluster)]
    partition = RequestedPartition.parse(text)
    if partition is not None:
        return Lookup(owners=owners_of_partition(partition, repository.feeds.values(), clusters))
    owners = repository.lookup_path(text, cluster)
    environment = repository.environment
    allowed = [each for each in clusters if environment is None or environment.allows(each.name)]
    return Lookup(owners=owners) if owners else _in_tables(repository, text, allowed)


def _in_tables(repository: Repository, path: str, clusters: list[Cluster]) -> Lookup:
    owners: list[PathOwner] = []
    problems: list[CatalogError] = []
    for feed in repository.feeds.values():
        try:
            owners += owners_of_location(path, [feed], clusters, catalog_for_reading)
        except CatalogError as error:
            problems.append(error)
    return Lookup(owners=tuple(owners), problems=tuple(problems))
