"""Exceptions of a JVM beside that of Spark: they reach the caller, whatever Spark's JVM has under their numbers."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from py4j.protocol import Py4JError

from toolkit.java_errors import keep_from_spark

_ABSENT_DRIVER = """
from pyspark.sql import SparkSession
from toolkit.entities.vocabulary import DatasourceType
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.port import JdbcAccess
from toolkit.variables import process_variables

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
objects = [session._jvm.org.apache.spark.SparkConf() for _ in range(300)]
java = JdbcGateway((), process_variables())
access = JdbcAccess(name="crm", type=DatasourceType.POSTGRES, url="jdbc:postgresql:x", driver_class="no.such.Driver")
kinds = set()
for _ in range(60):
    try:
        java.connect(access)
    except Exception as error:
        kinds.add(type(error).__name__)
print(*sorted(kinds))
java.close()
session.stop()
"""


class _Client:
    """Gives one answer to every call."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def send_command(self, _command: str) -> object:
        return self.answer


@pytest.mark.parametrize("answer", ["xsit failed", ("xsit failed", "a connection")])
def test_an_exception_is_raised_before_others_look_at_it(answer: object) -> None:
    client = _Client(answer)
    keep_from_spark(SimpleNamespace(_gateway_client=client))
    with pytest.raises(Py4JError, match="it failed"):
        client.send_command("c")


def test_an_answer_is_passed_on() -> None:
    client = _Client("ysdone")
    keep_from_spark(SimpleNamespace(_gateway_client=client))
    assert client.send_command("c") == "ysdone"


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.usefixtures("java_home")
def test_an_exception_of_a_driver_is_its_own_while_spark_runs() -> None:
    found = subprocess.run(
        [sys.executable, "-c", _ABSENT_DRIVER], capture_output=True, text=True, check=False, timeout=200
    )
    assert found.stdout.strip() == "DriverMissing", found.stderr
