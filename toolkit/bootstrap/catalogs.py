"""The metastore of a cluster, by what the cluster says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolkit.availability import NoRegistry
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec
from toolkit.entities.values import property_text

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.entities import Cluster


def catalog_spec(cluster: Cluster) -> CatalogSpec:
    """Return how the metastore of a cluster is opened.

    Raises:
        NoRegistry: the cluster names none.
    """
    registry = cluster.interfaces.registry
    if registry is None:
        raise NoRegistry(cluster=cluster.name)
    settings = {key.strip(): property_text(value) for key, value in cluster.hadoop_conf.items()}
    return CatalogSpec(uris=registry.endpoint, hadoop_conf=settings)


def open_catalog(
    cluster: Cluster, *, read_only: bool = False, before_effect: Callable[[], None] = lambda: None
) -> Metastore:
    """The metastore of a cluster; see `toolkit.catalog.opening.open_metastore`.

    Raises:
        NoRegistry: the cluster names none.
        InvalidInput: its end point cannot be used.
        MetastoreFailure: there is no pyspark here.
    """
    policy = LocationPolicy(cluster=cluster)
    return open_metastore(catalog_spec(cluster), policy, read_only=read_only, before_effect=before_effect)


def catalog_for_reading(cluster: Cluster) -> Metastore:
    """The metastore of a cluster; every call that would change it raises `ReadOnlyCatalog`.

    Raises: as `open_catalog`.
    """
    return open_catalog(cluster, read_only=True)
