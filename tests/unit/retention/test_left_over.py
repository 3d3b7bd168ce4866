"""Tests of what a killed run had begun: the storage tells the next run whether it happened."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.retention.feeds import NOMINAL, FeedText, cluster, days, run
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from tests.unit.runs.fakes import MemoryRecorder, left_item
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Hold
from toolkit.ledger.runs.items import Item, NewItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import Status
from toolkit.retention import RetentionResolver
from toolkit.retention.planner import blank_plan
from toolkit.retention.records import recovered
from toolkit.storage import FileStatus, PermissionDenied

REGIONS = FeedText(data="/data/clicks/${region}/${YEAR}-${MONTH}-${DAY}")


def _left(path: str, key: str = "2026-03-01T00:00Z", *, run_id: int = 7, kind: str = "instance:data") -> Item:
    position = int.from_bytes(path.encode()) % 1000
    new = NewItem(position=position, kind=kind, path=f"file:///data/clicks/{path}", instance_key=key)
    return left_item(new, run_id)


def _system(*paths: str) -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put("/data/clicks/x", *paths)
    return system


def _settled(recorder: MemoryRecorder) -> list[tuple[int, ItemState, str | None, str | None]]:
    return [
        (each.run_id, each.item.state, each.item.code, None if each.event is None else each.event.instance_key)
        for each in recorder.settled_left
    ]


def test_what_is_gone_was_done_and_is_an_event_of_the_run_that_did_it() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    result = run(_system(), FeedText(), recorder=recorder)
    assert _settled(recorder) == [(7, ItemState.DONE, "found_gone", "2026-03-01T00:00Z")]
    (note,) = result.targets[0].plan.notes
    assert note.startswith(
        "an earlier run left 1 open (it died, or its storage did not answer): 1 are gone, 0 are still there"
    )


def test_what_is_there_was_not_done_and_the_new_plan_takes_it() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    run(_system(*days(1)), FeedText(), recorder=recorder)
    assert _settled(recorder) == [(7, ItemState.FAILED, "not_done", None)]
    assert [event.instance_key for event in recorder.events()] == ["2026-03-01T00:00Z"]


def test_only_data_instances_are_events() -> None:
    left = [_left("2026/03/01", kind="instance:stats"), _left("2026", "", kind="empty_directory:data")]
    recorder = MemoryRecorder(left=left)
    run(_system(), FeedText(), recorder=recorder)
    assert sorted(_settled(recorder)) == [(7, ItemState.DONE, "found_gone", None)] * 2


def test_what_was_planned_again_was_just_seen_and_is_not_asked_for() -> None:
    class Counted(MemoryFileSystem):
        requested = 0

        def status(self, path: CanonicalPath) -> FileStatus:
            self.requested += path.path.endswith("/2026/03/01")
            return super().status(path)

    system = Counted()
    system.put(*days(1))
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    system.before_delete = lambda _: setattr(system, "asked_before", system.requested)
    run(system, FeedText(), recorder=recorder)
    assert _settled(recorder) == [(7, ItemState.FAILED, "not_done", None)]
    assert vars(system)["asked_before"] == 1  # by the removal itself


def test_an_instance_in_several_places_is_one_event() -> None:
    recorder = MemoryRecorder(left=[_left("in/2026-03-01"), _left("us/2026-03-01", run_id=8)])
    run(_system(), REGIONS, recorder=recorder)
    assert [each[3] for each in _settled(recorder)].count("2026-03-01T00:00Z") == 1
    assert len(_settled(recorder)) == 2


def test_an_instance_that_is_still_in_one_place_is_an_event_only_when_that_is_gone_too() -> None:
    recorder = MemoryRecorder(left=[_left("in/2026-03-01")])
    run(_system("/data/clicks/us/2026-03-01/x"), REGIONS, recorder=recorder)
    assert _settled(recorder) == [(7, ItemState.DONE, "found_gone", None)]
    assert [event.uri for event in recorder.events()] == ["file:///data/clicks/us/2026-03-01"]


def test_an_instance_that_is_kept_in_one_place_is_no_event() -> None:
    recorder = MemoryRecorder(left=[_left("in/2026-03-01")])
    hold = Hold(feed="clicks", start=parse_instant("2026-03-01T00:00Z"), reason="audit")
    run(_system("/data/clicks/us/2026-03-01/x"), REGIONS, recorder=recorder, holds=[hold])
    assert (_settled(recorder), recorder.events()) == ([(7, ItemState.DONE, "found_gone", None)], [])


def test_below_a_base_that_is_not_there_nothing_is_known() -> None:
    """A disk that is not mounted looks like one on which everything is gone."""
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    run(MemoryFileSystem(), FeedText(), recorder=recorder)
    assert (_settled(recorder), recorder.events()) == ([], [])


def test_what_cannot_be_looked_at_stays_open() -> None:
    class Locked(MemoryFileSystem):
        def status(self, path: CanonicalPath) -> FileStatus:
            if path.path.endswith("/2026/03/01"):
                raise PermissionDenied(path=path)
            return super().status(path)

    system = Locked()
    system.put("/data/clicks/x")
    recorder = MemoryRecorder(left=[_left("2026/03/01"), _left("2026/03/02", "2026-03-02T00:00Z")])
    run(system, FeedText(), recorder=recorder)
    assert [each[3] for each in _settled(recorder)] == ["2026-03-02T00:00Z"]


def test_when_somebody_else_settles_meanwhile_it_is_looked_at_again() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")], left_conflicts=2)
    run(_system(), FeedText(), recorder=recorder)
    assert len(recorder.settled_left) == 1
    recorder = MemoryRecorder(left=[_left("2026/03/01")], left_conflicts=3)
    result = run(_system(*days(2)), FeedText(), recorder=recorder)
    assert (recorder.settled_left, result.status) == ([], Status.SUCCEEDED)
    assert "the next run looks again" in result.targets[0].plan.notes[0]


def test_a_feed_on_hold_was_not_looked_at_so_nothing_is_settled() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    run(_system("/data/clicks/.feedctl-hold"), FeedText(), recorder=recorder)
    assert recorder.settled_left == []


def test_a_run_that_is_refused_leaves_it_to_the_next_one() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    result = run(_system(*days(2, 3)), FeedText(), recorder=recorder, limits=DeleteLimits(instances=1))
    assert (result.status, recorder.settled_left) == (Status.REFUSED, [])


def test_on_an_object_store_whose_last_key_went_the_bucket_is_asked_instead_of_the_base() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    system = ObjectMemory()
    system.put("/other/x")
    run(system, FeedText(), recorder=recorder)
    assert _settled(recorder) == [(7, ItemState.DONE, "found_gone", "2026-03-01T00:00Z")]


def test_in_a_bucket_that_is_not_there_nothing_is_known() -> None:
    recorder = MemoryRecorder(left=[_left("2026/03/01")])
    run(ObjectMemory(), FeedText(), recorder=recorder)
    assert _settled(recorder) == []


def test_a_path_that_was_written_down_before_its_name_service_was_known_is_the_same_place() -> None:
    system = _system()
    conf = {
        "dfs.nameservices": "ns1",
        "dfs.ha.namenodes.ns1": "a",
        "dfs.namenode.rpc-address.ns1.a": "nn1.example.com:8020",
    }
    on_hdfs = replace(cluster(default_fs="hdfs://ns1/"), hadoop_conf=conf)
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL), keep_beyond_validity=True, holds=(), storage=lambda _: system
    )
    (target,) = resolver.resolve([(FeedText().feed(), on_hdfs)], must_all_work=True).to_do
    plan = blank_plan(target)
    new = NewItem(
        position=0,
        kind="instance:data",
        path="hdfs://nn1.example.com/data/clicks/2026/03/01",
        instance_key="2026-03-01T00:00Z",
    )
    (settled,) = recovered(plan, [left_item(new)], lambda _: system).settled
    assert (settled.item.state, settled.item.code) == (ItemState.DONE, "found_gone")
    assert settled.event is not None
    assert settled.event.instance_key == "2026-03-01T00:00Z"
