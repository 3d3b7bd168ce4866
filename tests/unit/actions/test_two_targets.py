"""Two targets at work in two threads, on stores that share what a process has: the end of one leaves the other be."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.actions.fake_action import Mark, MarkAction, Scene, context, outcomes
from tests.unit.runs.fakes import MemoryRecorder, request
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition, Guard
from toolkit.el import CanonicalPath
from toolkit.ledger.vocabulary import RequestKind, RunStatus
from toolkit.runs.recorder import RecordBatch
from toolkit.runs.stop import StopSignal
from toolkit.storage import StorageSpec
from toolkit.storage.bound import SharedStores

COUNT = 24
DIES_AT = 9


class Files:
    """Marks that are files on a real store, made by each run's own view of it."""

    def __init__(self, folder: Path, recorder: MemoryRecorder) -> None:
        self.folder, self.shared = folder, SharedStores(spec_of=lambda path: StorageSpec(scheme=path.scheme))
        base = CanonicalPath.parse(folder.as_uri())
        action = MarkAction(todo={"clicks": COUNT, "views": COUNT}, size=6, base=base, effect=self.write)
        self.scene = Scene(action=action, recorder=recorder, open_context=self.open)
        self.both = threading.Barrier(2)

    def open(self, run: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        guard = Guard(run=run, conditions=conditions)
        bound = self.shared.bound(guard.check)
        work = replace(context(run), stores=bound.of, guard=guard, pool=bound.pool)
        return replace(work, rate=self.shared.rate_of, wait_for_rate=bound.wait_for_rate, close=bound.close)

    def write(self, work: RunContext, mark: Mark) -> None:
        work.stores(mark.path).write(mark.path, [b"x"])

    def made(self, entity: str) -> int:
        return len(list(self.folder.glob(f"{entity}-*")))

    def both_at_work(self, mark: Mark, number: int = DIES_AT) -> bool:
        """Return whether this is the mark at which the first run ends; both are in their middle then."""
        if mark.number == number:
            self.both.wait(60)
        return mark.number == number and mark.entity == "clicks"


def _kill(recorder: MemoryRecorder) -> None:
    recorder.open_requests.append(request(RequestKind.KILL, run_id=1))


def _take_lease(recorder: MemoryRecorder) -> None:
    recorder.lost.add(1)


@pytest.mark.parametrize(("end", "status"), [(_kill, RunStatus.KILLED), (_take_lease, RunStatus.FAILED)])
def test_a_run_that_is_killed_or_has_no_lease_any_more_ends_and_the_other_does_all(
    tmp_path: Path, end: object, status: RunStatus
) -> None:
    files = Files(tmp_path, MemoryRecorder())
    scene = files.scene

    def before(mark: Mark) -> None:
        if files.both_at_work(mark):
            end(scene.recorder)  # type: ignore[operator]
            scene.beat()

    scene.action.before = before
    result = scene.run(parallel=2)
    clicks, views = result.targets
    assert (scene.recorder.outcomes[1].status, scene.recorder.outcomes[2].status) == (
        status,
        RunStatus.SUCCEEDED,
    )
    assert (files.made("views"), views.stopped, {each.outcome.value for each in views.items}) == (COUNT, None, {"done"})
    done = sum(each.outcome.value == "done" for each in clicks.items)
    assert done == files.made("clicks") < COUNT
    assert (len(clicks.items), clicks.stopped is None, result.stopped) == (COUNT, False, None)


def test_a_run_whose_time_is_over_and_that_cannot_renew_it_ends_alone(tmp_path: Path) -> None:
    class RenewsOnlyTheSecond(MemoryRecorder):
        def beat(self, runs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            reported = super().beat(runs)
            return replace(reported, renewed=reported.renewed - {1})

    files = Files(tmp_path, RenewsOnlyTheSecond())
    files.scene.action.before = lambda mark: files.scene.clock.forward(3600) if files.both_at_work(mark) else None
    result = files.scene.run(parallel=2)
    assert [each.stopped is None for each in result.targets] == [False, True]
    assert (files.made("views"), files.scene.recorder.outcomes[1].status) == (COUNT, RunStatus.FAILED)


def test_while_a_run_is_paused_the_other_goes_on_to_its_end(tmp_path: Path) -> None:
    """A paused run rests in the threads that ask it, so that these must be its own."""
    files = Files(tmp_path, MemoryRecorder())
    scene = files.scene
    recorder, seen = scene.recorder, list[int]()

    is_resting = threading.Event()

    def before(mark: Mark) -> None:
        if mark.entity == "clicks" and mark.number == 0:
            recorder.open_requests.append(request(RequestKind.SUSPEND, run_id=1))
            scene.beat()
            is_resting.set()
        if mark.entity == "views" and mark.number == COUNT - 1:
            seen.append(files.made("clicks"))
            recorder.open_requests.append(request(RequestKind.RESUME, number=2, run_id=1))
            scene.beat()

    def begin_views_late(step: RecordBatch) -> None:
        if step.intended and "views" in step.intended[0].path:
            assert is_resting.wait(60)
            time.sleep(0.1)  # all threads of the first run come to rest

    scene.action.before, recorder.before_record = before, begin_views_late
    result = scene.run(parallel=2)
    assert outcomes(result) == [("done", "")] * 2 * COUNT
    assert seen[0] < COUNT
    assert RunStatus.SUSPENDED in recorder.statuses
