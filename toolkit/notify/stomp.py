"""Sending by STOMP 1.2: enough of it to hand a message to a broker and to know that it has it.

A library would bring threads, waits and retries of its own, and a subscriber's half; this has one socket with a limit
on each wait, which is all that `delivery` needs.
"""

from __future__ import annotations

import io
import json
import socket
import ssl
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial

from typing_extensions import override

from toolkit.errors import InvalidInput
from toolkit.notify.answers import AnswerStream
from toolkit.notify.channel import Channel, ChannelSession, ChannelUnavailable, MessageRefused, visible
from toolkit.notify.message import Message

WAIT_SECONDS = 5.0
"""So long a broker may take to be connected to, and for each answer as a whole."""
_LONGEST_LINE, _MOST_LINES = 8192, 1000
_ESCAPES = str.maketrans({"\\": "\\\\", "\r": "\\r", "\n": "\\n", ":": "\\c", "\0": "\N{REPLACEMENT CHARACTER}"})


class BadLogin(InvalidInput):
    """A user name or password that STOMP cannot say, since it would end its line; it is not shown."""

    def __init__(self) -> None:
        super().__init__("the user name or password for the broker has a line end or a NUL in it; STOMP has no such")


@dataclass(frozen=True, kw_only=True, slots=True)
class Broker(Channel):
    """A broker, and who asks.

    Attributes:
        host: its name or address.
        port: of its STOMP connector.
        is_tls: over TLS; the broker's certificate is checked.
        user: empty: anonymous.
        password: of the user.
    """

    host: str
    port: int
    is_tls: bool = False
    user: str = ""
    password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if set(self.user + self.password) & {"\r", "\n", "\0"}:
            raise BadLogin

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"stomp{'+ssl' if self.is_tls else ''}://{host}:{self.port}"

    @override
    def open(self) -> StompSession:
        try:
            return StompSession(self)
        except (OSError, UnicodeError) as error:
            raise self.error(error) from error

    def error(self, error: Exception) -> ChannelUnavailable:
        """Return the error that ended a session in a form that may be printed."""
        if isinstance(error, TimeoutError):
            return ChannelUnavailable(why=f"no answer within {WAIT_SECONDS:g} s")
        return ChannelUnavailable(why=self.visible(error))

    def visible(self, answer: object) -> str:
        """Return the other end's message in a form that may be printed: it might repeat a password."""
        return visible(answer, [self.password])


def falcon_keys(message: Message) -> dict[str, str]:
    """Return what a message says by Falcon's names of it; its facts have such names already."""
    return {
        "entityName": message.entity,
        "entityType": message.entity_type,
        "operation": message.operation,
        "cluster": message.cluster,
        "nominalTime": message.instance_key,
        "status": message.status,
        "timeStamp": message.time,
        "messageId": message.message_id,
        **{key: str(value) for key, value in message.facts.items() if value is not None},
    }


def _map_of(keys: Mapping[str, str]) -> bytes:
    """Return the keys once more, in the form that ActiveMQ makes a JMS `MapMessage` of, as Falcon's were."""
    return json.dumps({"map": {"entry": [{"string": [key, value]} for key, value in keys.items()]}}).encode()


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


class StompSession(ChannelSession):
    """A connection to a broker that has accepted who asks.

    Args:
        broker: the other end.

    Raises:
        ChannelUnavailable: the broker does not want it.
        OSError: it is not there, or no broker.
        UnicodeError: its name is none.
    """

    def __init__(self, broker: Broker) -> None:
        self._broker, self._sent = broker, 0
        with ExitStack() as unfinished:
            self._connection = socket.create_connection((broker.host, broker.port), timeout=WAIT_SECONDS)
            unfinished.callback(lambda: self._connection.close())  # noqa: PLW0108 - TLS puts another in its place
            if broker.is_tls:
                context = ssl.create_default_context()
                self._connection = context.wrap_socket(self._connection, server_hostname=broker.host)
            self._stream = AnswerStream(self._connection, lambda: WAIT_SECONDS)
            self._answers = unfinished.enter_context(io.BufferedReader(self._stream))
            self._begin()
            unfinished.pop_all()

    def _begin(self) -> None:
        broker = self._broker
        login = {"login": broker.user, "passcode": broker.password} if broker.user else {}
        headers = {"accept-version": "1.2", "host": broker.host, "heart-beat": "0,0", **login}
        # The one frame that STOMP does not escape, but ActiveMQ reads a backslash as the begin of an escape.
        self._send("CONNECT", (f"{key}:{value}".replace("\\", "\\\\") for key, value in headers.items()))
        command, answered = self._answer()
        if command != "CONNECTED":
            raise ChannelUnavailable(why=f"the broker answered {broker.visible(answered.get('message') or command)}")

    @override
    def send(self, message: Message, recipient: str) -> None:
        """Send to a topic, and wait until the broker says that it has the message."""
        self._sent += 1
        receipt = str(self._sent)
        keys = falcon_keys(message)
        # No content-length: with one, ActiveMQ makes bytes of any body.
        headers = {
            **keys,
            "destination": f"/topic/{recipient}",
            "persistent": "true",
            "receipt": receipt,
            "transformation": "jms-map-json",
        }
        try:
            self._send("SEND", (f"{_escaped(key)}:{_escaped(value)}" for key, value in headers.items()), _map_of(keys))
            command, answered = self._answer()
        except OSError as error:
            raise self._broker.error(error) from error
        if command == "ERROR":
            raise MessageRefused(why=f"the broker answered {self._broker.visible(answered.get('message') or command)}")
        if command != "RECEIPT" or answered.get("receipt-id") != receipt:
            raise ChannelUnavailable(why=f"the broker answered {self._broker.visible(command)}, expected a receipt")

    @override
    def close(self) -> None:
        """End the connection; every message has its receipt, so that nothing more is to be said."""
        with suppress(OSError):
            self._answers.close()
            self._connection.close()

    def _send(self, command: str, headers: Iterable[str], body: bytes = b"") -> None:
        head = "\n".join((command, *headers, "", ""))
        self._connection.sendall(head.encode(errors="replace") + body + b"\0")

    def _answer(self) -> tuple[str, Mapping[str, str]]:
        """The command and headers of the next frame; of those that we get only an error has a body, and is the last.

        Raises:
            OSError: the connection ended, took too long, or is none of STOMP.
        """
        self._stream.begin()
        lines = (self._line() for _ in range(_MOST_LINES))
        command = next((line for line in lines if line), "")  # line ends between frames are signs of life
        headers: dict[str, str] = {}
        for key, _, value in (line.partition(":") for line in iter(partial(next, lines, ""), "")):
            headers.setdefault(key, value)
        return command, headers

    def _line(self) -> str:
        line = self._answers.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise ConnectionError("the other end speaks no STOMP" if line else "the broker ended the connection")
        return line.strip(b"\r\n\0").decode(errors="replace")
