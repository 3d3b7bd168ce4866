"""Names of datasets by the naming specification of OpenLineage: one for each feed on a cluster, whatever its instances.

A path of one partition as a name would make a dataset of every instance (OpenLineage#714, OpenLineage#1006).
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from toolkit.el import CanonicalPath
from toolkit.entities import Cluster, Feed, LocationType
from toolkit.planning.instance_storage import FeedStorage

_HDFS_PORT = 8020
_METASTORE_PORT = 9083


class DatasetName(NamedTuple):
    """Name of a dataset.

    Attributes:
        namespace: of the physical store, such as `hdfs://nn.example.com:8020`.
        name: unique in the namespace.
    """

    namespace: str
    name: str


def feed_dataset(feed: Feed, cluster: Cluster) -> DatasetName:
    """Return the name of a feed's data on a cluster.

    A path feed is the directory above the first variable part of its template. If constant names follow that part,
    other feeds may share the directory, and the name is the whole template.

    Raises:
        UnknownName: the feed is not on that cluster.
        ElError: a template or an address is malformed.
    """
    storage = FeedStorage.of(feed, cluster)
    if storage.table is not None:
        return table_dataset(f"{storage.table.database}.{storage.table.table}", cluster)
    template = storage.templates[LocationType.DATA]
    base = path_dataset(cluster.place(template.base))
    variable = template.segments[template.base_depth :]
    if all(each.literal is None for each in variable):
        return base
    return base._replace(name="/".join((base.name.rstrip("/"), *(each.text for each in variable))))


def table_dataset(table: str, cluster: Cluster) -> DatasetName:
    """Return the name of a table, ``database.table``, or of a path where a statement names that instead."""
    if table.startswith("/"):
        return path_dataset(cluster.place(table))
    registry = cluster.interfaces.registry
    address = "" if registry is None else registry.endpoint.partition(",")[0].partition("://")[2]
    return DatasetName(f"hive://{_with_port(address, _METASTORE_PORT)}" if address else "hive", table.lower())


def path_dataset(path: CanonicalPath) -> DatasetName:
    """Return the name of the data at a path; keys of object stores begin without a slash."""
    if path.is_local:
        return DatasetName("file", path.path)
    if path.in_object_store:
        scheme = "abfss" if path.scheme == "abfs" else path.scheme
        return DatasetName(f"{scheme}://{path.authority}", path.path.lstrip("/") or "/")
    authority = path.authority
    if path.scheme == "hdfs" and "." in authority:  # a host; a name service has neither a domain nor a port
        authority = _with_port(authority, _HDFS_PORT)
    return DatasetName(f"{path.scheme}://{authority}", path.path)


def topic_dataset(topic: str, bootstrap: str) -> DatasetName:
    """Return the name of a topic of Kafka; the first broker stands for all."""
    return DatasetName(f"kafka://{bootstrap.partition(',')[0].strip()}", topic)


def _with_port(authority: str, port: int) -> str:
    split = urlsplit(f"//{authority}")
    return authority if split.port is not None else f"{authority}:{port}"
