"""A run that is suspended while other machines work for it: they must not work on."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TypeVar

import pytest

from tests.unit.retention.acting import SharedStore, capabilities, item, target_on
from tests.unit.retention.feeds import context_on
from tests.unit.runs.fakes import request
from toolkit.actions.guard import Guard
from toolkit.actions.hold_watch import HoldWatch
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.retention.delete import UnitRemoved
from toolkit.retention.delete_remote import DeletionTask, PathAnswer, RemoteDelete
from toolkit.runs.errors import RunKilled
from toolkit.runs.lease import Deadline, RunCommands
from toolkit.runs.stop import NeverStopped, RunStop
from toolkit.transfer.port import ExecutorPool

SENT = 400
MANY = [item(f"{number // 28:04d}/{number % 28 + 1:02d}") for number in range(SENT + 50)]

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass
class Busy:
    """Work on while this process rests, as executors do; what they have not told when they are called off is lost."""

    answer: Callable[[DeletionTask], Iterable[PathAnswer]]
    reports_at_once: bool = True
    parallel: int = 4

    def open(self) -> ExecutorPool:
        return self

    def run(
        self,
        work: Callable[[Task, int], Iterable[Answer]],
        tasks: Sequence[Task],
        *,
        check: Callable[[], None],
    ) -> Iterator[Answer]:
        del work
        answers, is_cancelled = SimpleQueue[Answer](), threading.Event()

        def serve() -> None:
            for task in tasks:
                for answer in self.answer(task):  # type: ignore[arg-type]
                    answers.put(answer)  # type: ignore[arg-type]
                    if is_cancelled.wait(0.0002):
                        return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                check()
                for _ in range(answers.qsize() // 2 if self.reports_at_once else 0):
                    yield answers.get()
                thread.join(0.01)
            while not answers.empty():
                yield answers.get()
        finally:
            is_cancelled.set()
            thread.join(60)


def _suspended(
    in_pause: Callable[[RunCommands, SharedStore], None], *, reports_at_once: bool = True
) -> tuple[SharedStore, list[int], UnitRemoved, Guard]:
    """What becomes of a wave in whose middle the run is suspended; and how much was left then and a little later."""
    store = SharedStore(has=capabilities(atomic_delete=False, directories=False, parallel=2))
    store.put(*(f"{each.path.path}/part" for each in MANY))
    orders, left, calls = RunCommands(), list[int](), list[int]()

    def answer(task: DeletionTask) -> Iterator[PathAnswer]:
        for path, error in store.delete_all(task.paths, below=task.base, first=task.first):
            yield PathAnswer(path, "" if error is None else error.code, "")
            if len(store.files) <= len(MANY) - 100 and not calls:
                calls.append(1)
                orders.ask(request(RequestKind.SUSPEND, 1))

    def pause(_: Request) -> None:
        left.append(len(store.files))
        time.sleep(0.1)
        left.append(len(store.files))
        in_pause(orders, store)

    line = RunStop(
        process=NeverStopped(),
        deadline=Deadline(seconds=math.inf),
        orders=orders,
        beat=lambda: None,
        pause=pause,
        go_on=lambda _: None,
    )
    watch = HoldWatch(bases=target_on(store).data_bases, pairs=(), storage=lambda _: store)
    work = replace(
        context_on(store, line),
        guard=Guard(run=line, conditions=(watch,)),
        rate=lambda _: 1000,
        seconds_left=lambda: 50.0,
        check_remote=line.check_without_rest,
    )
    machines = Busy(answer, reports_at_once=reports_at_once)
    remote = RemoteDelete(work=work, open_executors=machines.open, first="")
    return store, left, remote.remove(MANY[:SENT]), work.guard


@pytest.mark.parametrize("reports_at_once", [True, False])
def test_a_suspended_run_calls_its_wave_off_and_sends_the_rest_out_again_when_it_goes_on(
    *, reports_at_once: bool
) -> None:
    """Also when no answer has come until then."""
    store, left, done, _ = _suspended(
        lambda orders, _: orders.ask(request(RequestKind.RESUME, 2)), reports_at_once=reports_at_once
    )
    assert left[0] == left[1] > len(MANY) - SENT
    assert {(each.result.outcome, each.result.code) for each in done.removed} == {("done", "")}
    assert len(store.files) == len(MANY) - SENT


def test_a_run_that_is_killed_while_it_is_suspended_leaves_what_was_not_answered_open() -> None:
    store, left, done, guard = _suspended(lambda orders, _: orders.ask(request(RequestKind.KILL, 2)))
    assert {(each.result.code, each.is_open) for each in done.removed} == {("", False), ("interrupted", True)}
    assert len(store.files) == left[0]
    assert isinstance(guard.stopped, RunKilled)


def test_a_hold_that_comes_while_a_run_is_suspended_is_seen_when_it_goes_on() -> None:
    def in_pause(orders: RunCommands, store: SharedStore) -> None:
        store.files["/data/clicks/.feedctl-hold"] = b""
        orders.ask(request(RequestKind.RESUME, 2))

    store, left, done, _ = _suspended(in_pause)
    assert len(store.files) == left[0] + 1
    assert {each.result.code for each in done.removed} == {"", "interrupted"}
