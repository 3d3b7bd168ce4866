"""The supervisor's side of an HDFS: a NameNode and a DataNode, the real ones."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed import java
from tests.testbed.hdfs_settings import HdfsPorts, write_settings
from tests.testbed.hdfs_state import is_ready
from tests.testbed.jars import Jars
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.waiting import becomes_true

_START_SECONDS = 240  # with many other processes on two cores
_QUICK_START = "-XX:TieredStopAtLevel=1"
OF_NAMENODES = "FEEDCTL_TESTBED_NAMENODE"
"""Variable with more options of a NameNode's Java: benchmarks want its second compiler, tests would wait for it."""
_JAVA_OPTIONS = (
    "-XX:+UseSerialGC",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",  # WebHDFS's JAXB defines classes; without, it answers 500
)
_PACKAGE = "org.apache.hadoop.hdfs.server"
_NAMENODE = (f"{_PACKAGE}.namenode.NameNode",)
_DATANODE = (f"{_PACKAGE}.datanode.DataNode",)
_FORMAT = (*_NAMENODE, "-format", "-force", "-nonInteractive")


class HdfsServer:
    """One cluster with a directory of its own; the ports stay its own while a server is down.

    Args:
        starter: starts its processes.
        directory: a new one is made there, with the cluster's configuration, data and logs.
        namenode_heap: of the NameNode, as Java wants it; a million directories fit into 1 GiB.
    """

    def __init__(self, starter: Starter, directory: Path, *, namenode_heap: str = "1g") -> None:
        self._directory = directory
        self._reserved = [reserved_port() for _ in range(5)]
        self._ports = HdfsPorts(*(each.getsockname()[1] for each in self._reserved))
        self._jars = Jars()
        self.programs: Mapping[str, Program] = {}
        self._starter, self._heap = starter, namenode_heap

    def start(self) -> None:
        """Format it and start both servers.

        Raises:
            DidNotStart: with the end of the log of the server that did not.
            Missing: no Java, or no jars and no Maven.
            WrongJars: Maven did not bring what is pinned.
        """
        write_settings(self._directory, self._ports, java.account())
        self._format()
        options = os.environ.get(OF_NAMENODES, "").split()
        self.programs = {
            "namenode": Program(self._starter, self._command("namenode", self._heap, (*options, *_NAMENODE))),
            "datanode": Program(self._starter, self._command("datanode", "256m", (_QUICK_START, *_DATANODE))),
        }
        for program in self.programs.values():
            program.start()
        if not becomes_true(self._is_ready, seconds=_START_SECONDS):
            raise DidNotStart(program="HDFS", log=self.programs["namenode"].command.log)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {
            "rpc": self._ports.rpc,
            "http": self._ports.http,
            "data_http": self._ports.data_http,
            "directory": str(self._directory),
            "superuser": java.account(),
        }

    def _is_ready(self) -> bool:
        return all(program.check(ready=self._answers) for program in self.programs.values())

    def _answers(self) -> bool:
        return is_ready(self._ports.http, self._ports.data_http)

    def _format(self) -> None:
        command = self._command("format", "256m", (_QUICK_START, *_FORMAT))
        process = self._starter.start(command)
        try:
            ended = process.wait(_START_SECONDS)
        except subprocess.TimeoutExpired:
            ended = 1
        if ended:
            raise DidNotStart(program="NameNode -format", log=command.log)

    def _command(self, name: str, heap: str, main: tuple[str, ...]) -> Command:
        class_path = f"{self._directory / 'conf'}:{self._directory}:{self._jars.fetched()}/*"
        arguments = ("java", f"-Xmx{heap}", *_JAVA_OPTIONS, "-cp", class_path, *main)
        return Command(arguments=arguments, environment=java.environment(), directory=self._directory, name=name)
