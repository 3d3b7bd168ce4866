"""One digest of a file, however it was read."""

from __future__ import annotations

from pathlib import Path

import pytest
from xxhash import xxh3_128

from toolkit.el import CanonicalPath
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.digests import PIECE_BYTES, FileDigest, digest_of, joined

BLOCK = bytes(range(256)) * 4096
"""A megabyte."""


def content(size: int) -> list[bytes]:
    """So many bytes, no two pieces alike."""
    blocks = (bytes([at % 251]) + BLOCK[1:] for at in range(-(-size // len(BLOCK))))
    return [block[: size - at * len(BLOCK)] for at, block in enumerate(blocks)]


def digested(chunks: list[bytes]) -> FileDigest:
    """Of chunks."""
    digest = FileDigest()
    for chunk in chunks:
        digest.update(chunk)
    return digest


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES], ids=["empty", "one byte", "a whole piece"])
def test_a_file_of_one_piece_has_the_digest_of_its_bytes(size: int) -> None:
    data = b"".join(content(size))
    assert digested([data]).hexdigest() == xxh3_128(data).hexdigest()


@pytest.mark.parametrize("more", [1, PIECE_BYTES], ids=["a byte more", "two pieces"])
def test_ranges_joined_in_their_order_have_the_digest_of_the_file_in_one_stream(more: int) -> None:
    chunks = content(PIECE_BYTES + more)
    data = b"".join(chunks)
    pieces = [digested([data[:PIECE_BYTES]]).pieces(), digested([data[PIECE_BYTES:]]).pieces()]
    assert joined("".join(pieces)) == digested(chunks).hexdigest() == digested([data]).hexdigest()
    assert joined("".join(reversed(pieces))) != digested(chunks).hexdigest()


def test_a_file_is_read_to_its_end_and_each_chunk_may_be_the_last(tmp_path: Path) -> None:
    path, calls = tmp_path / "file", list[int]()
    path.write_bytes(BLOCK * 3)
    found = digest_of(LocalFileSystem(), CanonicalPath.parse(f"file://{path}"), lambda: calls.append(1))
    assert (found, len(calls)) == (xxh3_128(BLOCK * 3).hexdigest(), 3)
