"""A run that a cluster placed is told from one on a machine that somebody chose."""

from __future__ import annotations

import pytest

from toolkit.ledger.sqlite_place import cluster_mode

YARN = {"CONTAINER_ID": "container_e17_1410901177871_0001_01_000001", "PYSPARK_GATEWAY_PORT": "40001"}
DRIVER_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "SPARK_DRIVER_BIND_ADDRESS": "10.1.2.3"}


@pytest.mark.parametrize(
    ("variables", "found"), [(YARN, "a container of YARN"), (DRIVER_POD, "a driver pod of Kubernetes")]
)
def test_containers_of_clusters_are_known(variables: dict[str, str], found: str) -> None:
    assert cluster_mode(variables) == found


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"PYSPARK_GATEWAY_PORT": "40001", "SPARK_HOME": "/opt/spark"},
        {"KUBERNETES_SERVICE_HOST": "10.96.0.1"},
        {"CONTAINER_ID": "9d1f8a2c"},
        {"SPARK_DRIVER_BIND_ADDRESS": "10.1.2.3"},
    ],
    ids=["a shell", "client mode", "a runner of CI in a pod", "another container", "a setting of client mode"],
)
def test_other_places_are_machines_that_somebody_chose(variables: dict[str, str]) -> None:
    assert cluster_mode(variables) is None
