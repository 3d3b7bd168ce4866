"""The metastore of a cluster, by what the cluster says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec
from toolkit.entities.values import property_text
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.entities import Cluster


class NoRegistry(InvalidInput):
    """A table is asked for on a cluster that names no metastore.

    Args:
        cluster: its name.
    """

    def __init__(self, *, cluster: str) -> None:
        self.cluster = cluster
        super().__init__(
            f"cluster {cluster} has no `registry` interface, which names its metastore; add "
            "`registry: {endpoint: 'thrift://HOST:9083'}` to its interfaces"
        )


def catalog_spec(cluster: Cluster) -> CatalogSpec:
    """How the metastore of a cluster is opened.

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
    return open_metastore(catalog_spec(cluster), read_only=read_only, before_effect=before_effect)
