"""A file of HDFS as a binary stream, each read of which has a time limit."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from toolkit.storage.errors import Unreachable
from toolkit.storage.pieces import StreamInPieces

if TYPE_CHECKING:
    from hdfs_native import FileReader

PIECE_BYTES = 1 << 20
"""So much is read or written at once, and has the time of one call for it: with 30 s, about 35 kB a second."""


class HdfsStream(StreamInPieces):
    """Reads forward, or anywhere after `seek`.

    Args:
        reader: the library's open file.
        asked: runs one call within its time limit, and turns its error into one of the storage.
        lost: the error for a stream whose last read was not answered: its position is not known any more.
    """

    most: ClassVar[int] = PIECE_BYTES

    def __init__(
        self, reader: FileReader, asked: Callable[[Callable[[], bytes]], bytes], lost: Callable[[], Unreachable]
    ) -> None:
        self._reader, self._asked, self._lost = reader, asked, lost
        self._is_lost = False

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position of the next byte."""
        return self._reader.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to another position."""
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._reader.tell(), io.SEEK_END: len(self._reader)}
        # The library refuses a position behind the end, where a file has nothing to read.
        place = min(max(starts[whence] + offset, 0), len(self._reader))
        self._reader.seek(place)
        return place

    def piece(self, size: int) -> bytes:
        """See `StreamInPieces.piece`."""
        if self._is_lost:
            raise self._lost()
        self._is_lost = True
        found = self._asked(lambda: self._reader.read(size))
        self._is_lost = False
        return found
