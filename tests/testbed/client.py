"""The test bed as tests and scripts use it: servers that start when they are asked for."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.testbed import java
from tests.testbed.builds import BUILDS
from tests.testbed.controller import Controller
from tests.testbed.jars import ACTIVEMQ, KAFKA, METASTORE_4, METASTORE_EVENTS, Jars
from tests.testbed.missing import WITHOUT, LeftOut
from tests.testbed.requests import END, FACTS, START, STOP, Request

_ROOT = Path(__file__).resolve().parents[2]
_ANSWER_SECONDS = 1000  # Maven may have to get the jars first
_CONNECT_SECONDS = 30
_END_SECONDS = 60
Facts = dict[str, str | int]


class TestbedFailed(Exception):  # noqa: N818 - named for what happened
    """A server did not start, or does not do what it should; `why` says more."""

    __test__ = False

    def __init__(self, *, server: str, why: str) -> None:
        self.server, self.why = server, why
        super().__init__(f"the test bed's {server} failed: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Testbed:
    """The servers of one controller: all its processes share them, and they end with it.

    Args:
        controller: whose servers they are.
    """

    __test__ = False

    controller: Controller

    def facts(self, server: str) -> Facts:
        """Return what must be known of a server, which is started when it was not.

        Raises:
            Missing: this machine lacks a program.
            TestbedFailed: it did not start.
        """
        check_machine(server)
        return self._ask(Request(action=FACTS, server=server))

    def start(self, server: str, program: str) -> None:
        """Start a stopped program of a server; it is not ready yet."""
        self._ask(Request(action=START, server=server, program=program))

    def stop(self, server: str, program: str, number: int) -> None:
        """Send a program a signal and wait until it has ended."""
        self._ask(Request(action=STOP, server=server, program=program, signal=number))

    @contextmanager
    def alone(self, server: str) -> Iterator[None]:
        """Use a server with no other process of the same controller beside it."""
        # Whoever waits to be alone keeps the door shut, so that those who share do not pass it for ever.
        with self._locked(f"{server}.door", fcntl.LOCK_EX), self._locked(server, fcntl.LOCK_EX):
            yield

    @contextmanager
    def shared(self, server: str) -> Iterator[None]:
        """Use a server beside others who share it, and never beside one who uses it alone."""
        with contextlib.ExitStack() as held:
            with self._locked(f"{server}.door", fcntl.LOCK_EX):
                held.enter_context(self._locked(server, fcntl.LOCK_SH))
            yield

    @contextmanager
    def _locked(self, name: str, how: int) -> Iterator[None]:
        with (self.controller.directory / f"{name}.lock").open("w") as held:
            fcntl.flock(held, how)
            yield

    def end(self) -> None:
        """End all servers and wait until they are gone; nothing when there are none.

        A supervisor that takes longer than a minute ends them later: it ends with its controller.
        """
        with socket.socket(socket.AF_UNIX) as connection, contextlib.suppress(TimeoutError):
            connection.settimeout(_END_SECONDS)
            try:
                connection.connect(self.controller.address)
            except ConnectionRefusedError:
                return
            connection.sendall(Request(action=END).line().encode())
            connection.recv(1)

    def _ask(self, request: Request) -> Facts:
        with self._connected() as connection, connection.makefile("r") as stream:
            try:
                connection.sendall(request.line().encode())
                line = stream.readline()
            except ConnectionError:
                line = ""
        answer: Facts = json.loads(line or '{"error": "its supervisor ended"}')
        if "error" in answer:
            raise TestbedFailed(server=request.server, why=str(answer["error"]))
        return answer

    def _connected(self) -> socket.socket:
        self._supervise()
        connection, deadline = socket.socket(socket.AF_UNIX), time.monotonic() + _CONNECT_SECONDS
        connection.settimeout(_ANSWER_SECONDS)
        while connection.connect_ex(self.controller.address):
            if time.monotonic() > deadline:
                connection.close()
                raise TestbedFailed(server="supervisor", why="it does not answer")
            time.sleep(0.01)
        return connection

    def _supervise(self) -> None:
        """Have a supervisor; when two processes start one at once, the second of them ends at once."""
        with socket.socket(socket.AF_UNIX) as probe:
            if not probe.connect_ex(self.controller.address):
                return
        controller = (str(self.controller.pid), str(self.controller.started))
        command = (sys.executable, "-m", "tests.testbed.supervisor", *controller)
        environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
        subprocess.run(command, cwd=_ROOT, env=environment, check=True, timeout=_CONNECT_SECONDS)


def check_machine(server: str) -> None:
    """Find out, before anything is started, whether this machine has what a server needs.

    Raises:
        LeftOut: the run does without it.
        Missing: with what to install.
    """
    if server in os.environ.get(WITHOUT, "").split():
        raise LeftOut(server=server)
    if server in BUILDS:
        BUILDS[server].check_available()
    elif server != "s3":
        java.java_home()
    if "hdfs" in server or server == "metastore_4":
        Jars().check_available()
    if server == "activemq":
        ACTIVEMQ.check_available()
    if server == "kafka":
        KAFKA.check_available()
    if server == "metastore_events":
        METASTORE_EVENTS.check_available()
    if server == "metastore_4":
        METASTORE_4.check_available()
