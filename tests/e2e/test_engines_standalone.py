"""Applications of steps on a Spark standalone cluster: their numbers, their ends, and that a stop reaches them."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.testbed.spark import SparkStandalone
from tests.unit.programs.calls import a_call, never
from toolkit.entities import Engine, SparkAttributes, Workflow
from toolkit.programs.opening import ENGINES
from toolkit.programs.port import StepCall, StepMark
from toolkit.runs.errors import Stopped

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(600)]

CONF: dict[str, str | int | float | bool] = {
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.ui.enabled": False,
}
LONG = "SELECT max(sqrt(id)) FROM range(1000000000000)"
MAIN = """
public class Main {
  public static void main(String[] words) throws Exception {
    Thread.sleep(Long.parseLong(words[0]));
    System.exit(Integer.parseInt(words[1]));
  }
}
"""


@pytest.fixture
def jar(tmp_path: Path, spark_cluster: SparkStandalone) -> Path:
    """A driver that waits as long as its first argument says, and exits with its second."""
    compiler = shutil.which("javac", path=f"{spark_cluster.environment['JAVA_HOME']}/bin") or shutil.which("javac")
    if compiler is None:
        pytest.skip("no javac")
    (tmp_path / "Main.java").write_text(MAIN)
    subprocess.run([compiler, "-d", tmp_path, tmp_path / "Main.java"], check=True)
    with zipfile.ZipFile(tmp_path / "main.jar", "w") as archive:
        archive.write(tmp_path / "Main.class", "Main.class")
    return tmp_path / "main.jar"


def call_of(cluster: SparkStandalone, path: Path, engine: Engine, *args: str, **spark: str) -> StepCall:
    workflow = Workflow(spark=SparkAttributes(master=cluster.master_url, conf=CONF, **spark))  # type: ignore[arg-type]
    call = a_call(path.parent, path, *args, engine=engine, workflow=workflow)
    return replace(call, environment={**os.environ, **cluster.environment})


def stopped_when(known: Callable[[StepMark], bool], call: StepCall) -> list[StepMark]:
    """The marks of a step that is stopped as soon as one of them is so."""
    marks: list[StepMark] = []

    def check() -> None:
        if marks and known(marks[-1]):
            raise Stopped(reason="killed")

    with pytest.raises(Stopped):
        ENGINES[call.engine].run(call, marks.append, check)
    return marks


def test_a_script_that_is_stopped_leaves_no_application(spark_cluster: SparkStandalone, tmp_path: Path) -> None:
    (tmp_path / "long.sql").write_text(LONG)
    call = call_of(spark_cluster, tmp_path / "long.sql", Engine.SPARK_SQL)

    def is_busy(mark: StepMark) -> bool:
        return mark.application is not None and "Starting task" in call.log.read_text()

    marks = stopped_when(is_busy, call)

    assert (marks[-1].application or "").startswith("app-")
    spark_cluster.wait_idle()


@pytest.mark.parametrize(("exit_code", "message"), [("0", ""), ("3", "ended as FAILED")])
def test_a_driver_on_the_cluster_counts_by_its_own_end(
    spark_cluster: SparkStandalone, jar: Path, exit_code: str, message: str
) -> None:
    call = call_of(spark_cluster, jar, Engine.SPARK_SUBMIT, "100", exit_code, mode="cluster", class_="Main")

    end = ENGINES[call.engine].run(call, lambda _mark: None, never)

    assert (end.application or "").startswith("driver-")
    assert end.succeeded is not bool(message), end
    assert message in end.message


def test_a_driver_on_the_cluster_ends_with_its_step(spark_cluster: SparkStandalone, jar: Path) -> None:
    call = call_of(spark_cluster, jar, Engine.SPARK_SUBMIT, "600000", "0", mode="cluster", class_="Main")

    def runs(mark: StepMark) -> bool:
        return mark.application is not None and f"State of {mark.application} is RUNNING" in call.log.read_text()

    stopped_when(runs, call)

    spark_cluster.wait_idle()
