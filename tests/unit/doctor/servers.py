"""Small TCP servers for the checks."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread


def unused_port() -> int:
    """A port where nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@contextmanager
def listening(answers: Mapping[bytes, bytes] | None = None) -> Iterator[int]:
    """A server that gives the answer whose key is in what it receives, else ends the connection; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    requested = connection.recv(4096) if answers is not None else b""
                    known = [answer for key, answer in (answers or {}).items() if key in requested]
                    for answer in known:
                        connection.sendall(answer)

        Thread(target=serve, daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)


@contextmanager
def frozen() -> Iterator[int]:
    """A port whose connections the operating system takes, and nobody behind it reads; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
