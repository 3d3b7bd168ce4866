"""The machines that the contract of `ExecutorPool` is checked on."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.testbed.spark import SparkStandalone
from toolkit.transfer.adapters.spark_executors import SparkApplication, opened

QUIET = {"spark.log.level": "OFF", "spark.driver.host": "127.0.0.1", "spark.speculation": "true"}
LOCAL = {**QUIET, "spark.master": "local[2,4]"}


def standalone(cluster: SparkStandalone) -> dict[str, str]:
    """Two executors, processes of their own, which find this checkout."""
    own = {"spark.master": cluster.master_url, "spark.executor.memory": "512m"}
    return {**QUIET, **own, "spark.executorEnv.PYTHONPATH": str(ROOT)}


@contextmanager
def spark(java_home: Path, settings: Mapping[str, str]) -> Iterator[SparkApplication]:
    """Executors of a context in this process; its JVM stays for the next one, with the environment of the first."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", str(java_home))
        environment.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("PYTHONPATH", str(ROOT))
        machines = opened(settings)
    try:
        machines.get_ready(lambda: None)
        yield machines
    finally:
        machines.close()
        gc.collect()  # the sockets that Spark left open, before another module's tests would notice them
