"""When a Spark context is made, and when it is not."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TypeVar

import pytest

from tests.e2e.commands import ROOT
from toolkit.runs.errors import Stopped
from toolkit.transfer.errors import NoSpark
from toolkit.transfer.executors import Executors, executors, go_on, must_have_context

Task = TypeVar("Task")
Answer = TypeVar("Answer")

YARN_DRIVER = {
    "CONTAINER_ID": "container_1700000000000_0001_01_000001",
    "SPARK_YARN_STAGING_DIR": "hdfs://nn/user/etl/.sparkStaging/application_1700000000000_0001",
    "PYSPARK_GATEWAY_PORT": "40000",
}


@dataclass
class FakeSpark:
    """Stands for the module of the adapter, and for the machines that it makes ready."""

    parallel: int = 3
    output: list[str] = field(default_factory=list)

    def module(self) -> ModuleType:
        """The module; loading it is noted."""
        self.output.append("loaded")
        module = ModuleType("fake")
        module.opened = self.opened  # type: ignore[attr-defined]
        return module

    def opened(self) -> FakeSpark:
        """The machines."""
        self.output.append("opened")
        return self

    def run(
        self, work: Callable[[Task, int], Iterable[Answer]], tasks: Sequence[Task], *, check: Callable[[], None]
    ) -> Iterator[Answer]:
        """As the port says."""
        for task in tasks:
            check()
            yield from work(task, 0)

    def get_ready(self, check: Callable[[], None]) -> None:
        """As the port says."""
        check()
        self.output.append("ready")

    def close(self) -> None:
        """As the port says."""
        self.output.append("closed")


def test_machines_are_made_ready_once_and_given_back() -> None:
    spark = FakeSpark()
    machines = Executors(load=spark.module, check=go_on)
    assert machines.open() is machines.open()
    machines.close()
    machines.close()
    assert spark.output == ["loaded", "opened", "ready", "closed"]


def test_targets_in_several_threads_make_one_application() -> None:
    spark, opened, ready = FakeSpark(), list[object](), threading.Event()
    machines = Executors(load=spark.module, check=lambda: None if ready.wait(60) else pytest.fail("never ready"))
    threads = [threading.Thread(target=lambda: opened.append(machines.open())) for _ in range(4)]
    for thread in threads:
        thread.start()
    ready.set()
    for thread in threads:
        thread.join(60)
    assert (spark.output, opened) == (["loaded", "opened", "ready"], [spark] * 4)


def test_a_run_that_is_told_to_stop_does_not_wait_for_executors() -> None:
    def check() -> None:
        raise Stopped(reason="test")

    spark = FakeSpark()
    with pytest.raises(Stopped), executors({}, load=spark.module, check=check) as machines:
        machines.open()
    assert spark.output == ["loaded", "opened", "closed"]


def test_machines_that_nobody_wanted_are_never_made_ready() -> None:
    spark = FakeSpark()
    Executors(load=spark.module, check=go_on).close()
    assert spark.output == []


def test_without_pyspark_the_error_says_what_to_do_and_it_is_tried_once() -> None:
    tried: list[str] = []

    def load() -> ModuleType:
        tried.append("load")
        raise ModuleNotFoundError("No module named 'pyspark'")  # noqa: EM101, TRY003 - what Python says

    machines = Executors(load=load, check=go_on)
    for _ in range(2):
        with pytest.raises(NoSpark, match="No module named 'pyspark'; start the entrypoint with spark-submit"):
            machines.open()
    assert tried == ["load"]


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        pytest.param(YARN_DRIVER, True, id="driver in YARN cluster mode"),
        pytest.param({}, False, id="plain Python"),
        pytest.param({"PYSPARK_GATEWAY_PORT": "40000"}, False, id="client mode"),
        pytest.param(
            {key: value for key, value in YARN_DRIVER.items() if key != "SPARK_YARN_STAGING_DIR"},
            False,
            id="client mode in a container of Oozie",
        ),
        pytest.param(
            {key: value for key, value in YARN_DRIVER.items() if key != "PYSPARK_GATEWAY_PORT"},
            False,
            id="a command in a container of YARN",
        ),
        pytest.param(
            {
                "KUBERNETES_SERVICE_HOST": "10.0.0.1",
                "SPARK_DRIVER_BIND_ADDRESS": "10.0.0.2",
                "PYSPARK_GATEWAY_PORT": "1",
            },
            False,
            id="driver pod, which nobody waits for",
        ),
    ],
)
def test_only_a_driver_in_yarn_cluster_mode_must_have_a_context(variables: Mapping[str, str], wanted: bool) -> None:  # noqa: FBT001 - a case of a table
    assert must_have_context(variables) is wanted


def test_a_driver_that_must_have_a_context_has_it_before_its_work_and_gives_it_back_after_an_error() -> None:
    spark = FakeSpark()

    def drive() -> None:
        with executors(YARN_DRIVER, load=spark.module):
            spark.output.append("worked")
            raise KeyError

    with pytest.raises(KeyError):
        drive()
    assert spark.output == ["loaded", "opened", "worked", "closed"]


def test_any_other_driver_has_none_unless_it_asks() -> None:
    spark = FakeSpark()
    with executors({}, load=spark.module) as machines:
        assert spark.output == []
        machines.open()
    assert spark.output == ["loaded", "opened", "ready", "closed"]


def test_pyspark_is_not_loaded_before_it_is_wanted() -> None:
    script = "import sys, toolkit.transfer.executors; sys.exit('pyspark' in sys.modules or 'py4j' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
