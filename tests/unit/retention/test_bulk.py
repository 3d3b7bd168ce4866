"""Stores without directories: items go in bulk, the availability flag first, and empty objects of directories last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from tests.unit.retention.acting import BASE, SharedStore, act, capabilities, item, subtree, target_on
from tests.unit.retention.feeds import context_on
from tests.unit.runs.fakes import HandClock, MemoryRecorder
from toolkit.actions.guard import CalledOff, Guard
from toolkit.actions.hold_watch import ITEMS_BETWEEN_LOOKS, HoldWatch
from toolkit.el import CanonicalPath
from toolkit.ledger.vocabulary import ItemState
from toolkit.retention.batches import BULK
from toolkit.retention.delete import BulkDelete
from toolkit.retention.plan import ItemKind
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import NeverStopped, ProcessStop
from toolkit.storage import Deleted, FileStatus, FileSystem, NotBegun, PermissionDenied, StorageFailure, Unreachable

MANY = [item(f"2025/{month:02d}/{day:02d}") for month in range(1, 7) for day in range(1, 29)]


def _objects(*paths: str) -> SharedStore:
    store = SharedStore(has=capabilities(atomic_delete=False, directories=False, parallel=4))
    store.put(*paths or (f"{each.path.path}/part" for each in MANY))
    return store


def test_items_go_by_the_stores_bulk_call_with_the_flag_first() -> None:
    store = _objects()
    acted = act(store, MANY, flag="_SUCCESS")
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * len(MANY)
    assert [(len(paths), first) for paths, first in store.bulks] == [(BULK, "_SUCCESS"), (68, "_SUCCESS")]
    assert store.files == {}


def test_a_directory_that_only_holds_items_is_no_unit_there() -> None:
    store = _objects()
    act(store, MANY, [subtree(MANY, "2025/01")])
    assert sorted(path for paths, _ in store.bulks for path in paths) == [each.path.path for each in MANY]


def test_an_item_that_fails_is_named_and_the_others_go() -> None:
    store = _objects()
    store.locked.add("/data/clicks/2025/03/07")
    acted = act(store, MANY)
    assert [each for each in acted.outcomes if each[1] != "done"] == [("2025/03/07", "failed", "permission_denied")]
    assert list(store.files) == ["/data/clicks/2025/03/07/part"]
    assert acted.recorder.outcomes[1].exit_code == 4


def test_an_item_that_is_not_there_was_removed_by_somebody_else() -> None:
    store = _objects("/data/clicks/2025/01/01/part")
    acted = act(store, MANY[:2])
    assert [each[1:] for each in acted.outcomes] == [("done", ""), ("skipped", "already_gone")]


def test_a_bulk_call_that_fails_as_a_whole_fails_what_it_did_not_answer() -> None:
    store, calls = _objects(), list[str]()

    def breaks(call: str, path: str) -> None:
        calls.extend([path] if call == "delete_all" else [])
        if call == "delete_all" and len(calls) == 2:
            raise StorageFailure(path=MANY[0].path, detail="no such bucket")

    store.broken = breaks
    acted = act(store, MANY)
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * BULK + [("failed", "storage_failure")] * 68
    assert len(acted.evicted) == BULK


def test_a_stop_in_a_bulk_call_tells_what_was_done_of_it() -> None:
    store, process = _objects(), ProcessStop()

    def stop(call: str, path: str) -> None:
        if call == "delete" and path.endswith("01/05"):
            process.stop(Stopped(reason="received SIGTERM"))

    store.broken = stop
    acted = act(store, MANY, stop_signal=process)
    assert [each[1:] for each in acted.outcomes] == [
        *[("done", "")] * 5, *[("failed", "interrupted")] * (BULK - 5), *[("skipped", "stopped")] * 68
    ]  # fmt: skip
    assert len(acted.evicted) == 5
    assert len(store.files) == len(MANY) - 5


def test_a_hold_stops_a_bulk_call_in_its_middle() -> None:
    store = _objects()

    def hold(call: str, path: str) -> None:
        if call == "delete" and path.endswith("01/05"):
            store.files["/data/clicks/.feedctl-hold"] = b""

    store.broken = hold
    acted = act(store, MANY)
    codes = [each[2] for each in acted.outcomes]
    done = codes.count("")
    assert 5 <= done <= ITEMS_BETWEEN_LOOKS
    assert codes == [""] * done + ["interrupted"] * (BULK - done) + ["held"] * 68
    assert "the feed was put on hold" in acted.result.items[done].message
    assert len(store.files) == len(MANY) - done + 1
    assert [state for _, state in acted.recorder.states()].count(ItemState.DONE) == done


def test_what_a_store_was_not_asked_about_is_whole_and_told_as_held() -> None:
    class Telling(SharedStore):
        """Asks for ten paths at a time, answers for none of them, and says of which it did not ask."""

        def delete_all(
            self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = ""
        ) -> Iterator[Deleted]:
            del below, first
            calls = list(paths)
            try:
                self.before_effect()
                self.files["/data/clicks/.feedctl-hold"] = b""
                clock.forward(2)
                self.before_effect()
            except CalledOff:
                yield from (Deleted(path, NotBegun(path=path)) for path in calls[10:])
                raise

    clock = HandClock()
    store = Telling(has=capabilities(atomic_delete=False, directories=False))
    store.put(*(f"{each.path.path}/part" for each in MANY[:30]))
    watch = HoldWatch(bases=[MANY[0].base], pairs=[], storage=lambda _: store, now=clock)
    guard = Guard(run=NeverStopped(), conditions=[watch])
    store.before_effect = guard.check
    done = _bulk(store, guard).remove(MANY[:30])
    found = [(each.result.outcome, each.result.code, each.is_open) for each in done]
    assert found == [("failed", "interrupted", True)] * 10 + [("skipped", "held", False)] * 20


@pytest.mark.parametrize("directories", [True, False])
def test_a_path_that_the_store_says_nothing_about_is_open(*, directories: bool) -> None:
    """The removal has an unknown result: the data may be there, may be gone, and may still go."""

    class Forgetful(SharedStore):
        def delete_all(
            self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = ""
        ) -> Iterator[Deleted]:
            return (each for each in super().delete_all(paths, below=below, first=first) if each.path != MANY[7].path)

    store = Forgetful(has=capabilities(atomic_delete=directories, directories=directories))
    store.put(*(f"{each.path.path}/part" for each in MANY[:60]))
    acted = act(store, MANY[:60])
    assert [each for each in acted.outcomes if each[1] != "done"] == [("2025/01/08", "failed", "unreachable")]
    settled = [each.position for step in acted.recorder.steps for each in step.settled]
    assert sorted(settled) == [position for position in range(60) if position != 7]
    assert "2025-01-08T00:00Z" not in acted.evicted
    assert len(acted.evicted) == 59
    assert acted.recorder.outcomes[1].exit_code == 4


def test_a_hold_is_seen_within_a_second_while_one_large_instance_goes() -> None:
    """Its store asks before each of its requests, and has no answer for long."""
    guard, store, clock, requests = _guard()

    def remove(call: str, path: str) -> None:
        if call == "delete_all":
            for _ in range(100):
                guard.check()
                requests.append(path)
                clock.forward(0.3)
                store.files["/data/clicks/.feedctl-hold"] = b""

    store.broken = remove
    done = _bulk(store, guard).remove(MANY[:2])
    assert {(each.result.code, each.is_open) for each in done} == {("interrupted", True)}
    assert len(requests) == 4


def test_a_stop_before_the_first_change_has_touched_nothing_and_asks_nothing() -> None:
    guard, store, _, calls = _guard()
    stopped = Stopped(reason="received SIGTERM")

    def stop(call: str, path: str) -> None:
        calls.append(f"{call} {path}")
        if call == "delete_all":
            raise stopped

    store.broken = stop
    done = _bulk(store, guard).remove(MANY[:2])
    assert {(each.result.outcome, each.result.code, each.is_open) for each in done} == {("skipped", "stopped", False)}
    assert calls == ["status /data/clicks/.feedctl-hold", "delete_all /data/clicks"]
    assert guard.stopped is stopped


def test_a_hold_that_cannot_be_looked_for_fails_the_rest_of_the_feed_with_the_stores_code() -> None:
    guard, store, _, _ = _guard()

    def fail(call: str, path: str) -> None:
        if call == "status":
            raise StorageFailure(path=BASE, detail="java.io.IOException: something new")
        message = f"{call} {path}"
        raise AssertionError(message)

    store.broken = fail
    bulk = _bulk(store, guard)
    for _ in range(2):
        done = bulk.remove(MANY[:2])
        assert {(each.result.outcome, each.result.code) for each in done} == {("failed", "storage_failure")}
        assert "a hold could not be looked for" in done[0].result.message
        store.broken = lambda _, __: None  # what was not known once stays so for the run


def _bulk(store: FileSystem, guard: Guard) -> BulkDelete:
    return BulkDelete(work=replace(context_on(store, guard.run), guard=guard), first="")


def _guard() -> tuple[Guard, SharedStore, HandClock, list[str]]:
    """The guard of a run that nothing stops, before a store; and an empty list."""
    store, clock = _objects(), HandClock()
    watch = HoldWatch(bases=target_on(store).data_bases, pairs=(), storage=lambda _: store, now=clock)
    return Guard(run=NeverStopped(), conditions=(watch,)), store, clock, []


@pytest.mark.parametrize("answers_later", [True, False])
def test_a_store_that_falls_silent_fails_the_rest_soon(*, answers_later: bool) -> None:
    """What was asked and not answered stays open for the next run; what was never begun is settled."""
    store, recorder, calls = _objects(), MemoryRecorder(), list[str]()

    def silent(call: str, path: str) -> None:
        is_late = any(path.endswith(f"/0{month}/20") for month in (2,))
        if call == "delete" and (is_late or calls):
            calls.append(path)
            raise Unreachable(path=MANY[0].path, detail="no answer for 120 s")
        if calls and not answers_later:
            raise Unreachable(path=MANY[0].path, detail="no answer for 120 s")

    store.broken = silent
    acted = act(store, MANY, recorder=recorder)
    done = 28 + 19
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * done + [("failed", "unreachable")] * (168 - done)
    settled = [each.state for step in recorder.steps for each in step.settled]
    is_open = len(MANY) - len(settled)
    assert is_open == (168 - done if answers_later else BULK - done)
    # A store that says nothing about a hold either is not asked for more.
    assert len(calls) == (is_open if answers_later else 2)
    assert settled.count(ItemState.DONE) == done
    messages = {each.message.rpartition("; ")[2] for each in acted.result.items if each.message}
    assert "run again when it does" in messages or answers_later


def test_markers_of_emptied_directories_go_even_above_one_that_has_none() -> None:
    store = _objects("/data/clicks/2025/01/01/part")
    store.directories = {"/data/clicks/2025", "/data/clicks/2025/01/01"}
    act(store, [item("2025/01/01")])
    assert "/data/clicks/2025" not in store.directories


def test_an_empty_directory_is_an_item_of_its_own() -> None:
    items = [item("2024", ItemKind.EMPTY_DIRECTORY), *MANY[:2]]
    store = _objects()
    store.make("/data/clicks/2024")
    acted = act(store, items)
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * 3
    assert store.bulks == [([each.path.path for each in MANY[:2]], "")]


def test_a_hold_does_not_end_the_look_at_what_became_of_an_item() -> None:
    """While it waits for a store that is silent by then, the run is asked, and a hold is no error of it."""

    class SilentLater(SharedStore):
        def delete_all(
            self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = ""
        ) -> Iterator[Deleted]:
            del below, first
            for path in paths:
                yield Deleted(path, PermissionDenied(path=path))
            self.is_over = True

        def status(self, path: CanonicalPath) -> FileStatus:
            if self.is_over and path == MANY[0].path:
                self.files["/data/clicks/.feedctl-hold"] = b""
                clock.forward(2)
                self.before_effect()
            return super().status(path)

        is_over = False

    clock = HandClock()
    store = SilentLater(has=capabilities(atomic_delete=False, directories=False))
    store.put(*(f"{each.path.path}/part" for each in MANY[:2]))
    watch = HoldWatch(bases=[MANY[0].base], pairs=[], storage=lambda _: store, now=clock)
    guard = Guard(run=NeverStopped(), conditions=[watch])
    store.before_effect = guard.check
    done = _bulk(store, guard).remove(MANY[:2])
    assert [each.result.code for each in done] == ["permission_denied"] * 2
