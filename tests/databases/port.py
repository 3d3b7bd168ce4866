"""A loopback port that stays ours while the server behind it is down."""

from __future__ import annotations

import socket


def reserved_port() -> socket.socket:
    """A socket that is bound to a free port of 127.0.0.1 and never listens; closing it gives the port back.

    The kernel gives the port to nobody who asks for a free one. A server that sets SO_REUSEADDR, as PostgreSQL does,
    can listen on it all the same, again and again.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved
