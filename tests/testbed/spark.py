"""A Spark standalone cluster as tests see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.testbed import java
from tests.testbed.client import Testbed, TestbedFailed
from tests.testbed.quick_spark import QUICK_JAVA, quick_spark
from tests.testbed.waiting import becomes_true, state

_IDLE_SECONDS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class SparkStandalone:
    """A master and two workers of one core each; executors are processes of their own.

    Args:
        port: of the master, on 127.0.0.1.
        rest: of its REST server, which takes `--deploy-mode cluster`.
        web: of its web server.
        home: SPARK_HOME.
    """

    port: int
    rest: int
    web: int
    home: Path

    @classmethod
    def of(cls, testbed: Testbed) -> Self:
        """The test bed's, started when it was not.

        Raises:
            Missing: this machine lacks Java.
            TestbedFailed: it did not start.
        """
        facts = testbed.facts("spark")
        ports = {name: int(facts[name]) for name in ("port", "rest", "web")}
        return cls(**ports, home=Path(str(facts["home"])))

    @property
    def master_url(self) -> str:
        """For `--master`, in client mode."""
        return f"spark://127.0.0.1:{self.port}"

    @property
    def rest_url(self) -> str:
        """For `--master` with `--deploy-mode cluster`."""
        return f"spark://127.0.0.1:{self.rest}"

    @property
    def submit_options(self) -> tuple[str, ...]:
        """Return what spark-submit needs to run a driver here on this cluster."""
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "512m",
            "spark.executor.extraJavaOptions": QUICK_JAVA,
            "spark.ui.enabled": "false",
        }
        return ("--master", self.master_url, *(f"--conf={name}={value}" for name, value in settings.items()))

    @property
    def environment(self) -> dict[str, str]:
        """Environment that spark-submit needs."""
        return java.environment() | quick_spark() | {"SPARK_HOME": str(self.home), "SPARK_LOCAL_IP": "127.0.0.1"}

    def wait_idle(self) -> None:
        """Wait until no application or driver has a core, as after one that was killed.

        Raises:
            TestbedFailed: one still has.
        """
        if not becomes_true(lambda: state(self.web, "/json/").get("coresused") == 0, seconds=_IDLE_SECONDS):
            raise TestbedFailed(server="spark", why=f"an application still runs, see http://127.0.0.1:{self.web}")
