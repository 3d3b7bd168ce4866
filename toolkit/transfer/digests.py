"""Digest that tells files apart by their bytes, however they are read, written or copied (ADR 0033)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xxhash import xxh3_128

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

DIGEST = "xxh3-128-64MiB"
"""XXH3-128 in hexadecimal; of a file of more than one piece that of the digests of its pieces, one after the other."""
PIECE_BYTES = 64 * 1024 * 1024
"""Pieces begin at multiples of it, so that several machines can read one file and their digests be joined."""
CHUNK_BYTES = 1024 * 1024
"""So much of a file is in memory at once, and as much again in the clients of its store, whatever its size."""
_RAW_BYTES = 16


class FileDigest:
    """The digest of a file, or of a range of one that begins at a multiple of `PIECE_BYTES`.

    Attributes:
        size: so many bytes it was given.
    """

    def __init__(self) -> None:
        self.size = 0
        self._whole, self._piece, self._left = bytearray(), xxh3_128(), PIECE_BYTES

    def update(self, chunk: bytes) -> None:
        """Take the next bytes."""
        self.size += len(chunk)
        rest = memoryview(chunk)
        while rest:
            if not self._left:
                self._whole += self._piece.digest()
                self._piece, self._left = xxh3_128(), PIECE_BYTES
            taken = rest[: self._left]
            self._piece.update(taken)
            self._left -= len(taken)
            rest = rest[len(taken) :]

    def pieces(self) -> str:
        """The digests of all pieces, one after the other; `joined` makes the file's of those of its ranges."""
        return (bytes(self._whole) + self._piece.digest()).hex()

    def hexdigest(self) -> str:
        """Return the digest of the bytes so far, in the form of `DIGEST`."""
        return joined(self.pieces())


def joined(pieces: str) -> str:
    """The digest of a file whose pieces have these."""
    raw = bytes.fromhex(pieces)
    return pieces if len(raw) == _RAW_BYTES else xxh3_128(raw).hexdigest()


NO_BYTES = FileDigest().hexdigest()
"""The digest of an empty file, which need not be read."""


def read_digest(system: FileSystem, path: CanonicalPath, check: Callable[[], None]) -> FileDigest:
    """Read a file to its end.

    Args:
        system: the store that it is on.
        path: of the file.
        check: asked between two chunks; what it raises ends the reading.

    Raises:
        StorageError: it cannot be read.
    """
    digest = FileDigest()
    with system.read(path) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            check()
            digest.update(chunk)
    return digest


def digest_of(system: FileSystem, path: CanonicalPath, check: Callable[[], None]) -> str:
    """The `DIGEST` of a file, as a copy of it has been given; see `read_digest`."""
    return read_digest(system, path, check).hexdigest()
