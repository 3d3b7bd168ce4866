"""The line to a server that one thread waits on, and that another may cut.

Neither keepalives nor the server's own time limits end the wait for a server that is frozen: its kernel still answers.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Protocol

import sqlalchemy as sa

_KEY = "feedctl_line"


class _Connection(Protocol):
    """What is needed of a connection of psycopg."""

    @property
    def closed(self) -> bool: ...

    def fileno(self) -> int: ...


def remember_line(engine: sa.Engine) -> None:
    """Note the connection of an engine, which has one at most, when it is made."""
    lines: list[_Connection] = []

    def remember(connection: _Connection, record: sa.pool.ConnectionPoolEntry) -> None:
        del record
        lines[:] = [connection]

    sa.event.listen(engine, "connect", remember)
    engine.update_execution_options(**{_KEY: lines})


def cut_line(engine: sa.Engine) -> None:
    """Let whoever waits for the server find that it has gone; SQLite, which has no server, goes on.

    Only its socket is shut down: the connection itself belongs to the thread that waits.
    """
    lines: list[_Connection] = engine.get_execution_options().get(_KEY, [])
    for each in lines:
        if not each.closed:
            with suppress(OSError), socket.socket(fileno=os.dup(each.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)
