"""Standard input as a source."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from tests.contract.ingest_source.feeder import consumed
from toolkit.ingest.errors import UnitChanged
from toolkit.ingest_job.stdin import StandardInput


def _input(content: bytes) -> StandardInput:
    return StandardInput(stream=io.BufferedReader(io.BytesIO(content)))


def test_all_lines_are_read_to_the_end() -> None:
    records, progress = consumed(_input(b"1\n2\n3"), {}, rows=1)
    assert records == [b"1", b"2", b"3"]
    assert progress["offset"] == 5


def test_the_same_input_again_goes_on_behind_what_was_committed() -> None:
    _, progress = consumed(_input(b"1\n2\n3\n"), {}, rows=1, commits=2)
    source = _input(b"1\n2\n3\n4\n")
    (unit,) = source.units(progress)
    (chunk,) = source.read(unit, rows=10, max_bytes=1000)
    assert (list(chunk.records), list(chunk.positions)) == ([b"3", b"4"], [3, 4])


def test_other_input_under_the_same_name_is_refused() -> None:
    _, progress = consumed(_input(b"1\n2\n3\n"), {}, rows=1, commits=2)
    with pytest.raises(UnitChanged, match="this --stdin-name"):
        consumed(_input(b"1\n9\n3\n"), progress)


def test_a_last_record_that_was_cut_off_is_not_read_on_in_its_middle() -> None:
    _, progress = consumed(_input(b"1\n2026,12"), {})
    assert consumed(_input(b"1\n2026,12"), progress)[0] == []
    with pytest.raises(UnitChanged, match="cut off in its middle"):
        consumed(_input(b"1\n2026,1234\n"), progress)


def test_memory_does_not_grow_with_the_input() -> None:
    class Endless(io.RawIOBase):
        left = 40 << 20

        def readable(self) -> bool:
            return True

        def readinto(self, into: object) -> int:
            assert isinstance(into, memoryview)
            number = min(len(into), self.left)
            into[:number] = (b"x" * 99 + b"\n") * (number // 100) + b"y" * (number % 100)
            self.left -= number
            return number

    source = StandardInput(stream=io.BufferedReader(Endless()))
    (unit,) = source.units({})
    tracemalloc.start()
    for chunk in source.read(unit, rows=1000, max_bytes=1 << 20):
        assert len(chunk.records) <= 1000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20
