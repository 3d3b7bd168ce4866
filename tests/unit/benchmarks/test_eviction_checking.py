from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.eviction.checking import Listing, WrongTree, empty_directories
from benchmarks.eviction.trees import Layout, Tree

pytestmark = pytest.mark.extended

TREE = Tree(layout=Layout.TREE, instances=60, expired=40)


def listing(kept: Sequence[int], *, files: int | None = None, empty: int = 0) -> Listing:
    names: dict[str, list[str]] = {parent: [] for parent in TREE.siblings(TREE.everything)} | {
        parent: list(names) for parent, names in TREE.siblings(range(kept[0], kept[-1] + 1)).items()
    }
    there = TREE.directories(range(kept[0], kept[-1] + 1))
    return Listing(names=names, files=len(kept) if files is None else files, directories=there + empty)


def test_exactly_the_right_instances_are_right() -> None:
    assert empty_directories(TREE, TREE.staying, listing(TREE.staying)) == 0
    assert empty_directories(TREE, TREE.everything, listing(TREE.everything)) == 0


def test_empty_directories_that_are_left_are_counted() -> None:
    assert empty_directories(TREE, TREE.staying, listing(TREE.staying, empty=2)) == 2


@pytest.mark.parametrize(
    ("kept", "output"),
    [
        (range(39, 60), "0 instances are missing [], 1 should not be there"),
        (range(41, 60), "1 instances are missing"),
        (range(40, 59), "1 instances are missing"),
        (range(60), "should not be there"),
    ],
)
def test_one_too_many_and_one_too_few_are_wrong(kept: range, output: str) -> None:
    with pytest.raises(WrongTree) as caught:
        empty_directories(TREE, TREE.staying, listing(kept))
    assert output in str(caught.value)


def test_one_that_is_left_on_a_day_of_which_nothing_stays_is_wrong() -> None:
    found = listing(TREE.staying)
    day, names = next(iter(TREE.siblings(TREE.everything).items()))
    assert day not in TREE.siblings(TREE.staying)
    with pytest.raises(WrongTree, match="1 should not be there"):
        empty_directories(TREE, TREE.staying, replace(found, names={**found.names, day: names[:1]}))


def test_an_instance_without_its_file_is_wrong() -> None:
    with pytest.raises(WrongTree, match="19 files instead of 20"):
        empty_directories(TREE, TREE.staying, listing(TREE.staying, files=19))


def test_a_directory_that_was_not_listed_counts_as_empty() -> None:
    with pytest.raises(WrongTree, match="are missing"):
        empty_directories(TREE, TREE.staying, Listing(names={}, files=20, directories=25))
