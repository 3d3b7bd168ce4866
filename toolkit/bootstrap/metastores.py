"""How the metastore of a cluster is reached, by what the cluster says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec
from toolkit.entities.values import property_text
from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.entities import Cluster


class NoRegistry(InvalidInput):
    """A table feed on a cluster without a metastore.

    Args:
        cluster: name.
    """

    def __init__(self, *, cluster: str) -> None:
        self.cluster = cluster
        instead = "add interfaces: {registry: {endpoint: 'thrift://HOST:9083'}} to it"
        super().__init__(f"cluster {cluster} has no registry, so nobody knows its tables; {instead}")


def catalog_spec(cluster: Cluster) -> CatalogSpec:
    """How the metastore of a cluster is opened: by its registry, with its Hadoop settings.

    Raises:
        NoRegistry: it has none.
    """
    registry = cluster.interfaces.registry
    if registry is None:
        raise NoRegistry(cluster=cluster.name)
    conf = {key.strip(): property_text(value) for key, value in cluster.hadoop_conf.items()}
    return CatalogSpec(uris=registry.endpoint, hadoop_conf=conf)


def metastore_of(cluster: Cluster, *, read_only: bool) -> Metastore:
    """The metastore of a cluster.

    Args:
        cluster: whose.
        read_only: every call that would change it raises `ReadOnlyCatalog`.

    Raises:
        NoRegistry: the cluster has none.
        InvalidInput: its end point cannot be used.
        CatalogError: it cannot be opened here.
    """
    return open_metastore(catalog_spec(cluster), read_only=read_only)
