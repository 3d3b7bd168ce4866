"""Batches: written down before they begin and after they are over, while the next one is already written down."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

import pytest

from tests.unit.actions.fake_action import Mark, MarkAction, MarkBatch, Plan, Scene, outcomes
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder
from toolkit.actions.action import Applied, RunContext
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.result import ExitCode, Status
from toolkit.runs.audit_lines import AuditLine
from toolkit.runs.errors import LeaseExpired, Stopped
from toolkit.runs.recorder import LedgerWrite, RecordBatch, RecordedRun
from toolkit.runs.stop import ProcessStop


def _scene(count: int = 5, **about: object) -> Scene:
    return Scene(action=MarkAction(todo={"clicks": count}, **about))  # type: ignore[arg-type]


def _steps(recorder: MemoryRecorder) -> list[tuple[int, int]]:
    return [(len(step.settled), len(step.intended)) for step in recorder.steps]


def test_one_record_between_two_batches_has_the_outcomes_of_one_and_the_intentions_of_the_next_but_one() -> None:
    scene = _scene(8)
    assert scene.run().status is Status.SUCCEEDED
    assert _steps(scene.recorder) == [(0, 2), (0, 2), (2, 2), (2, 2), (2, 0), (2, 0)]
    assert [state for _, state in scene.recorder.states()].count(ItemState.DONE) == 8


def test_while_a_batch_works_what_follows_it_is_written_down() -> None:
    scene, written = _scene(4), threading.Event()

    def note(step: RecordBatch) -> None:
        if [item.position for item in step.intended] == [2, 3]:
            written.set()

    def wait(mark: Mark) -> None:
        assert mark.number > 0 or written.wait(60)

    scene.recorder.before_record, scene.action.before = note, wait
    assert scene.run().status is Status.SUCCEEDED
    assert written.is_set()


def test_nothing_begins_before_it_is_written_down() -> None:
    scene, written, early = _scene(9), set[str](), list[str]()
    scene.recorder.before_record = lambda step: written.update(item.path for item in step.intended)
    scene.action.before = lambda mark: early.extend([] if mark.uri in written else [mark.uri])
    scene.run()
    assert (len(scene.action.done), early) == (9, [])


def test_a_batch_without_items_is_no_end() -> None:
    class WithEmpty(MarkAction):
        def batches(self, plan: Plan, work: RunContext) -> tuple[MarkBatch, ...]:
            first, *rest = super().batches(plan, work)
            return (first, MarkBatch(action=self, plan=plan, work=work, positions=range(0)), *rest)

    scene = Scene(action=WithEmpty(todo={"clicks": 4}))
    assert outcomes(scene.run()) == [("done", "")] * 4


class Sequential(MarkAction):
    """Makes each batch when the one before is over."""

    seen: list[list[str]]
    size = 2

    def batches(self, plan: Plan, work: RunContext) -> Generator[MarkBatch, Applied[Mark], None]:  # type: ignore[override]
        self.seen = []
        for batch in super().batches(plan, work):
            applied = yield batch
            self.seen.append([each.item.uri[-1] for each in applied.results])


def test_a_generator_receives_the_results_of_each_batch_before_it_makes_the_next() -> None:
    action = Sequential(todo={"clicks": 5})
    scene = Scene(action=action)
    scene.recorder.before_record = lambda _: action.seen.append([f"recorded after {len(action.done)}"])
    assert outcomes(scene.run()) == [("done", "")] * 5
    assert action.seen == [
        ["recorded after 0"],
        ["0", "1"],
        ["recorded after 2"],
        ["2", "3"],
        ["recorded after 4"],
        ["4"],
        ["recorded after 5"],
    ]


def test_the_results_of_a_generators_batch_and_the_intentions_of_the_next_are_one_record() -> None:
    scene = Scene(action=Sequential(todo={"clicks": 5}))
    scene.run()
    assert _steps(scene.recorder) == [(0, 2), (2, 2), (2, 1), (1, 0)]


@dataclass(frozen=True, kw_only=True)
class WrittenBatch(MarkBatch):
    """The ledger keeps more of it than its items."""

    @property
    def intended_writes(self) -> Sequence[LedgerWrite]:
        return (_nothing,)


def _nothing(_: object, __: object) -> None:
    """A ledger write."""


def test_what_else_the_ledger_keeps_of_a_batch_is_in_the_record_of_its_intentions() -> None:
    class Writing(MarkAction):
        def batches(self, plan: Plan, work: RunContext) -> tuple[MarkBatch, ...]:
            first, *rest = super().batches(plan, work)
            return (WrittenBatch(action=self, plan=plan, work=work, positions=first.positions), *rest)

    scene = Scene(action=Writing(todo={"clicks": 4}))
    assert outcomes(scene.run()) == [("done", "")] * 4
    written = [(len(step.intended), step.intended_writes) for step in scene.recorder.steps]
    assert written == [(2, (_nothing,)), (2, ()), (0, ()), (0, ())]


def test_a_stop_leaves_what_a_generator_has_not_made_yet() -> None:
    process = ProcessStop()
    scene = Scene(action=Sequential(todo={"clicks": 5}), process=process)
    scene.action.effect = lambda _, mark: process.stop(Stopped(reason="SIGTERM")) if mark.number == 1 else None
    result = scene.run()
    assert outcomes(result) == [("done", "")] * 2 + [("skipped", "stopped")] * 3
    assert _steps(scene.recorder) == [(0, 2), (2, 0)]


def test_a_generator_that_leaves_out_items_fails_its_run() -> None:
    class Careless(Sequential):
        def batches(self, plan: Plan, work: RunContext) -> Generator[MarkBatch, Applied[Mark], None]:  # type: ignore[override]
            yield next(super().batches(plan, work))

    scene = Scene(action=Careless(todo={"clicks": 5}))
    with pytest.raises(ValueError, match="each item of a plan once"):
        scene.run()
    assert scene.recorder.outcomes[1].status is RunStatus.FAILED


def test_a_stop_before_anything_begins_writes_nothing_down() -> None:
    process = ProcessStop()

    class StopsAtItsBatches(MarkAction):
        def batches(self, plan: Plan, work: RunContext) -> tuple[MarkBatch, ...]:
            process.stop(Stopped(reason="received SIGTERM"))
            return super().batches(plan, work)

    scene = Scene(action=StopsAtItsBatches(todo={"clicks": 5}), process=process)
    result = scene.run()
    assert (result.exit_code, outcomes(result)) == (ExitCode.TERMINATED, [("skipped", "stopped")] * 5)
    assert (scene.recorder.steps, scene.recorder.outcomes[1].status) == ([], RunStatus.KILLED)


def test_a_stop_in_the_middle_settles_what_was_written_down_and_leaves_the_rest() -> None:
    process = ProcessStop()
    scene = _scene(9)
    scene.process = process
    scene.action.before = lambda mark: process.stop(Stopped(reason="SIGTERM")) if mark.number == 3 else None
    result = scene.run()
    assert (result.status, scene.action.done) == (Status.KILLED, [f"file:///marks/clicks-{n}" for n in range(3)])
    assert outcomes(result) == [("done", "")] * 3 + [("failed", "interrupted")] + [("skipped", "stopped")] * 5
    intended = sum(len(step.intended) for step in scene.recorder.steps)
    assert intended == sum(len(step.settled) for step in scene.recorder.steps)
    assert 4 <= intended <= 6


def test_a_run_that_is_told_to_stop_when_all_is_done_has_done_it() -> None:
    process = ProcessStop()
    scene = _scene(3)
    scene.process = process
    scene.action.effect = lambda _, mark: process.stop(Stopped(reason="SIGTERM")) if mark.number == 2 else None
    assert scene.run().status is Status.SUCCEEDED
    assert scene.recorder.outcomes[1].status is RunStatus.SUCCEEDED


@pytest.mark.parametrize(("record", "done"), [(1, [0]), (2, [0, 1, 2]), (3, [2, 3, 4]), (6, [8, 9]), (7, [9])])
def test_a_ledger_that_is_lost_stops_the_run_and_the_audit_file_has_all(record: int, done: list[int]) -> None:
    scene = _scene(9)
    scene.recorder = MemoryRecorder(fails_at=record)
    result = scene.run()
    assert (result.status, result.exit_code) == (Status.FAILED, ExitCode.FAILED)
    assert "is in the audit file" in str(result.stopped)
    assert len(scene.action.done) in done
    reported = [line["path"] for line in scene.audit.lines if line["state"] == "done" and line["what"] == "item"]
    assert sorted(map(str, reported)) == sorted(scene.action.done)


def test_nothing_begins_once_the_record_is_lost_in_the_middle_of_a_batch() -> None:
    """Not even the change that a store is about to make for an item that has begun."""
    is_lost = threading.Event()

    class RecordingLoss(AuditMemory):
        def write(self, lines: Iterable[AuditLine]) -> None:
            super().write(lines)
            if "ledger_lost" in {line.get("code") for line in self.lines}:
                is_lost.set()

    scene = Scene(action=MarkAction(todo={"clicks": 4}), recorder=MemoryRecorder(fails_at=2), audit=RecordingLoss())

    def wait(_: Mark) -> None:
        assert is_lost.wait(60)

    scene.action.before = wait
    codes = outcomes(scene.run())
    # The loop tells the guard just after the audit file has the line.
    assert scene.action.done in ([], ["file:///marks/clicks-0"])
    assert codes[-2:] == [("skipped", "stopped")] * 2


def test_a_run_that_lost_its_lease_records_what_it_did_and_stops() -> None:
    class TakenOver(MemoryRecorder):
        def record(self, run: RecordedRun, step: RecordBatch, *, is_repeated: bool = False) -> None:
            del run, is_repeated
            self.steps.append(step)
            if step.settled:
                raise LeaseExpired(why="another run")

    scene = _scene(9)
    scene.recorder = TakenOver()
    result = scene.run()
    assert (result.status, result.exit_code) == (Status.FAILED, ExitCode.FAILED)
    assert 2 <= len(scene.action.done) <= 4
    assert sum(len(step.settled) for step in scene.recorder.steps) == 4


def test_a_batch_that_lets_a_stop_through_stays_open_for_the_next_run() -> None:
    process = ProcessStop()
    scene = _scene(9, lets_stops_through=True)
    scene.process = process
    scene.action.before = lambda mark: process.stop(Stopped(reason="SIGTERM")) if mark.number == 2 else None
    result = scene.run()
    assert outcomes(result) == [("done", "")] * 2 + [("failed", "interrupted")] * 2 + [("skipped", "stopped")] * 5
    settled = {each.position for step in scene.recorder.steps for each in step.settled}
    assert settled in ({0, 1}, {0, 1, 4, 5})  # the batch after it may have been written down by then
    assert result.status is Status.KILLED


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_after_an_error_in_a_batch_nothing_more_begins(error: type[BaseException]) -> None:
    scene = _scene(9)

    def fail(mark: Mark) -> None:
        if mark.number == 2:
            raise error

    scene.action.before = fail
    with pytest.raises(error):
        scene.run()
    assert scene.action.done == ["file:///marks/clicks-0", "file:///marks/clicks-1"]
    status = RunStatus.KILLED if error is KeyboardInterrupt else RunStatus.FAILED
    assert scene.recorder.outcomes[1].status is status


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_was_done_while_an_error_came_from_the_record_is_in_the_audit_file(error: type[BaseException]) -> None:
    scene, is_done = _scene(9, size=3), threading.Event()

    def fail(step: RecordBatch) -> None:
        if step.intended and step.intended[0].position == 3:
            assert is_done.wait(60)
            raise error

    def last(mark: Mark) -> None:
        if mark.number == 2:
            is_done.set()

    scene.recorder.before_record, scene.action.before = fail, last
    with pytest.raises(error):
        scene.run()
    reported = [line["path"] for line in scene.audit.lines if line["state"] == "done" and line["what"] == "item"]
    assert (reported, len(reported) >= 2) == (scene.action.done, True)
    assert [len(step.settled) for step in scene.recorder.steps] == [0]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_while_something_is_written_down_ends_what_is_under_way(error: type[BaseException]) -> None:
    scene, began, stopped = _scene(9, size=3), threading.Event(), threading.Event()

    def fail(step: RecordBatch) -> None:
        if step.intended and step.intended[0].position == 3:
            assert began.wait(60)
            raise error

    def wait(mark: Mark) -> None:
        began.set()
        assert mark.number > 0 or stopped.wait(0.2) or True

    scene.recorder.before_record, scene.action.before = fail, wait
    with pytest.raises(error):
        scene.run()
    assert scene.action.done == []  # the first was let begin, and the store was asked once more
