"""Small real servers that metrics are sent to: UDP, TCP and HTTP on this machine."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCALHOST = "127.0.0.1"


@dataclass
class TcpListener:
    """A server that keeps what each connection sends."""

    address: str
    received: list[bytes] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)


@contextmanager
def tcp_listener() -> Iterator[TcpListener]:
    """Start it, until the end."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            listener.received.append(self.rfile.read())
            listener.arrived.set()

    with socketserver.ThreadingTCPServer((LOCALHOST, 0), Handler) as server:
        listener = TcpListener(f"{LOCALHOST}:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield listener
        server.shutdown()


@contextmanager
def silent_listener() -> Iterator[str]:
    """Listen, and never accept: the address of a server that hangs."""
    with socket.create_server((LOCALHOST, 0), backlog=1) as server:
        yield f"{LOCALHOST}:{server.getsockname()[1]}"


@contextmanager
def udp_listener() -> Iterator[tuple[str, socket.socket]]:
    """A socket, and its address; a receive waits for at most two seconds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((LOCALHOST, 0))
        server.settimeout(2)
        yield f"{LOCALHOST}:{server.getsockname()[1]}", server


@dataclass
class Gateway:
    """A push gateway's side of a push.

    Attributes:
        url: of it.
        status: what it answers.
        location: where it redirects to.
        pushes: method, path and body of each.
    """

    url: str = ""
    status: int = 200
    location: str = ""
    pushes: list[tuple[str, str, bytes]] = field(default_factory=list)


@contextmanager
def gateway() -> Iterator[Gateway]:
    """Start it, until the end."""
    found = Gateway()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.pushes.append((self.command, self.path, body))
            self.send_response(found.status)
            if found.location:
                self.send_header("Location", found.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_PUT  # noqa: N815 - the library's name

        def log_message(self, *args: object) -> None:
            del args

    with ThreadingHTTPServer((LOCALHOST, 0), Handler) as server:
        found.url = f"http://{LOCALHOST}:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield found
        server.shutdown()


def free_address() -> str:
    """An address at which nothing listens."""
    with socket.create_server((LOCALHOST, 0)) as server:
        return f"{LOCALHOST}:{server.getsockname()[1]}"
