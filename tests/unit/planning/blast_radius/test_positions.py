"""Sets of positions behave as sets do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.planning.blast_radius.existing import Positions

RUNS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda run: range(run[0], run[0] + run[1])))


def members(positions: Positions) -> list[int]:
    return [each for run in positions.runs for each in run]


@given(RUNS)
def test_overlapping_runs_become_sorted_ones_that_do_not_touch(runs: list[range]) -> None:
    positions = Positions.of(*runs)
    assert members(positions) == sorted({each for run in runs for each in run})
    assert all(one.stop < other.start for one, other in zip(positions.runs, positions.runs[1:], strict=False))
    assert len(positions) == len(members(positions))


@given(RUNS, RUNS)
def test_difference_and_intersection_are_those_of_sets(ours: list[range], theirs: list[range]) -> None:
    one, other = Positions.of(*ours), Positions.of(*theirs)
    assert members(one.minus(other)) == sorted(set(members(one)) - set(members(other)))
    assert one.both(other) == Positions.of(*(range(each, each + 1) for each in set(members(one)) & set(members(other))))


def test_the_first_and_the_last_position_are_known_without_walking() -> None:
    positions = Positions.of(range(10**12, 10**15), range(5, 6))
    assert (positions.first, positions.last, len(positions)) == (5, 10**15 - 1, 10**15 - 10**12 + 1)


def test_nothing_has_no_first_position() -> None:
    assert not Positions()
    with pytest.raises(IndexError):
        _ = Positions().first
