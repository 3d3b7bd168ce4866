"""A real HTTP server that takes events of OpenLineage, and misbehaves as a test tells it to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Manner(Enum):
    """How the server answers."""

    TAKES = auto()
    FAILS = auto()
    REFUSES = auto()
    REDIRECTS = auto()
    CLOSES = auto()
    HANGS = auto()
    DRIPS = auto()


_STATUS = {Manner.TAKES: 201, Manner.FAILS: 500, Manner.REFUSES: 422, Manner.REDIRECTS: 307}


@dataclass(kw_only=True)
class Receiver:
    """The server.

    Attributes:
        manner: of its answers from now on.
        events: that it acknowledged, in their order.
        requests: the path and headers of every request.
    """

    manner: Manner = Manner.TAKES
    port: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def until(self, count: int, seconds: float = 60) -> list[dict[str, Any]]:
        """Return the events when there are so many."""
        latest = time.monotonic() + seconds
        while len(self.events) < count:
            assert time.monotonic() < latest, f"{len(self.events)} of {count} events came"
            time.sleep(0.02)
        return self.events


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        receiver = self.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.requests.append((self.path, dict(self.headers)))
        if receiver.manner in _STATUS:
            self._answer(receiver.manner, body)
            return
        self.close_connection = True
        if receiver.manner is Manner.HANGS:
            receiver.done.wait(30)
        if receiver.manner is Manner.DRIPS:
            self._drip()

    def _answer(self, manner: Manner, body: bytes) -> None:
        if manner is Manner.TAKES:
            self.receiver.events.append(json.loads(body))
        self.send_response(_STATUS[manner])
        if manner is Manner.REDIRECTS:
            self.send_header("Location", f"{self.receiver.url}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _drip(self) -> None:
        for each in b"HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000:
            if self.receiver.done.wait(0.1):
                return
            self.wfile.write(bytes([each]))
            self.wfile.flush()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver until the end of the block."""
    receiver = Receiver()
    handler = type("Handler", (_Handler,), {"receiver": receiver})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    receiver.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.done.set()
        server.shutdown()
        server.server_close()
