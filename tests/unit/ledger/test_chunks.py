"""Long lists in chunks."""

from __future__ import annotations

import pytest

from toolkit.ledger.database import SIZE, in_chunks


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (3, [3]), (4, [3, 1]), (7, [3, 3, 1])])
def test_chunks_have_at_most_the_size_and_keep_the_order(count: int, sizes: list[int]) -> None:
    chunks = list(in_chunks(range(count), 3))
    assert [len(chunk) for chunk in chunks] == sizes
    assert [each for chunk in chunks for each in chunk] == list(range(count))


def test_a_chunk_is_small_enough_for_sqlite() -> None:
    assert [len(chunk) for chunk in in_chunks(set(range(SIZE + 1)))] == [SIZE, 1]
    assert SIZE < 500
