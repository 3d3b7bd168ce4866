"""Long lists in parts."""

from __future__ import annotations

import pytest

from toolkit.ledger.parts import SIZE, in_parts


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (3, [3]), (4, [3, 1]), (7, [3, 3, 1])])
def test_parts_have_at_most_the_size_and_keep_the_order(count: int, sizes: list[int]) -> None:
    parts = list(in_parts(range(count), 3))
    assert [len(part) for part in parts] == sizes
    assert [each for part in parts for each in part] == list(range(count))


def test_a_part_is_small_enough_for_sqlite() -> None:
    assert [len(part) for part in in_parts(set(range(SIZE + 1)))] == [SIZE, 1]
    assert SIZE < 500
