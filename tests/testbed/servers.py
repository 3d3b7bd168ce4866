"""The servers of one run, by name, each started when somebody asks for it first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from tests.testbed.activemq_server import ActiveMQServer
from tests.testbed.azure_server import AzuriteServer
from tests.testbed.builds import BuildFailed
from tests.testbed.gcs_server import GcsServer
from tests.testbed.hdfs_server import HdfsServer
from tests.testbed.jars import MavenFailed, WrongJars
from tests.testbed.kafka_server import KafkaServer
from tests.testbed.metastore_server import MetastoreServer
from tests.testbed.missing import Missing
from tests.testbed.processes import DidNotStart, Program, Starter
from tests.testbed.requests import START, STOP, Request
from tests.testbed.s3_server import S3Server
from tests.testbed.spark_server import SparkServer

Facts = dict[str, str | int]


class Server(Protocol):
    """Some processes that make up one server."""

    programs: Mapping[str, Program]

    def start(self) -> None:
        """Start it and wait until it is ready."""

    def facts(self) -> Facts:
        """Facts that a client needs."""


FACTORIES: Mapping[str, Callable[[Starter, Path], Server]] = {
    "activemq": ActiveMQServer,
    "azure": AzuriteServer,
    "gcs": GcsServer,
    "hdfs": HdfsServer,
    "kafka": KafkaServer,
    "metastore": MetastoreServer,
    "metastore_4": partial(MetastoreServer, release=4),
    "metastore_events": partial(MetastoreServer, keeps_events=True),
    "restartable_hdfs": HdfsServer,
    "restartable_metastore": MetastoreServer,
    "s3": S3Server,
    "spark": SparkServer,
}


class Servers:
    """Those of one run.

    Args:
        starter: starts their processes.
        directory: each has a directory in it.
        factories: how each is made.
    """

    def __init__(
        self, starter: Starter, directory: Path, factories: Mapping[str, Callable[[Starter, Path], Server]] = FACTORIES
    ) -> None:
        self._starter, self._directory, self._factories = starter, directory, factories
        self._locks = {name: threading.Lock() for name in factories}
        self._started: dict[str, Server | str] = {}

    def answer(self, request: Request) -> Facts:
        """Do what is asked; a server that once failed to start is not tried again, and `error` says why."""
        with self._locks[request.server]:
            if request.server not in self._started:
                self._started[request.server] = self._start(request.server)
            server = self._started[request.server]
        return {"error": server} if isinstance(server, str) else _done(server, request)

    def _start(self, name: str) -> Server | str:
        server = self._factories[name](self._starter, self._directory / name)
        try:
            server.start()
        except (BuildFailed, DidNotStart, MavenFailed, Missing, OSError, WrongJars) as failure:
            return str(failure)
        return server


def _done(server: Server, request: Request) -> Facts:
    if request.action == START:
        server.programs[request.program].start()
    if request.action == STOP:
        server.programs[request.program].stop(request.signal)
    return server.facts() | {f"{name}_pid": program.pid or 0 for name, program in server.programs.items()}
