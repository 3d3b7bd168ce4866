from __future__ import annotations

import pytest

from tests.unit.doctor.servers import frozen, listening, unused_port
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


def test_a_master_that_takes_the_connection_and_never_answers_is_a_warning() -> None:
    with frozen() as port:
        (found,) = spark_findings(f"spark://127.0.0.1:{port}", {}, seconds=0.5)
    assert (found.status, f"127.0.0.1:{port} answered nothing" in found.found) == (CheckStatus.WARNING, True)
    assert "may hang" in found.todo


def test_a_master_that_refuses_the_question_is_alive() -> None:
    refusal = b"\x00\x00\x00\x00\x00\x00\x00\x53\x08" + bytes(0x53 - 9)
    with listening({b"/files/feedctl-doctor": refusal}) as port:
        (found,) = spark_findings(f"spark://127.0.0.1:{port}", {})
    assert (found.status, "accepts connections" in found.found) == (CheckStatus.OK, True)
