"""What waits at the gate goes with its instance, by the same rules, and is told apart from what readers have."""

from __future__ import annotations

import pytest

from tests.unit.retention.feeds import FeedText, days, gone, run
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from tests.unit.retention.planned import paths, planned
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.el import parse_instant
from toolkit.entities import Hold
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention.plan import ItemKind

STAGED = "/data/clicks/2026/03/.feedctl-staging"
BLOCKED = [f"{STAGED}/01/part", f"{STAGED}/01.blocked.json"]
YOUNG = [f"{STAGED}/20/part", f"{STAGED}/20.blocked.json"]


@pytest.mark.parametrize(
    "system", [MemoryFileSystem(), AtomicMemory(), ObjectMemory()], ids=["one by one", "at once", "objects"]
)
def test_old_blocked_data_go_with_their_manifest_and_young_ones_stay(system: MemoryFileSystem) -> None:
    system.put(*days(1, 2, 20), *BLOCKED, *YOUNG)
    result = run(system, FeedText())
    assert gone(result) == [
        f"{STAGED}/01",
        f"{STAGED}/01.blocked.json",
        "/data/clicks/2026/03/01",
        "/data/clicks/2026/03/02",
    ]
    kinds = [(each.item.type, each.item.instance_key) for each in result.items]
    assert kinds[:3] == [
        (ItemKind.STAGED, "2026-03-01T00:00Z"),
        (ItemKind.STAGED, "2026-03-01T00:00Z"),
        (ItemKind.INSTANCE, "2026-03-01T00:00Z"),
    ]
    assert sorted(system.files) == sorted([*days(20), *YOUNG])


def test_a_blocked_instance_that_was_never_announced_goes_and_nobody_is_told_of_an_eviction() -> None:
    system, recorder = AtomicMemory(), MemoryRecorder()
    system.put(*BLOCKED, *days(20))
    run(system, FeedText(), recorder=recorder)
    assert sorted(system.files) == days(20)
    assert STAGED not in system.directories
    assert not recorder.events()


def test_an_emptied_gate_goes_when_all_around_it_is_old() -> None:
    system = AtomicMemory()
    system.make("/data/clicks/2025/12/.feedctl-staging", STAGED)
    system.put(*days(5, month="2025/12"), *days(1, 20))
    run(system, FeedText())
    assert "/data/clicks/2025" not in system.directories
    assert STAGED in system.directories


def test_a_hold_keeps_what_waits_at_the_gate_too() -> None:
    system = AtomicMemory()
    system.put(*days(1, 2), *BLOCKED)
    hold = Hold(
        feed="clicks", reason="audit", start=parse_instant("2026-03-01T00:00Z"), end=parse_instant("2026-03-02T00:00Z")
    )
    assert paths(planned(system, FeedText(), holds=[hold])) == ["/data/clicks/2026/03/02"]


def test_what_waits_counts_as_no_instance_for_keep_last() -> None:
    system = AtomicMemory()
    system.put(*days(1, 2, 3), f"{STAGED}/04/part", f"{STAGED}/05/part")
    assert paths(planned(system, FeedText(keep_last=2))) == ["/data/clicks/2026/03/01"]


def test_it_counts_for_the_limits() -> None:
    system = AtomicMemory()
    system.put(*days(1), *BLOCKED)
    assert run(system, FeedText(), limits=DeleteLimits(instances=1)).refusal is not None
    assert run(system, FeedText(), limits=DeleteLimits(instances=2)).refusal is None


@pytest.mark.parametrize(
    "name", [".feedctl-old-01", ".feedctl-gone-01", ".feedctl-evicting-01", ".feedctl-evicting-.feedctl-old-01"]
)
def test_what_killed_runs_have_left_beside_it_goes_too(name: str) -> None:
    system = AtomicMemory()
    system.put(f"{STAGED}/{name}/part")
    assert paths(planned(system, FeedText())) == [f"{STAGED}/{name}"]


def test_what_is_no_instances_stays_and_is_named() -> None:
    system = AtomicMemory()
    system.put(f"{STAGED}/README")
    plan = planned(system, FeedText())
    assert (plan.items, plan.detail.unrecognized.count) == ((), 1)


@pytest.mark.parametrize("system", [AtomicMemory(), ObjectMemory()], ids=["files", "objects"])
def test_it_is_found_behind_a_literal_name_and_where_names_sort_before_it(system: MemoryFileSystem) -> None:
    system.put("/data/clicks/2026-03-01/.feedctl-staging/raw/part")
    literal = planned(system, FeedText(data="/data/clicks/${YEAR}-${MONTH}-${DAY}/raw"))
    assert paths(literal) == ["/data/clicks/2026-03-01/.feedctl-staging/raw"]
    system.put("/data/dashed/-2026-03-20/part", "/data/dashed/.feedctl-staging/-2026-03-01/part")
    dashed = planned(system, FeedText(data="/data/dashed/-${YEAR}-${MONTH}-${DAY}"))
    assert paths(dashed) == ["/data/dashed/.feedctl-staging/-2026-03-01"]
