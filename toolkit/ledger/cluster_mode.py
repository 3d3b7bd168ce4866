"""Whether this process runs on whatever machine a cluster chose, where a local file is nobody else's."""

from __future__ import annotations

from collections.abc import Mapping


def cluster_mode(variables: Mapping[str, str]) -> str | None:
    """The kind of container that a cluster started this process in; None: it runs on a machine that somebody chose.

    YARN names the container in CONTAINER_ID, also for the launchers of Oozie. In a driver pod Spark sets
    SPARK_DRIVER_BIND_ADDRESS; a pod by itself, as of a CI runner, is no cluster mode.

    Args:
        variables: of the environment.
    """
    if variables.get("CONTAINER_ID", "").startswith("container_"):
        return "a container of YARN"
    if "KUBERNETES_SERVICE_HOST" in variables and "SPARK_DRIVER_BIND_ADDRESS" in variables:
        return "a driver pod of Kubernetes"
    return None
