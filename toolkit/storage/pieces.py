"""Bytes piece by piece, so that each piece can have a time limit and a file none (DESIGN section 5)."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer


def in_pieces(chunk: bytes, size: int) -> Iterator[bytes]:
    """A chunk in pieces of so many bytes, the last perhaps smaller; none is empty."""
    return (chunk[start : start + size] for start in range(0, len(chunk), size))


class StreamInPieces(io.RawIOBase):
    """Reads forward.

    Attributes:
        most: bytes of one piece at most.
    """

    most: ClassVar[int]

    @abstractmethod
    def piece(self, size: int) -> bytes:
        """The next bytes, so many at most; none at the end."""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """The next bytes, 0 of them at the end; never more than one piece, however large the buffer."""
        view = memoryview(buffer).cast("B")
        found = self.piece(min(len(view), self.most))
        view[: len(found)] = found
        return len(found)

    def readall(self) -> bytes:
        """All that is left."""
        return b"".join(iter(lambda: self.piece(self.most), b""))
