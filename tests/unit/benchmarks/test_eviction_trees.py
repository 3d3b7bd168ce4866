from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from benchmarks.eviction.trees import END, FIRST, HOUR, Layout, Tree

pytestmark = pytest.mark.extended


def tree(layout: Layout = Layout.TREE, instances: int = 2_000, expired: int = 900) -> Tree:
    return Tree(layout=layout, instances=instances, expired=expired)


def above(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def test_an_instance_is_an_hour_and_the_last_ends_when_evictions_are_made() -> None:
    paths = list(tree().paths(range(2_000)))
    assert paths[0] == "/eviction/tree-2000/2024/10/09/23"
    assert paths[-1] == "/eviction/tree-2000/2025/01/01/06"
    assert len(set(paths)) == 2_000


def test_a_flat_tree_has_all_names_in_one_directory() -> None:
    ((parent, names),) = tree(Layout.FLAT, 3, 1).siblings(range(3)).items()
    assert (parent, list(names)) == ("/eviction/flat-3", ["2025-01-01-04", "2025-01-01-05", "2025-01-01-06"])


def test_what_goes_and_what_stays_is_everything_and_the_limit_lies_between() -> None:
    assert [*tree().going, *tree().staying] == [*tree().everything]
    assert tree().oldest_kept == END - 1_100 * HOUR


def test_a_million_hours_begin_after_1970_and_what_goes_is_in_the_past() -> None:
    million = tree(Layout.TREE, 1_000_000, 10_000)
    assert next(million.paths(million.going)) == f"{million.root}/{FIRST:%Y/%m/%d/%H}"
    assert million.oldest_kept == FIRST + timedelta(hours=10_000)
    assert million.oldest_kept < END


@pytest.mark.parametrize("expired", [1, 7, 8, 31, 744, 1_999])
def test_dropping_directories_whole_takes_all_that_goes_nothing_that_stays_and_nothing_twice(expired: int) -> None:
    one = tree(expired=expired)
    dropped = list(one.dropped_whole())
    gone = {path for path in one.paths(one.everything) if not set(dropped).isdisjoint(above(path))}
    assert gone == set(one.paths(one.going))
    assert len(dropped) == len(set(dropped))


def test_as_few_directories_are_dropped_as_can_be() -> None:
    dropped = [path.removeprefix("/eviction/tree-2000/") for path in tree(expired=560).dropped_whole()]
    assert dropped == ["2024/10", "2024/11/01", *(f"2024/11/02/{hour:02}" for hour in range(7))]


def test_directories_are_those_of_instances_those_above_and_the_root() -> None:
    one = tree(instances=30)  # 24 hours and 6 of another day, in two months and two years
    assert one.directories(one.everything) == 30 + 2 + 2 + 2 + 1
    assert tree(Layout.FLAT, 30).directories(range(30)) == 30 + 1
