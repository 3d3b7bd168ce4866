"""Reading piece by piece."""

from __future__ import annotations

import io
from typing import ClassVar

from toolkit.storage.streams import StreamInPieces, in_pieces, ranged


class Counting(StreamInPieces):
    """Gives bytes and notes how many were asked for."""

    most: ClassVar[int] = 4

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)
        self.calls: list[int] = []

    def piece(self, size: int) -> bytes:
        self.calls.append(size)
        return self._content.read(size)


def test_no_piece_is_larger_than_the_most_however_much_is_asked_for() -> None:
    for size in (-1, 9):
        raw = Counting(b"123456789")
        with io.BufferedReader(raw, 2) as stream:
            assert stream.read(size) == b"123456789"
        assert max(raw.calls) == 4
        assert raw.calls


def test_a_chunk_is_cut_into_pieces_none_of_which_is_empty() -> None:
    assert list(in_pieces(b"12345", 2)) == [b"12", b"34", b"5"]
    assert list(in_pieces(b"1234", 2)) == [b"12", b"34"]
    assert list(in_pieces(b"", 2)) == []


def test_a_range_ends_where_it_should_reads_no_byte_more_and_closes_the_whole() -> None:
    whole = io.BytesIO(b"123456789")
    whole.seek(2)
    with ranged(whole, 4) as stream:
        assert (stream.read(3), stream.read()) == (b"345", b"6")
        assert whole.tell() == 6
    assert whole.closed
