"""Answers of servers, limited in time and size as a whole: a socket's own limit is for each piece of them."""

from __future__ import annotations

import io
import socket
import time
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

LONGEST_ANSWER_BYTES = 131_072
"""Largest number of bytes of the headers and the body of an answer."""


class AnswerStream(io.RawIOBase):
    """Byte stream of one answer after the other from a socket.

    Args:
        connection: the socket, with a timeout of its own for what is sent.
        seconds: returns how long an answer may take as a whole.
    """

    def __init__(self, connection: socket.socket, seconds: Callable[[], float]) -> None:
        super().__init__()
        self._connection, self._seconds = connection, seconds
        self.begin()

    def begin(self) -> None:
        """Expect the next answer, with all its time and size."""
        self._until, self._left = time.monotonic() + self._seconds(), LONGEST_ANSWER_BYTES

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer) -> int:
        """Raise `TimeoutError` or `ConnectionError` beyond the limits."""
        seconds = self._until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        if self._left <= 0:
            message = "the answer has no end"
            raise ConnectionError(message)
        own = self._connection.gettimeout()
        self._connection.settimeout(seconds)
        try:
            count = self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(own)
        self._left -= count
        return count
