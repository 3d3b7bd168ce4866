"""The supervisor's side of ActiveMQ: the real broker, in memory, with STOMP in plain text and over TLS."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed import java
from tests.testbed.jars import ACTIVEMQ
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.waiting import becomes_true

_START_SECONDS = 120  # with many other processes on two cores
_SECONDS = 60
_SOURCE = Path(__file__).resolve().parent / "activemq" / "Broker.java"
USER, PASSWORD = "feedctl", "a:b\\c pass"
_STORE = ("-keystore", "broker.p12", "-storepass", "broker", "-alias", "broker")
_MADE = ("-genkeypair", "-keyalg", "EC", "-dname", "CN=127.0.0.1", "-ext", "san=ip:127.0.0.1", *_STORE)
_SHOWN = ("-exportcert", "-rfc", "-file", "broker.pem", *_STORE)


class BrokerServer:
    """One process that listens on up to three ports, which stay over restarts.

    Args:
        starter: starts its process.
        directory: of its log and all else that it keeps; `start` makes it.
    """

    def __init__(self, starter: Starter, directory: Path) -> None:
        self._directory = directory
        self._reserved = [reserved_port() for _ in range(3)]
        self._port, self._second, self._third = (int(each.getsockname()[1]) for each in self._reserved)
        self._starter = starter
        self.programs: Mapping[str, Program] = {}

    def _make_certificate(self) -> None:
        """Make a key of 127.0.0.1, and its certificate as broker.pem."""
        for arguments in (_MADE, _SHOWN):
            command = ("keytool", *arguments)
            subprocess.run(
                command, cwd=self._directory, env=java.environment(), check=True, capture_output=True, timeout=_SECONDS
            )

    def _run(self, title: str, command: Command, ready: Callable[[], bool]) -> None:
        """Start the process as `broker`, and wait until it is ready."""
        broker = Program(self._starter, command)
        self.programs = {"broker": broker}
        broker.start()
        if not becomes_true(lambda: broker.check(ready=ready), seconds=_START_SECONDS):
            raise DidNotStart(program=title, log=broker.command.log)


class ActiveMQServer(BrokerServer):
    """A broker; its certificate stays over restarts, its messages do not. Its second port is that of TLS."""

    def start(self) -> None:
        """Make a certificate and start it.

        Raises:
            DidNotStart: with the end of its log.
            Missing: no Java, or no jars and no Maven.
        """
        self._directory.mkdir(parents=True)
        self._make_certificate()
        self._run("ActiveMQ", self._command(), self._listens)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        certificate = str(self._directory / "broker.pem")
        return {"port": self._port, "tls": self._second, "certificate": certificate}

    def _listens(self) -> bool:
        return is_listening(self._port) and is_listening(self._second)

    def _command(self) -> Command:
        key = ("-Djavax.net.ssl.keyStore=broker.p12", "-Djavax.net.ssl.keyStorePassword=broker")
        options = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *key, "-cp", f"{ACTIVEMQ.fetched()}/*")
        connectors = (f"stomp://127.0.0.1:{self._port}", f"stomp+ssl://127.0.0.1:{self._second}")
        return Command(
            arguments=("java", *options, str(_SOURCE), *connectors),
            environment={**java.environment(), "BROKER_USER": USER, "BROKER_PASSWORD": PASSWORD},
            directory=self._directory,
            name="broker",
        )


def is_listening(port: int) -> bool:
    """Return whether the port accepts connections."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
