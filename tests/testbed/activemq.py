"""An ActiveMQ as tests see it, and a subscriber that reads what others sent."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.testbed.activemq_server import PASSWORD, USER, is_listening
from tests.testbed.client import Testbed, TestbedFailed
from tests.testbed.waiting import becomes_true
from toolkit.notify.routing import TOPIC_OF_ALL

_READY_SECONDS = 60
_NAME, _PROGRAM = "activemq", "broker"
_ESCAPES = {"\\\\": "\\", "\\c": ":", "\\n": "\n", "\\r": "\r"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """A message as a subscriber gets it: its headers, and its body as the broker turned it into text."""

    headers: Mapping[str, str]
    body: str


class Subscriber:
    """Gets the messages of the topics of entities, or of any of Falcon's, maps as XML.

    Args:
        port: of STOMP, on 127.0.0.1.
        topic: the only one whose messages count; empty: all but the one that has those about all entities once more.
    """

    def __init__(self, port: int, topic: str = "") -> None:
        self._topic = topic
        self._connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._stream = self._connection.makefile("rb")
        self._send("CONNECT\naccept-version:1.2\nhost:127.0.0.1\n\n")
        self._frame()
        self._send("SUBSCRIBE\nid:1\ndestination:/topic/FALCON.>\ntransformation:jms-map-xml\nreceipt:s\n\n")
        self._frame()

    def next(self) -> Received:
        """The next message; waits for it."""
        while True:
            found = self._frame()
            topic = found.headers["destination"].removeprefix("/topic/")
            if topic == self._topic or (not self._topic and topic != TOPIC_OF_ALL):
                return found

    def close(self) -> None:
        """End it."""
        self._stream.close()
        self._connection.close()

    def _send(self, frame: str) -> None:
        self._connection.sendall(frame.encode() + b"\0")

    def _frame(self) -> Received:
        frame = bytearray()
        while (byte := self._stream.read(1)) != b"\0":
            if not byte:
                raise TestbedFailed(server=_NAME, why="it ended the connection of a subscriber")
            frame += byte
        head, _, body = frame.decode().lstrip("\n").partition("\n\n")
        pairs = (line.split(":", 1) for line in head.splitlines()[1:])
        return Received(headers={key: _unescaped(value) for key, value in pairs}, body=body)


def _unescaped(value: str) -> str:
    parts = iter(value)
    return "".join(_ESCAPES[each + next(parts)] if each == "\\" else each for each in parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class ActiveMQ:
    """A broker that forgets its messages with its process.

    Args:
        testbed: which owns it.
        port: of STOMP, on 127.0.0.1.
        tls: port of STOMP over TLS.
        certificate: file with the broker's own.
    """

    testbed: Testbed
    port: int
    tls: int
    certificate: Path
    user: str = USER
    password: str = PASSWORD

    @classmethod
    def of(cls, testbed: Testbed) -> Self:
        """The broker, started when it was not.

        Raises:
            Missing: this machine lacks Java, or jars and Maven.
            TestbedFailed: it did not start.
        """
        facts = testbed.facts(_NAME)
        certificate = Path(str(facts["certificate"]))
        return cls(testbed=testbed, port=int(facts["port"]), tls=int(facts["tls"]), certificate=certificate)

    @property
    def uri(self) -> str:
        """In plain text."""
        return f"stomp://127.0.0.1:{self.port}"

    @property
    def tls_uri(self) -> str:
        """Over TLS."""
        return f"stomp+ssl://127.0.0.1:{self.tls}"

    @contextmanager
    def subscriber(self, topic: str = "") -> Iterator[Subscriber]:
        """One that is there before anything is sent."""
        subscriber = Subscriber(self.port, topic)
        try:
            yield subscriber
        finally:
            subscriber.close()

    def stop(self) -> None:
        """Kill it: calls to its ports are refused from now on."""
        self.testbed.stop(_NAME, _PROGRAM, signal.SIGKILL)

    def start(self) -> None:
        """Start it again, without its messages, and wait until it listens.

        Raises:
            TestbedFailed: it does not.
        """
        self.testbed.start(_NAME, _PROGRAM)
        if not becomes_true(lambda: is_listening(self.port) and is_listening(self.tls), seconds=_READY_SECONDS):
            raise TestbedFailed(server=_NAME, why="it does not listen")
