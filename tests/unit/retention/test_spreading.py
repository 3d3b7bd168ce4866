"""Very large evictions on other machines: sent out in waves, answered one by one, called off when they must be."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from tests.local_executors import LocalExecutorPool
from tests.unit.retention.acting import BASE, Acted, SharedStore, act, capabilities, item
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.el import CanonicalPath
from toolkit.errors import Unavailable
from toolkit.ledger.vocabulary import ItemState
from toolkit.retention.delete_remote import (
    EXECUTOR_BATCH,
    DeletionTask,
    PathAnswer,
    delete_paths,
    deleted,
)
from toolkit.runs.errors import LedgerLost, Stopped
from toolkit.runs.recorder import RecordedRun
from toolkit.runs.stop import ProcessStop
from toolkit.storage import StorageSpec
from toolkit.transfer.port import ExecutorPool
from toolkit.transfer.timed_tasks import CLOCK_SKEW, TOO_LATE, TaskTime

MANY = [item(f"{number // 28:04d}/{number % 28 + 1:02d}") for number in range(EXECUTOR_BATCH + 300)]

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass
class Machines:
    """Answer each task in their own way instead of doing it; a task must survive being sent."""

    answer: Callable[[DeletionTask], Iterable[PathAnswer]]
    parallel: int = 4
    tasks: list[DeletionTask] = field(default_factory=list)
    opened: int = 0

    def open(self) -> ExecutorPool:
        self.opened += 1
        return self

    def run(
        self,
        work: Callable[[Task, int], Iterable[Answer]],
        tasks: Sequence[Task],
        *,
        check: Callable[[], None],
    ) -> Iterator[Answer]:
        assert pickle.loads(pickle.dumps(work)) is delete_paths  # noqa: S301 - made one line above
        for task in pickle.loads(pickle.dumps(tasks)):  # noqa: S301 - as above
            check()
            self.tasks.append(task)
            yield from self.answer(task)  # type: ignore[misc]


def _store() -> SharedStore:
    store = SharedStore(has=capabilities(atomic_delete=False, directories=False, parallel=2))
    store.put(*(f"{each.path.path}/part" for each in MANY))
    return store


def _removing(store: SharedStore) -> Callable[[DeletionTask], Iterator[PathAnswer]]:
    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        for path, error in store.delete_all(task.paths, below=task.base, first=task.first):
            yield PathAnswer(path, "" if error is None else error.code, "" if error is None else str(error))

    return answer


def _act(
    store: SharedStore,
    machines: Machines,
    *,
    above: int = 100,
    stop_signal: ProcessStop | None = None,
    recorder: MemoryRecorder | None = None,
) -> Acted:
    return act(
        store,
        MANY,
        executors=machines.open,
        executors_above=above,
        flag="_DONE",
        stop_signal=stop_signal,
        recorder=recorder,
    )


def test_a_large_eviction_is_sent_out_in_waves_that_are_written_down_before() -> None:
    store, recorder = _store(), MemoryRecorder()
    machines = Machines(_removing(store))
    acted = _act(store, machines, recorder=recorder)
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * len(MANY)
    assert [len(step.intended) for step in recorder.steps] == [EXECUTOR_BATCH, 300, 0, 0]
    sent = [path for task in machines.tasks for path in task.paths]
    assert sent == [each.path for each in MANY]
    task = machines.tasks[0]
    assert (task.base, task.first, task.rate, len(task.paths)) == (BASE, "_DONE", 250, 100)
    assert 0 < task.time.seconds_left <= 60
    assert store.files == {}


def test_before_machines_work_the_ledger_knows_that_the_lease_outlives_this_process() -> None:
    store, recorder = _store(), MemoryRecorder()
    known: list[int] = []

    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        known.append(recorder.shared)
        yield from _removing(store)(task)

    machines = Machines(answer)
    _act(store, machines, recorder=recorder)
    assert 0 not in known
    recorder = MemoryRecorder()
    _act(_store(), machines, above=len(MANY), recorder=recorder)
    assert recorder.shared == 0


def test_machines_do_not_work_for_a_run_that_the_ledger_cannot_say_it_of() -> None:
    store = _store()
    machines = Machines(_removing(store))

    class Lost(MemoryRecorder):
        def let_others_work(self, run: RecordedRun) -> None:
            raise LedgerLost(why=f"{run.run_id} is gone")

    acted = _act(store, machines, recorder=Lost())
    assert (machines.tasks, len(store.files)) == ([], len(MANY))
    assert {each[1:] for each in acted.outcomes} == {("skipped", "stopped")}
    assert isinstance(acted.stopped, LedgerLost)


@pytest.mark.extended
def test_a_small_eviction_wants_no_machines() -> None:
    store = _store()
    machines = Machines(_removing(store))
    assert len(_act(store, machines, above=len(MANY)).evicted) == len(MANY)
    assert (machines.opened, machines.tasks) == (0, [])


@pytest.mark.extended
def test_a_store_with_directories_wants_no_machines() -> None:
    store = _store()
    store.has = capabilities()
    machines = Machines(_removing(store))
    assert len(_act(store, machines).evicted) == len(MANY)
    assert machines.opened == 0


@pytest.mark.extended
def test_without_machines_it_is_done_from_here_and_said() -> None:
    store, calls, no_pyspark = _store(), list[int](), Unavailable("no pyspark")

    class NoMachines(Machines):
        def open(self) -> ExecutorPool:
            calls.append(1)
            raise no_pyspark

    acted = _act(store, NoMachines(_removing(store)))
    assert len(acted.evicted) == len(MANY)
    assert acted.result.plan.notes[0] == "nothing was spread over other machines: no pyspark"
    assert calls == [1]


@pytest.mark.extended
def test_what_was_too_late_is_sent_out_again_and_what_is_gone_by_then_was_us() -> None:
    store = _store()
    done, calls = _removing(store), list[int]()

    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        calls.append(1)
        answers = list(done(task))
        yield from ((each._replace(code=TOO_LATE) for each in answers) if len(calls) == 1 else answers)

    acted = _act(store, Machines(answer))
    assert [each[1:] for each in acted.outcomes] == [("done", "")] * len(MANY)


def test_what_is_always_too_late_is_left_to_the_next_run() -> None:
    store = _store()
    acted = _act(store, Machines(lambda task: [PathAnswer(path, TOO_LATE, "late") for path in task.paths]))
    assert {each[1:] for each in acted.outcomes} == {("failed", "interrupted")}
    assert {state for _, state in acted.recorder.states()} == {ItemState.INTENDED}
    assert len(store.files) == len(MANY)


@pytest.mark.extended
def test_a_path_that_fails_is_named_and_the_others_go() -> None:
    store = _store()
    store.locked.add(MANY[7].path.path)
    acted = _act(store, Machines(_removing(store)))
    failed = [each for each in acted.outcomes if each[1] != "done"]
    assert failed == [("0000/08", "failed", "permission_denied")]


@pytest.mark.extended
def test_machines_that_are_lost_leave_what_they_did_not_answer_open_and_the_next_wave_goes_from_here() -> None:
    store, recorder, lost = _store(), MemoryRecorder(), Unavailable("all executors are gone")
    done = _removing(store)

    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        if task.paths[0] == MANY[500].path:
            raise lost
        yield from done(task)

    acted = _act(store, Machines(answer), recorder=recorder)
    assert [each[1:] for each in acted.outcomes] == (
        [("done", "")] * 500 + [("failed", "interrupted")] * (EXECUTOR_BATCH - 500) + [("done", "")] * 300
    )
    assert sum(len(step.settled) for step in recorder.steps) == 800
    assert "all executors are gone" in acted.result.items[600].message


def test_a_stop_in_a_wave_calls_it_off() -> None:
    store, process = _store(), ProcessStop()
    done = _removing(store)

    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        yield from done(task)
        if task.paths[0] == MANY[300].path:
            process.stop(Stopped(reason="received SIGTERM"))

    machines = Machines(answer)
    acted = _act(store, machines, stop_signal=process)
    assert len(machines.tasks) == 4
    codes = [each[2] for each in acted.outcomes]
    assert codes == [""] * 400 + ["interrupted"] * (EXECUTOR_BATCH - 400) + ["stopped"] * 300
    assert acted.stopped is not None


def test_a_hold_that_appears_in_a_wave_calls_it_off() -> None:
    store = _store()
    done = _removing(store)

    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        store.files["/data/clicks/.feedctl-hold"] = b""
        yield from done(task)

    acted = _act(store, Machines(answer, parallel=100))
    codes = [each[2] for each in acted.outcomes]
    assert 0 < codes.count("") < 1000
    assert codes[EXECUTOR_BATCH:] == ["held"] * 300
    assert acted.stopped is None


def _task(
    tmp_path: Path, names: Sequence[str], *, seconds_left: float = 50.0, issued_at: float = 1000.0
) -> DeletionTask:
    base = CanonicalPath.parse(f"file://{tmp_path}")
    for name in names:
        (tmp_path / name).mkdir(exist_ok=True)
    return DeletionTask(
        spec=StorageSpec(scheme="file"),
        base=base,
        first="",
        paths=(*map(base.child, names), base.child("gone")),
        time=TaskTime(issued_at=issued_at, seconds_left=seconds_left),
        rate=1000.0,
    )


def test_a_machine_answers_for_each_path(tmp_path: Path) -> None:
    task = _task(tmp_path, ["a", "b"])
    assert [each[1] for each in deleted(task, 0, lambda: 1010.0)] == ["", "", "not_found"]
    assert list(tmp_path.iterdir()) == []


def test_a_second_attempt_takes_what_is_gone_for_the_work_of_the_first(tmp_path: Path) -> None:
    answers = LocalExecutorPool().run(
        lambda task, _: deleted(task, 1, lambda: 1000.0), [_task(tmp_path, ["a"])], check=lambda: None
    )
    assert [each[1] for each in answers] == ["", ""]


@pytest.mark.parametrize(("now", "code"), [(995.1, ""), (1049.9, ""), (1050.0, TOO_LATE), (994.9, CLOCK_SKEW)])
def test_a_machine_begins_nothing_when_the_lease_may_be_over(tmp_path: Path, now: float, code: str) -> None:
    """A clock that is far behind cannot tell, so that nothing is begun either."""
    answers = list(deleted(_task(tmp_path, ["a"]), 0, lambda: now))
    assert answers[0].code == code
    assert (tmp_path / "a").exists() is bool(code)


def test_what_a_machine_with_a_wrong_clock_was_asked_for_stays_open() -> None:
    """A round before, or the time before its clock was set back, may have left it half done."""
    store = _store()
    acted = _act(store, Machines(lambda task: (PathAnswer(path, CLOCK_SKEW, "behind") for path in task.paths)))
    assert {each[1:] for each in acted.outcomes} == {("failed", CLOCK_SKEW)}
    assert [each.position for step in acted.recorder.steps for each in step.settled] == []


def test_a_machine_stops_in_the_middle_when_time_is_up(tmp_path: Path) -> None:
    times = iter([1000.0] * 4 + [2000.0] * 100)
    answers = list(deleted(_task(tmp_path, ["a", "b", "c"]), 0, lambda: next(times)))
    assert {each.path.name for each in answers if each.code == TOO_LATE} >= {"c", "gone"}
    assert (tmp_path / "c").exists()
