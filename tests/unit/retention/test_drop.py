"""Directories that go by one call: looked at once more before, and told the truth about after."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.retention.acting import BASE, Acted, SharedStore, act, capabilities, item, subtree
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.result import Outcome
from toolkit.retention.plan import ItemKind
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import ProcessStop
from toolkit.storage import PermissionDenied, Unreachable

MONTH = [item(f"2025/01/{day:02d}") for day in range(1, 5)]
DONE = [(f"2025/01/{day:02d}", "done", "") for day in range(1, 5)]
ONE_CALL = "delete /data/clicks/2025/01"


def _store(*more: str, parallel: int = 1) -> SharedStore:
    store = SharedStore(has=capabilities(parallel=parallel))
    store.put(*(f"{each.path.path}/part" for each in MONTH), "/data/clicks/2026/01/01/part", *more)
    return store


def _act(store: SharedStore, recorder: MemoryRecorder | None = None) -> Acted:
    return act(store, MONTH, [subtree(MONTH, "2025/01")], recorder=recorder)


def _raise(error: Exception, call: str, path: str) -> Callable[[str, str], None]:
    def broken(requested: str, at: str) -> None:
        if (requested, at) == (call, path):
            raise error

    return broken


def test_a_directory_with_nothing_but_items_goes_by_one_call() -> None:
    store = _store()
    acted = _act(store)
    assert acted.outcomes == DONE
    assert store.effects == [ONE_CALL, "remove_if_empty /data/clicks/2025"]
    assert acted.evicted == [each.instance_key for each in MONTH]
    audit_only = [
        (line["path"], line.get("message")) for line in acted.audit.lines if line.get("kind") == "empty_directory:data"
    ]
    assert (f"{BASE}/2025/01", "removed by one call, with 4 items (0 to 3)") in audit_only
    assert [state for _, state in acted.recorder.states()] == [ItemState.INTENDED] * 4 + [ItemState.DONE] * 4


@pytest.mark.parametrize("new", ["2025/01/README", "2025/01/05/part", "2025/01/.feedctl-hold", "2025/01/01x/part"])
def test_what_came_into_it_since_it_was_planned_stays_and_the_rest_goes_one_by_one(new: str) -> None:
    store = _store(f"/data/clicks/{new}")
    acted = _act(store)
    assert acted.outcomes == DONE
    assert f"/data/clicks/{new}" in store.files
    assert ONE_CALL not in store.effects
    assert acted.result.plan.notes == (
        f"{BASE}/2025/01 went instance by instance: it does not hold exactly what was planned any more",
    )


def test_a_directory_that_was_planned_empty_and_is_not_any_more_stays() -> None:
    items = [*MONTH, item("2025/01/x", ItemKind.EMPTY_DIRECTORY)]
    store = _store("/data/clicks/2025/01/x/new")
    assert act(store, items, [subtree(items, "2025/01")]).outcomes == [*DONE, ("2025/01/x", "skipped", "not_empty")]
    assert "/data/clicks/2025/01/x/new" in store.files


def test_a_link_in_the_place_of_an_instance_is_not_as_planned() -> None:
    store = _store()
    store.files.pop("/data/clicks/2025/01/02/part")
    store.directories.discard("/data/clicks/2025/01/02")
    store.links.add("/data/clicks/2025/01/02")
    _act(store)
    assert ONE_CALL not in store.effects


def test_an_instance_that_somebody_else_removed_is_told_so() -> None:
    store = _store()
    store.files.pop("/data/clicks/2025/01/02/part")
    store.directories.discard("/data/clicks/2025/01/02")
    acted = _act(store)
    assert acted.outcomes == [DONE[0], ("2025/01/02", "skipped", "already_gone"), *DONE[2:]]
    assert len(acted.evicted) == 3


def test_a_store_that_removes_file_by_file_gets_one_instance_at_a_time() -> None:
    """Else a removal that is killed would leave a whole directory aside, which no later walk looks into."""
    store = _store()
    store.has = capabilities(atomic_delete=False)
    assert _act(store).outcomes == DONE
    assert ONE_CALL not in store.effects


def test_when_one_instance_is_denied_the_others_go_and_it_is_named() -> None:
    store = _store()
    store.locked.add("/data/clicks/2025/01/03")
    acted = _act(store)
    assert acted.outcomes == [*DONE[:2], ("2025/01/03", "failed", "permission_denied"), DONE[3]]
    assert "/data/clicks/2025/01/03/part" in store.files
    assert "could not be removed as a whole (permission_denied)" in acted.result.plan.notes[0]
    assert acted.recorder.outcomes[1].exit_code == 4
    assert "remove_if_empty /data/clicks/2025/01" not in store.effects  # HDFS would say that it is denied as well


def test_what_a_failed_call_removed_all_the_same_counts_as_done() -> None:
    store = _store()

    def fails_late(call: str, path: str) -> None:
        if (call, path) == ("delete", "/data/clicks/2025/01"):
            store.files.pop("/data/clicks/2025/01/01/part")
            store.directories.discard("/data/clicks/2025/01/01")
            raise PermissionDenied(path=BASE)

    store.broken = fails_late
    acted = _act(store)
    assert acted.outcomes == DONE
    assert len(acted.evicted) == 4


def test_a_call_that_is_not_answered_leaves_its_items_to_the_next_run() -> None:
    store, recorder = _store(), MemoryRecorder()
    store.broken = _raise(Unreachable(path=BASE), "delete", "/data/clicks/2025/01")
    acted = _act(store, recorder)
    assert {each[1:] for each in acted.outcomes} == {("failed", "unreachable")}
    assert "the removal may still happen" in acted.result.items[0].message
    assert [state for _, state in recorder.states()] == [ItemState.INTENDED] * 4
    assert [line["code"] for line in acted.audit.lines if line["state"] == "failed" and line["what"] == "item"] == [
        "unreachable"
    ] * 4
    assert recorder.outcomes[1].status is RunStatus.FAILED
    assert recorder.events() == []


def test_a_stop_before_the_call_leaves_all_of_it() -> None:
    store, process = _store(), ProcessStop()

    def stop_at_the_look(call: str, path: str) -> None:
        if (call, path) == ("list", "/data/clicks/2025/01"):
            process.stop(Stopped(reason="received SIGTERM"))

    store.broken = stop_at_the_look
    acted = act(store, MONTH, [subtree(MONTH, "2025/01")], stop_signal=process)
    assert {each[1:] for each in acted.outcomes} == {("skipped", "stopped")}
    assert store.effects == []


def test_a_hold_is_looked_for_before_every_directory() -> None:
    items = [item(f"2025/{month:02d}/{day:02d}") for month in (1, 2, 3) for day in (1, 2)]
    store = SharedStore()
    store.put(*(f"{each.path.path}/part" for each in items))

    def hold(call: str, path: str) -> None:
        if (call, path) == ("delete", "/data/clicks/2025/01"):
            store.put("/data/clicks/.feedctl-hold")

    store.broken = hold
    acted = act(store, items, [subtree(items, f"2025/{month:02d}") for month in (1, 2, 3)])
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * 2 + [("skipped", "held")] * 4


def test_items_beside_directories_go_too_and_nothing_twice() -> None:
    items = [item("2024/12/31"), *MONTH, item("2025/02/01"), item("2025/02/02"), item("2025/03/01")]
    store = _store(*(f"{each.path.path}/part" for each in items), parallel=4)
    roots = [subtree(items, "2025/01"), subtree(items, "2025/02")]
    acted = act(store, items, roots)
    assert [each.item for each in acted.result.items] == items
    assert {each.outcome for each in acted.result.items} == {Outcome.DONE}
    deleted = [each for each in store.effects if each.startswith("delete")]
    assert sorted(deleted) == [
        "delete /data/clicks/2024/12/31", ONE_CALL, "delete /data/clicks/2025/02", "delete /data/clicks/2025/03/01"
    ]  # fmt: skip
    assert sorted(store.files) == ["/data/clicks/2026/01/01/part"]
    assert "/data/clicks/2024" not in store.directories
    assert "/data/clicks/2025" not in store.directories
