"""The supervisor's side of Spark standalone: a master and two workers, with pyspark's own programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pyspark

from tests.databases.port import reserved_port
from tests.testbed import java
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.quick_spark import QUICK_JAVA
from tests.testbed.waiting import becomes_true, state

_START_SECONDS = 240  # with many other processes on two cores
_PACKAGE = "org.apache.spark.deploy"
_WORKERS = ("worker1", "worker2")
_HOME = Path(pyspark.__file__).resolve().parent


class SparkServer:
    """A cluster of two executors' worth: each worker has one core and memory for a driver and an executor.

    Args:
        starter: starts its processes.
        directory: a new one is made there, with logs and what the workers keep of applications.
    """

    def __init__(self, starter: Starter, directory: Path) -> None:
        self._starter, self._directory = starter, directory
        self._reserved = [reserved_port() for _ in range(3)]
        self._port, self._rest, self._web = (int(each.getsockname()[1]) for each in self._reserved)
        self.programs: Mapping[str, Program] = {}

    def start(self) -> None:
        """Start the master and the workers.

        Raises:
            DidNotStart: with the end of the log of what did not.
            Missing: no Java.
        """
        self._directory.mkdir(parents=True)
        self.programs = {"master": self._master(), **{name: self._worker(name) for name in _WORKERS}}
        for program in self.programs.values():
            program.start()
        if not becomes_true(self._is_ready, seconds=_START_SECONDS):
            raise DidNotStart(program="Spark", log=self.programs["master"].command.log)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {"port": self._port, "rest": self._rest, "web": self._web, "home": str(_HOME)}

    def _is_ready(self) -> bool:
        return all(program.check(ready=self._knows_workers) for program in self.programs.values())

    def _knows_workers(self) -> bool:
        return state(self._web, "/json/").get("aliveworkers") == len(_WORKERS)

    def _master(self) -> Program:
        rest = f"-Dspark.master.rest.enabled=true -Dspark.master.rest.port={self._rest}"
        arguments = ("--port", str(self._port), "--webui-port", str(self._web))
        return self._program("master", f"{_PACKAGE}.master.Master", arguments, rest)

    def _worker(self, name: str) -> Program:
        arguments = (f"spark://127.0.0.1:{self._port}", "--cores", "1", "--memory", "2g", "--webui-port", "0")
        keeps = ("-d", str(self._directory / name))
        return self._program(name, f"{_PACKAGE}.worker.Worker", (*arguments, *keeps), "")

    def _program(self, name: str, main: str, arguments: tuple[str, ...], options: str) -> Program:
        environment = java.environment() | {
            "SPARK_HOME": str(_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": f"{options} {QUICK_JAVA}".strip(),
            "SPARK_LAUNCHER_OPTS": QUICK_JAVA,
            "SPARK_NO_DAEMONIZE": "1",
            "PYSPARK_PYTHON": sys.executable,
        }
        command = (str(_HOME / "bin" / "spark-class"), main, "--host", "127.0.0.1", *arguments)
        return Program(
            self._starter, Command(arguments=command, environment=environment, directory=self._directory, name=name)
        )
