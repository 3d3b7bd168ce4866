"""Whether a Spark master of a cluster entity is one, and whether it can be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolkit.doctor.addresses import tcp_findings
from toolkit.doctor.findings import Finding, ok, warning

_LOCAL = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?")
_YARN = frozenset({"yarn", "yarn-client", "yarn-cluster"})


def spark_findings(master: str, variables: Mapping[str, str]) -> Iterator[Finding]:
    """What the master is, and whether somebody listens there.

    Args:
        master: the end point of the cluster's `spark` interface.
        variables: of the environment.
    """
    if _LOCAL.fullmatch(master):
        yield ok(f"{master}: in this process")
    elif master in _YARN:
        if variables.get("HADOOP_CONF_DIR") or variables.get("YARN_CONF_DIR"):
            yield ok(f"{master}: the resource manager of HADOOP_CONF_DIR")
        else:
            todo = "spark-submit needs HADOOP_CONF_DIR or YARN_CONF_DIR to find the resource manager"
            yield warning(f"{master}: neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set here", todo=todo)
    elif master.startswith(("spark://", "k8s://")):
        yield from tcp_findings(master)
    else:
        todo = "write local, local[N], yarn, yarn-client, yarn-cluster, spark://HOST:PORT or k8s://..."
        yield warning(f"{master}: no master that Spark knows", todo=todo)
