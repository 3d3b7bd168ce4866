"""Tests of what a run writes down: items before and after, and one event for each instance that is gone."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.unit.retention.feeds import FeedText, days, gone, run
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder, request
from toolkit.el import CanonicalPath
from toolkit.errors import Skipped
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind, ItemState, RequestKind, RunStatus
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Outcome, Status
from toolkit.retention.batches import BATCH
from toolkit.runs.audit_lines import AuditLine
from toolkit.runs.errors import LeaseExpired, Stopped
from toolkit.runs.recorder import RecordBatch, RecordedRun
from toolkit.runs.stop import ProcessStop
from toolkit.storage import Entry

_MONTHS = [f"{year}/{month:02d}" for year in (2024, 2025) for month in range(1, 13)][:19]
MANY = [path for month in _MONTHS for path in days(*range(1, 29), month=month)]
REST = len(MANY) - BATCH
VIEWS = FeedText(name="views", data="/data/views/${YEAR}")


def _system(*paths: str) -> MemoryFileSystem:
    system = MemoryFileSystem()
    system.put(*paths)
    return system


def _event(day: int, path: str) -> NewEvent:
    key = f"2026-03-{day:02d}T00:00Z"
    return NewEvent(
        kind=EventKind.EVICTED, feed="clicks", cluster="primary", instance_key=key, uri=f"file:///data/clicks/{path}"
    )


def test_every_item_is_intended_before_it_is_done() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1, 2))
    seen: list[tuple[int, int]] = []
    recorder.before_record = lambda step: seen.append((len(step.intended), len(system.effects)))
    run(system, FeedText(), recorder=recorder)
    assert seen == [(2, 0), (0, 4)]
    assert [state for _, state in recorder.states()] == [ItemState.INTENDED] * 2 + [ItemState.DONE] * 2


def test_items_are_written_down_in_batches_with_one_record_between_two() -> None:
    recorder, audit = MemoryRecorder(), AuditMemory()
    result = run(_system(*MANY), FeedText(), recorder=recorder, audit=audit)
    assert len([*result.items]) == len(MANY) == BATCH + REST
    assert [(len(step.settled), len(step.intended)) for step in recorder.steps] == [
        (0, BATCH),
        (0, REST),
        (BATCH, 0),
        (REST, 0),
    ]
    assert audit.calls == 6


def test_every_instance_is_one_event_with_its_place() -> None:
    recorder = MemoryRecorder()
    run(
        _system(*days(1, 2), "/stats/2026-01-01/x"),
        FeedText(others={"stats": "/stats/${YEAR}-${MONTH}-${DAY}"}),
        recorder=recorder,
    )
    assert recorder.events() == [_event(1, "2026/03/01"), _event(2, "2026/03/02")]


def test_an_instance_in_several_places_is_one_event_when_the_last_of_them_is_gone() -> None:
    recorder = MemoryRecorder()
    paths = [f"/data/clicks/{region}/2026-03-01/x" for region in ("in", "uk", "us")]
    run(_system(*paths), FeedText(data="/data/clicks/${region}/${YEAR}-${MONTH}-${DAY}"), recorder=recorder)
    assert recorder.events() == [_event(1, "us/2026-03-01")]


def test_an_instance_of_which_one_place_stays_is_no_event() -> None:
    recorder = MemoryRecorder()
    system = _system(*(f"/data/clicks/{region}/2026-03-01/x" for region in ("in", "us")))
    system.locked.add("/data/clicks/in/2026-03-01")
    feed = FeedText(data="/data/clicks/${region}/${YEAR}-${MONTH}-${DAY}")
    assert run(system, feed, recorder=recorder).status is Status.PARTIAL
    assert recorder.events() == []
    system.locked.clear()
    run(system, feed, recorder=recorder)
    assert recorder.events() == [_event(1, "in/2026-03-01")]


def test_what_somebody_else_removed_is_no_event_of_ours() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1, 2))

    def other_run(path: str) -> None:
        if path.endswith("01"):
            system.files.pop("/data/clicks/2026/03/02/part")
            system.directories.discard("/data/clicks/2026/03/02")

    system.before_delete = other_run
    run(system, FeedText(), recorder=recorder)
    assert recorder.events() == [_event(1, "2026/03/01")]


def test_a_removal_that_fails_after_it_took_the_instance_away_is_an_event() -> None:
    """Locally an instance is renamed aside first: its readers have lost it, whatever happens then."""
    recorder, system = MemoryRecorder(), _system(*days(1))

    def fails_late(path: str) -> None:
        system.put("/data/clicks/2026/03/.feedctl-evicting-01/part")
        system.files.pop(f"{path}/part")
        system.directories.discard(path)
        system.locked.add(path)

    system.before_delete = fails_late
    result = run(system, FeedText(), recorder=recorder)
    assert (result.status, recorder.events()) == (Status.FAILED, [_event(1, "2026/03/01")])


def test_what_fails_or_is_left_is_settled_with_its_code() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1, 2))
    system.locked.add("/data/clicks/2026/03/01")
    system.before_delete = lambda path: None if path.endswith("01") else system.put("/data/clicks/2026/03/02/new")
    run(system, FeedText(), recorder=recorder)
    (_, step) = recorder.steps
    assert [(each.state, each.code) for each in step.settled] == [
        (ItemState.FAILED, "permission_denied"),
        (ItemState.DONE, None),
    ]
    outcome = recorder.outcomes[1]
    assert (outcome.status, outcome.exit_code) == (RunStatus.FAILED, 4)
    assert outcome.reason is not None
    assert outcome.reason.startswith("1 of 2 items failed, the first: file:///data/clicks/2026/03/01")


def test_emptied_parents_are_in_the_audit_file_and_no_items() -> None:
    recorder, audit = MemoryRecorder(), AuditMemory()
    run(_system(*days(1)), FeedText(), recorder=recorder, audit=audit)
    removed = [line["path"] for line in audit.lines if line["state"] == "done"]
    assert removed == [f"file:///data/clicks/{each}" for each in ("2026/03/01", "2026/03", "2026")]
    assert len(recorder.states()) == 2


@pytest.mark.parametrize(
    ("record", "least", "most"), [(1, 0, 0), (2, 0, BATCH), (3, BATCH, len(MANY)), (4, len(MANY), len(MANY))]
)
def test_a_ledger_that_is_lost_stops_the_run_and_the_audit_file_has_all(record: int, least: int, most: int) -> None:
    recorder, audit, system = MemoryRecorder(fails_at=record), AuditMemory(), _system(*MANY)
    result = run(system, FeedText(), recorder=recorder, audit=audit)
    assert (result.status, result.exit_code) == (Status.FAILED, ExitCode.FAILED)
    assert result.stopped is not None
    assert "is in the audit file" in str(result.stopped)
    done = [f"file://{path}" for path in gone(result)]
    assert least <= len(done) <= most
    reported = [line["path"] for line in audit.lines if line["state"] == "done" and line["kind"] == "instance:data"]
    assert Counter(reported) == Counter(done)  # one that stays open for the directories above it is told last
    assert len([effect for effect in system.effects if effect.startswith("delete")]) == len(done)


def test_nothing_begins_once_the_ledger_is_lost_in_the_middle_of_a_batch() -> None:
    """What follows is written down while a batch is at work; when that fails, the batch ends with what is under way."""
    recorder, system, is_lost = MemoryRecorder(fails_at=2), _system(*MANY), threading.Event()

    class RecordingLoss(AuditMemory):
        def write(self, lines: Iterable[AuditLine]) -> None:
            super().write(lines)
            if "ledger_lost" in {line.get("code") for line in self.lines}:
                is_lost.set()

    system.before_delete = lambda _: None if is_lost.wait(60) else pytest.fail("nobody said that the ledger was lost")
    result = run(system, FeedText(), recorder=recorder, audit=RecordingLoss())
    codes = Counter((each.outcome, each.code) for each in result.items)
    # The thread may be between its last look and its next effect when the run is told.
    assert codes[Outcome.DONE, ""] <= 2
    assert codes[Outcome.SKIPPED, "stopped"] == len(MANY) - codes[Outcome.DONE, ""]


def test_a_batch_that_was_written_down_before_the_run_was_stopped_is_settled_too() -> None:
    process, recorder = ProcessStop(), MemoryRecorder()

    def stop_while_the_second_is_written(step: RecordBatch) -> None:
        if len(step.intended) == REST:
            process.stop(Stopped(reason="received SIGTERM"))

    recorder.before_record = stop_while_the_second_is_written
    result = run(_system(*MANY), FeedText(), recorder=recorder, stop_signal=process)
    assert result.status is Status.KILLED
    assert sum(len(step.intended) for step in recorder.steps) == len(MANY)
    assert sum(len(step.settled) for step in recorder.steps) == len(MANY)


def test_nothing_of_a_batch_begins_before_it_is_written_down() -> None:
    recorder, system, written = MemoryRecorder(), _system(*MANY), set[str]()
    recorder.before_record = lambda step: written.update(item.path for item in step.intended)
    early: list[str] = []
    system.before_delete = lambda path: early.extend([] if f"file://{path}" in written else [path])
    assert len(gone(run(system, FeedText(), recorder=recorder))) == len(MANY)
    assert early == []


def test_a_run_that_lost_its_lease_records_what_it_did_and_stops() -> None:
    class TakenOver(MemoryRecorder):
        def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
            del run, is_repeated
            self.steps.append(step)
            if step.settled:
                raise LeaseExpired(why="another run")

    recorder = TakenOver()
    result = run(_system(*MANY), FeedText(), recorder=recorder)
    assert (result.status, result.exit_code) == (Status.FAILED, ExitCode.FAILED)
    done = len(gone(result))
    assert BATCH <= done <= len(MANY)
    assert [each.code for each in result.items if each.outcome is Outcome.SKIPPED] == ["stopped"] * (len(MANY) - done)
    assert sum(len(step.settled) for step in recorder.steps) == len(MANY)


def test_a_run_that_is_killed_ends_alone_and_the_others_go_on() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1, 2), "/data/views/2024/x")
    beats: list[Callable[[], object]] = []

    def kill_the_first(step: RecordBatch) -> None:
        if step.intended and not recorder.open_requests:
            recorder.open_requests.append(request(RequestKind.KILL, run_id=1))
            beats[0]()

    recorder.before_record = kill_the_first
    result = run(system, FeedText(), VIEWS, recorder=recorder, beats=beats)
    assert (result.status, result.exit_code) == (Status.PARTIAL, ExitCode.PARTIAL)
    assert gone(result) == ["/data/views/2024"]
    assert {run_id: each.status for run_id, each in recorder.outcomes.items()} == {
        1: RunStatus.KILLED,
        2: RunStatus.SUCCEEDED,
    }
    assert result.targets[0].stopped is not None


def test_a_stop_of_the_process_ends_the_runs_of_all_feeds() -> None:
    system, recorder = _system(*days(1, 2), "/data/views/2024/x"), MemoryRecorder()

    def stop(path: str) -> None:
        if path.endswith("02"):
            raise Stopped(reason="received SIGTERM")

    system.before_delete = stop
    result = run(system, FeedText(), VIEWS, recorder=recorder)
    assert (result.status, result.exit_code) == (Status.KILLED, ExitCode.TERMINATED)
    assert [(each.outcome, each.code) for each in result.items] == [
        (Outcome.DONE, ""),
        (Outcome.FAILED, "interrupted"),
        (Outcome.SKIPPED, "stopped"),
    ]
    assert {each.status for each in recorder.outcomes.values()} == {RunStatus.KILLED}


def test_a_run_that_is_told_to_stop_after_its_last_effect_has_succeeded() -> None:
    class StopsAtTheEnd(MemoryFileSystem):
        def remove_if_empty(self, path: CanonicalPath, *, below: CanonicalPath) -> bool:
            process.stop(Stopped(reason="received SIGTERM"))
            return super().remove_if_empty(path, below=below)

    process, system, recorder = ProcessStop(), StopsAtTheEnd(), MemoryRecorder()
    system.put(*days(1, 20))
    assert run(system, FeedText(), recorder=recorder, stop_signal=process).status is Status.SUCCEEDED
    assert recorder.outcomes[1].status is RunStatus.SUCCEEDED


def test_a_run_that_is_stopped_while_it_plans_has_no_plan_to_show() -> None:
    recorder = MemoryRecorder()

    class StopsAtItsListing(MemoryFileSystem):
        def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
            process.stop(Stopped(reason="received SIGTERM"))
            return super().list(path, start_from=start_from)

    process, system = ProcessStop(), StopsAtItsListing()
    system.put(*days(1), "/data/views/2024/x")
    result = run(system, FeedText(), VIEWS, recorder=recorder, stop_signal=process)
    assert (result.status, result.targets, result.digest) == (Status.KILLED, (), "")
    assert [each.status for each in recorder.outcomes.values()] == [RunStatus.KILLED] * 2


def test_a_feed_that_is_skipped_is_named_and_the_others_go_on() -> None:
    recorder = MemoryRecorder(refusals={"clicks": Skipped("clicks is suspended by bob")})
    system = _system(*days(1), "/data/views/2024/x")
    result = run(system, FeedText(), VIEWS, recorder=recorder)
    assert (result.status, gone(result)) == (Status.SUCCEEDED, ["/data/views/2024"])
    skipped = result.targets[0].plan.skipped
    assert skipped is not None
    assert (skipped.code, skipped.message) == ("skipped", "clicks is suspended by bob")
    assert result.targets[0].run is not None
    assert recorder.skips == ["clicks is suspended by bob"]


def test_a_run_whose_feeds_are_all_skipped_is_skipped() -> None:
    recorder = MemoryRecorder(refusals={name: Skipped("safe mode") for name in ("clicks", "views")})
    system = _system(*days(1), "/data/views/2024/x")
    result = run(system, FeedText(), VIEWS, FeedText(name="kept", limit=None), recorder=recorder)
    assert (result.status, result.exit_code, system.effects) == (Status.SKIPPED, ExitCode.SKIPPED, [])


def test_a_skipped_feed_hides_no_failure_of_another() -> None:
    recorder = MemoryRecorder(refusals={"clicks": Skipped("suspended")})
    system = _system(*days(1), "/data/views/2024/x")
    system.locked.add("/data/views/2024")
    assert run(system, FeedText(), VIEWS, recorder=recorder).status is Status.FAILED


def test_a_refused_run_gives_its_leases_back_and_says_why() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1, 2))
    run(system, FeedText(), limits=DeleteLimits(instances=1), recorder=recorder)
    assert (recorder.outcomes[1].status, recorder.outcomes[1].exit_code) == (RunStatus.FAILED, 3)
    assert (recorder.steps, system.effects) == ([], [])


def test_a_feed_gives_its_lease_back_as_soon_as_it_is_done() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1), "/data/views/2024/x")
    outcomes: list[dict[int, object]] = []
    system.before_delete = lambda _: outcomes.append(dict(recorder.outcomes))
    run(system, FeedText(), VIEWS, recorder=recorder)
    assert [list(each) for each in outcomes] == [[], [1]]


def test_a_feed_that_cannot_be_looked_at_is_a_failed_run() -> None:
    recorder, system = MemoryRecorder(), _system(*days(1))
    system.locked.add("/data/clicks")
    run(system, FeedText(), recorder=recorder)
    outcome = recorder.outcomes[1]
    assert (outcome.status, outcome.exit_code) == (RunStatus.FAILED, 1)
    assert outcome.reason is not None
    assert outcome.reason.startswith("permission_denied: ")
