"""A cluster's file system is one that paths can be on, and its Iceberg catalog one that can be opened."""

from collections.abc import Iterator

from toolkit.el import CanonicalPath, ElError
from toolkit.entities.cluster import Cluster
from toolkit.entities.ingest import CatalogType
from toolkit.entities.violation import Violation

_LOGIN = ("hive.metastore.sasl.enabled", "hive.metastore.use.SSL")


def check_write(cluster: Cluster) -> Iterator[Violation]:
    """The end point of `write` names a store: every path of the cluster's feeds is resolved against it."""
    try:
        CanonicalPath.parse("/", cluster.default_fs)
    except ElError as error:
        yield Violation(
            pointer=("interfaces", "write", "endpoint"),
            rule="bad-url",
            message=f"interfaces.write.endpoint: {error}",
            hint="write it as hdfs://namenode:8020, s3a://bucket or file:///",
        )


def check_iceberg(cluster: Cluster) -> Iterator[Violation]:
    """The address of the catalog is of its type, and a metastore needs no login: PyIceberg's Kerberos is not used."""
    catalog = cluster.interfaces.iceberg
    if catalog is None:
        return
    is_hive = catalog.type is CatalogType.HIVE
    if is_hive != catalog.uri.startswith("thrift://"):
        expected = "thrift://HOST:PORT" if is_hive else "postgresql://HOST:PORT/DATABASE or sqlite:////DIR/FILE"
        yield _refused("uri", f"{catalog.uri} is no catalog of type {catalog.type}, expected {expected}")
    if not is_hive:
        return
    for key in ("user", "env"):
        if getattr(catalog, key) is not None:
            yield _refused(key, f"{key} belongs to type: sql; a metastore of type: hive takes no password")
    for key in _LOGIN:
        if str(cluster.hadoop_conf.get(key, "")).strip().lower() == "true":
            yield _refused("type", f"hadoop_conf has {key}: true, and a catalog of type hive is reached without it")


def _refused(key: str, message: str) -> Violation:
    hint = "name a catalog of type: sql" if key == "type" else ""
    return Violation(pointer=("interfaces", "iceberg", key), rule="ingest", message=message, hint=hint)


OWN_CHECKS = (check_write, check_iceberg)
