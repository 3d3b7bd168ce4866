from __future__ import annotations

import pytest

from tests.unit.doctor.servers import listening, unused_port
from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.services import spark_findings

_CONF = {"HADOOP_CONF_DIR": "/etc/hadoop"}


@pytest.mark.parametrize(
    ("master", "status"),
    [
        ("local", CheckStatus.OK),
        ("local[2]", CheckStatus.OK),
        ("local[*,3]", CheckStatus.OK),
        ("yarn", CheckStatus.OK),
        ("yarn-cluster", CheckStatus.OK),
        ("locale", CheckStatus.WARNING),
        ("mesos://host:5050", CheckStatus.WARNING),
    ],
)
def test_a_master_is_one_that_spark_knows_or_not(master: str, status: CheckStatus) -> None:
    (found,) = spark_findings(master, _CONF)
    assert found.status is status


def test_yarn_needs_its_configuration() -> None:
    (found,) = spark_findings("yarn-cluster", {})
    assert found.status is CheckStatus.WARNING
    (found,) = spark_findings("yarn", {"YARN_CONF_DIR": "/etc/yarn"})
    assert found.status is CheckStatus.OK


def test_a_standalone_master_is_connected_to() -> None:
    with listening() as port:
        (up,) = spark_findings(f"spark://127.0.0.1:{port}", {})
    (down,) = spark_findings(f"spark://127.0.0.1:{unused_port()}", {})
    assert (up.status, down.status) == (CheckStatus.OK, CheckStatus.FAILED)
