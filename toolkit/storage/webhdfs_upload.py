"""The chunks of a file on their way into a request that another thread sends."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from toolkit.storage.bounded import NoAnswer
from toolkit.storage.pieces import in_pieces

_PIECE_BYTES = 64 * 1024
"""So much is sent at once: the socket has a time limit for what it is given, however much that is."""


class Upload:
    """Takes chunks from one thread and gives them to the HTTP library in another, one piece at a time.

    So the source of the chunks may take its time and raise what it likes, in the thread that it was made for, and the
    store may not: each piece has a time limit. When the source fails, the body ends there, as if it were whole: a
    request that is cut off instead could make its file at the DataNode after that was removed already.

    Args:
        seconds: so long the store may take for a piece.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._changed = threading.Condition()
        self._piece: bytes | None = None
        self._is_whole = self._is_over = False

    def send(self, chunks: Iterable[bytes]) -> None:
        """Hand all chunks over; the rest is left out when the request ends before.

        Raises:
            NoAnswer: the store did not take a piece in time.
        """
        try:
            for chunk in chunks:
                for piece in in_pieces(chunk, _PIECE_BYTES):
                    if not self._is_handed(piece):
                        return
        finally:
            with self._changed:
                self._is_whole = True
                self._changed.notify_all()

    def _is_handed(self, piece: bytes) -> bool:
        """Whether the request still wants pieces."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._piece is None or self._is_over, self._seconds):
                message = f"{len(piece)} bytes were not taken within {self._seconds:g} s"
                raise NoAnswer(message)
            self._piece = piece
            self._changed.notify_all()
            return not self._is_over

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._next()) is not None:
            yield piece
            with self._changed:
                self._piece = None
                self._changed.notify_all()

    def _next(self) -> bytes | None:
        with self._changed:
            self._changed.wait_for(lambda: self._piece is not None or self._is_whole)
            return self._piece

    def end(self) -> None:
        """Take that the request has ended, whether or not it has taken everything."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
