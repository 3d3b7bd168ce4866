"""Bodies of files in pieces, each of which has to come in time (ADR 0024)."""

from __future__ import annotations

import io
from abc import abstractmethod
from contextlib import suppress
from typing import IO, TYPE_CHECKING, BinaryIO, ClassVar, cast

from toolkit.storage.calls import BoundedCalls, NoAnswer
from toolkit.storage.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed import WriteableBuffer
    from urllib3.response import HTTPResponse

    from toolkit.el import CanonicalPath


def in_pieces(chunk: bytes, size: int) -> Iterator[bytes]:
    """A chunk in pieces of so many bytes, the last perhaps smaller; none is empty."""
    return (chunk[start : start + size] for start in range(0, len(chunk), size))


class BodyTooLong(ValueError):  # noqa: N818 - named for what happened
    """A body has more bytes than are held.

    Args:
        most: so many.
    """

    def __init__(self, most: int) -> None:
        super().__init__(f"it has more than {most:,} bytes")


def joined(pieces: Iterable[bytes], most: int) -> bytes:
    """Join the pieces of a body.

    Raises:
        BodyTooLong: they have more bytes than `most`; the rest is not asked for.
    """
    found = bytearray()
    for piece in pieces:
        found += piece
        if len(found) > most:
            raise BodyTooLong(most)
    return bytes(found)


class Outgoing:
    """A body on its way out, which the HTTP library takes block by block; knows whether it moves.

    Args:
        body: what is sent.
    """

    def __init__(self, body: IO[bytes]) -> None:
        self._body = body
        self._taken, self._seen = 0, 1

    def read(self, size: int = -1) -> bytes:
        """The next block; asked for when the socket has the one before."""
        self._taken += 1
        return self._body.read(size)

    def goes_on(self) -> bool:
        """Return whether a block was sent since the last call."""
        before, self._seen = self._seen, max(self._seen, self._taken)
        return self._seen > before


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
        """Return all bytes that are left."""
        return b"".join(iter(lambda: self.piece(self.most), b""))


class _Range(StreamInPieces):
    most: ClassVar[int] = 1 << 20

    def __init__(self, whole: BinaryIO, length: int) -> None:
        self._whole, self._left = whole, length

    def piece(self, size: int) -> bytes:
        found = self._whole.read(min(size, self._left))
        self._left -= len(found)
        return found

    def close(self) -> None:
        self._whole.close()
        super().close()


def ranged(whole: BinaryIO, length: int | None) -> BinaryIO:
    """The next bytes of a stream, so many at most, as a stream; closing it closes that one."""
    return whole if length is None else cast("BinaryIO", io.BufferedReader(_Range(whole, length), PIECE_BYTES))


PIECE_BYTES = 256 * 1024
"""So much has to come within the time of one call: with 30 s, about 9 kB a second."""


def body_stream(path: CanonicalPath, raw: HTTPResponse, read: Callable[[int], bytes], calls: BoundedCalls) -> BinaryIO:
    """A buffered stream of a body; closing it ends the request.

    Args:
        path: the file, for messages.
        raw: the answer, its body not read yet; closed with the stream.
        read: its next bytes, as many as are asked for unless it ends before; raises storage errors alone.
        calls: the time limit of each piece.
    """
    return cast("BinaryIO", io.BufferedReader(_Body(path, raw, read, calls), PIECE_BYTES))


class _Body(StreamInPieces):
    most: ClassVar[int] = PIECE_BYTES

    def __init__(
        self, path: CanonicalPath, raw: HTTPResponse, read: Callable[[int], bytes], calls: BoundedCalls
    ) -> None:
        self._path, self._raw, self._read, self._calls = path, raw, read, calls
        self._is_lost = False

    def piece(self, size: int) -> bytes:
        if self._is_lost:
            raise Unreachable(path=self._path, detail="an earlier read of it broke off; open it again")
        self._is_lost = True
        try:
            found = self._calls.run(lambda: self._read(size))
        except NoAnswer as error:
            self._end_reading()
            detail = f"{size} bytes of it did not come within {self._calls.seconds:g} s"
            raise Unreachable(path=self._path, detail=detail) from error
        self._is_lost = False
        return found

    def close(self) -> None:
        if not self.closed:
            self._end()
        super().close()

    def _end(self) -> None:
        if not self._is_lost:
            self._give_back()
            return
        # A read that still hangs keeps others out, also from closing.
        with suppress(NoAnswer):
            self._calls.run(self._give_back)

    def _give_back(self) -> None:
        self._raw.close()
        self._raw.release_conn()

    def _end_reading(self) -> None:
        """A thread that waits for bytes is woken by this, and by nothing else."""
        with suppress(OSError, RuntimeError, ValueError):
            self._raw.shutdown()


def in_parts(chunks: Iterable[bytes], size_of: Callable[[int], int]) -> Iterator[bytes]:
    """Yield the same bytes in parts of the size of each part number, from 0; the last may be smaller."""
    gathered, number = bytearray(), 0
    for chunk in chunks:
        gathered += chunk
        while len(gathered) >= (size := size_of(number)):
            yield bytes(gathered[:size])
            del gathered[:size]
            number += 1
    if gathered:
        yield bytes(gathered)
