"""A cluster's file system is one that paths can be on."""

from collections.abc import Iterator

from toolkit.el import CanonicalPath, ElError
from toolkit.entities.cluster import Cluster
from toolkit.entities.violation import Violation


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


OWN_CHECKS = (check_write,)
