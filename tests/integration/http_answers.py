"""Web servers that answer as a test tells them to, for what no real NameNode does on demand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

_ENDLESS = 400 << 20


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One answer.

    Attributes:
        promised: the length that is announced, when it is not that of the body.
        drip: seconds before each byte of the body.
        endless: sent over and over behind the body, until the other end leaves or 400 MB are sent.
        headers: further ones.
    """

    status: int = 200
    body: bytes = b""
    location: str = ""
    promised: int | None = None
    drip: float = 0
    endless: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(kw_only=True)
class WebServer:
    """A server on a port of its own; `seen` has the method and address of each request, `headers` what came with it.

    Attributes:
        sent: bytes of endless answers that were sent.
    """

    answer: Callable[[str], Answer]
    port: int = 0
    sent: int = 0
    seen: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"


def as_json(value: object, status: int = 200) -> Answer:
    return Answer(status=status, body=json.dumps(value).encode())


def remote(java_class: str, message: str = "said so", status: int = 403) -> Answer:
    """A refusal as WebHDFS words it."""
    name = java_class.rpartition(".")[2]
    return as_json({"RemoteException": {"exception": name, "javaClassName": java_class, "message": message}}, status)


@contextmanager
def serving(answer: Callable[[str], Answer]) -> Iterator[WebServer]:
    """A server whose answers the function gives; it takes the method and the address of the request."""
    web = WebServer(answer=answer)

    class Handler(BaseHTTPRequestHandler):
        def _answered(self) -> None:
            request = f"{self.command} {self.path}"
            web.seen.append(request)
            web.headers.append({name.lower(): value for name, value in self.headers.items()})
            given = web.answer(request)
            self.send_response(given.status)
            if given.location:
                self.send_header("location", given.location)
            for name, value in given.headers:
                self.send_header(name, value)
            if not given.endless:
                self.send_header("content-length", str(len(given.body) if given.promised is None else given.promised))
            self.end_headers()
            pieces = [given.body[at : at + 1] for at in range(len(given.body))] if given.drip else [given.body]
            with suppress(ConnectionError):
                for piece in pieces:
                    time.sleep(given.drip)
                    self.wfile.write(piece)
                while given.endless and web.sent < _ENDLESS:
                    self.wfile.write(given.endless)
                    web.sent += len(given.endless)

        do_GET = do_PUT = do_DELETE = do_POST = do_HEAD = _answered  # noqa: N815 - the names that the library calls

        def log_message(self, *_: object) -> None:
            """Nothing to the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        web.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield web
        finally:
            server.shutdown()
            thread.join()
