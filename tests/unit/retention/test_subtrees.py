"""A directory goes as a whole only when everything in it is known to go."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.retention.feeds import DAILY, HOURLY, FeedText, days
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from tests.unit.retention.planned import as_parallel, planned
from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.retention.plan import MOST, FeedPlan, ItemKind

BASE = "/data/clicks"


def _roots(plan: FeedPlan) -> list[str]:
    return [each.root.path.removeprefix(f"{BASE}/") for each in plan.detail.subtrees]


def _planned(*files: str, feed: FeedText | None = None, system: MemoryFileSystem | None = None) -> FeedPlan:
    system = system or AtomicMemory()
    system.put(*files)
    return planned(system, feed or FeedText())


def test_the_topmost_directories_that_hold_nothing_else_go_as_a_whole() -> None:
    plan = _planned(*days(1, 2, month="2025/01"), *days(3, 4, month="2025/02"), *days(1, 2, month="2026/02"), *days(20))
    assert _roots(plan) == ["2025", "2026/02"]
    assert [(each.begin, each.end) for each in plan.detail.subtrees] == [(0, 4), (4, 6)]


@pytest.mark.parametrize("odd", ["2025/01/README", "2025/readme/x", "2025/13/01/x"])
def test_what_does_not_conform_keeps_the_directories_above_it(odd: str) -> None:
    plan = _planned(*days(1, 2, month="2025/01"), *days(1, 2, month="2025/02"), f"{BASE}/{odd}")
    assert "2025" not in _roots(plan)
    assert "2025/02" in _roots(plan)


def test_an_empty_directory_of_which_no_date_is_known_keeps_those_above_it() -> None:
    feed = FeedText(data=f"{BASE}/${{country}}/${{region}}/${{YEAR}}-${{MONTH}}-${{DAY}}")
    system = AtomicMemory()
    system.make(f"{BASE}/in/empty")
    files = [f"{BASE}/in/goa/2025-01-0{day}/x" for day in (1, 2)]
    assert _roots(_planned(*files, feed=feed, system=system)) == ["in/goa"]


def test_a_link_an_aside_a_locked_and_an_empty_directory_keep_those_above_them() -> None:
    for change in ("link", "aside", "locked", "empty"):
        system = AtomicMemory()
        if change == "link":
            system.links.add(f"{BASE}/2025/01/05")
        elif change == "aside":
            system.make(f"{BASE}/2025/01/.feedctl-evicting-07")
        elif change == "locked":
            system.put(*days(1, 2, month="2025/03"))
            system.locked.add(f"{BASE}/2025/03")
        else:
            system.make(f"{BASE}/2025/04")
        plan = _planned(*days(1, 2, month="2025/01"), *days(1, 2, month="2025/02"), system=system)
        assert "2025" not in _roots(plan), change
        assert "2025/02" in _roots(plan), change


def test_an_instance_that_stays_keeps_the_directories_above_it() -> None:
    plan = _planned(*days(1, 2, month="2025/01"), *days(1, 2, month="2025/02"), feed=FeedText(keep_last=1))
    assert _roots(plan) == ["2025/01"]
    assert len(plan.detail.kept) == 1


def test_a_hold_keeps_only_the_directories_above_what_it_covers() -> None:
    hold = Hold(
        feed="clicks", start=parse_instant("2025-01-02T00:00Z"), end=parse_instant("2025-01-03T00:00Z"), reason="x"
    )
    system = AtomicMemory()
    system.put(*days(1, 2, 3, month="2025/01"), *days(1, 2, month="2025/02"))
    assert _roots(planned(system, FeedText(), holds=[hold])) == ["2025/02"]


def test_one_instance_goes_by_itself() -> None:
    assert _roots(_planned(*days(1, month="2025/01"))) == []


def test_a_directory_above_too_many_instances_goes_part_by_part() -> None:
    hours = [f"{BASE}/2025/{m:02d}/{d:02d}/{h:02d}" for m in range(1, 11) for d in range(1, 29) for h in range(24)]
    plan = _planned(*hours, feed=FeedText(data=HOURLY, frequency="hours(1)"))
    assert len(hours) > MOST
    assert _roots(plan) == [f"2025/{month:02d}" for month in range(1, 11)]
    assert sum(each.end - each.begin for each in plan.detail.subtrees) == len(hours)


def test_a_directory_in_which_only_one_name_was_looked_for_never_goes_as_a_whole() -> None:
    feed = FeedText(data="/data/${YEAR}-${MONTH}-${DAY}/clicks/raw/${HOUR}", frequency="hours(1)")
    plan = _planned(*(f"/data/2025-01-01/clicks/raw/{hour:02d}/part" for hour in range(3)), feed=feed)
    assert [each.root.path for each in plan.detail.subtrees] == ["/data/2025-01-01/clicks/raw"]


def test_locations_that_may_be_inside_one_another_have_no_subtrees() -> None:
    inside = FeedText(others={"stats": f"{DAILY}/stats/${{HOUR}}"})
    assert _planned(*days(1, 2, month="2025/01"), feed=inside).detail.subtrees == ()
    audit_only = FeedText(others={"stats": "/data/clicks_stats/${YEAR}/${MONTH}/${DAY}"})
    assert _roots(_planned(*days(1, 2, month="2025/01"), feed=audit_only)) == ["2025"]


ODD = {
    0: ["2024", "2025", "2027", "junk", ".feedctl-x"],
    1: ["01", "02", "13", "x"],
    2: ["05", "30", "x", ".feedctl-evicting-05", ".feedctl-evicting-01"],
    3: ["part"],
}
instances = st.tuples(
    st.sampled_from(["2024", "2025", "2026"]), st.sampled_from(["01", "02", "03"]), st.sampled_from(["01", "10", "11"])
)
odd_names = st.integers(1, 4).flatmap(lambda depth: st.tuples(*(st.sampled_from(ODD[at]) for at in range(depth))))


@st.composite
def systems(draw: st.DrawFn) -> MemoryFileSystem:
    """Mostly instances as they should be, and a few things that should not be there."""
    system = AtomicMemory()
    system.make(BASE)
    for names in draw(st.lists(instances, max_size=15)):
        system.put("/".join((BASE, *names, "part")))
    for names in draw(st.lists(odd_names, max_size=2)):
        path = "/".join((BASE, *names))
        if path not in system.tree() and "part" not in path[:-4]:
            kind = draw(st.sampled_from(["file", "directory", "link"]))
            system.make(path.rpartition("/")[0])
            {"file": system.put, "directory": system.make, "link": system.links.add}[kind](path)
    directories = sorted(each for each in system.directories if each.count("/") in {3, 4})
    locked = draw(st.none() | st.none() | st.sampled_from(directories)) if directories else None
    system.locked |= set() if locked is None else {locked}
    system.capabilities = as_parallel(system.capabilities, draw(st.sampled_from([1, 3])))
    return system


def _expected(system: MemoryFileSystem, plan: FeedPlan) -> list[str]:
    """Directories below which is nothing but planned instances, by looking at the whole tree."""
    gone = {item.path.path for item in plan.items if item.type is ItemKind.INSTANCE}
    tree = system.tree()

    def goes_as_a_whole(root: str) -> bool:
        below = [each for each in tree if each.startswith(f"{root}/")]
        going = [each for each in below if each in gone]
        return len(going) > 1 and all(
            any(f"{each}/".startswith(f"{item}/") for item in going)
            or (each in system.directories and any(item.startswith(f"{each}/") for item in going))
            for each in below
        )

    inner = [each for each in system.directories if each.startswith(f"{BASE}/") and each not in gone]
    wholes = sorted(each for each in inner if not system.locked & {each} and goes_as_a_whole(each))
    topmost = [each for each in wholes if not any(each.startswith(f"{other}/") for other in wholes)]
    return [each for each in topmost if not any(each.startswith(f"{item}/") for item in gone)]


@given(system=systems(), keep_last=st.sampled_from([None, None, 2]))
def test_below_a_subtree_is_exactly_what_is_planned_and_the_way_to_it(
    system: MemoryFileSystem, keep_last: int | None
) -> None:
    plan = planned(system, FeedText(keep_last=keep_last))
    assert sorted(each.root.path for each in plan.detail.subtrees) == _expected(system, plan)
    for each in plan.detail.subtrees:
        inside = [position for position, item in enumerate(plan.items) if item.path.is_within(each.root)]
        assert inside == list(range(each.begin, each.end))
        assert all(plan.items[position].type is ItemKind.INSTANCE for position in inside)
        assert each.root.is_within(plan.items[each.begin].base)
    for one, other in pairwise(plan.detail.subtrees):
        assert one.end <= other.begin
        assert not one.root.is_within(other.root)
        assert not other.root.is_within(one.root)


def test_a_store_that_removes_file_by_file_has_no_subtrees() -> None:
    assert _roots(_planned(*days(1, 2, month="2025/01"))) == ["2025"]
    assert not _planned(*days(1, 2, month="2025/01"), system=MemoryFileSystem()).detail.subtrees
