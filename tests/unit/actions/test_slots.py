"""Targets whose turns come one by one: each is started, planned and done for itself."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from tests.unit.actions.fake_action import Job, Mark, MarkAction, context, looking, request
from tests.unit.runs.fakes import HandClock, MemoryRecorder, envelope_of
from toolkit.actions.model import TIMED_OUT, Problem
from toolkit.actions.progress import NOTHING, NoProgress, Volume
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.actions.runner import ActionRunner
from toolkit.actions.slots import Slot, SlotRunner
from toolkit.errors import Skipped
from toolkit.ledger.runs.errors import TooManyRun
from toolkit.ledger.runs.rows import Origin, RunKey
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.result import ExitCode
from toolkit.runs.errors import RunKilled, Stopped
from toolkit.runs.lease import Heartbeat
from toolkit.runs.stop import NeverStopped

MarkSlot = Slot[Job, Mark, None]
LATER = datetime(2026, 3, 20, 13, tzinfo=UTC)


@dataclass
class Line:
    """Slots that run targets one after the other; a target that must come again does so once."""

    todo: deque[MarkSlot]
    again: set[str] = field(default_factory=set)
    given_back: list[str] = field(default_factory=list)
    is_closed: bool = False
    unstarted: list[tuple[Job, Problem]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.todo)

    def acquire(self) -> MarkSlot | None:
        return None if self.is_closed or not self.todo else self.todo.popleft()

    def release(self, slot: MarkSlot, result: TargetResult[Job, Mark, None]) -> None:
        del result
        self.given_back.append(slot.target.entity)
        if slot.target.entity in self.again:
            self.again.discard(slot.target.entity)
            self.todo.append(slot)

    def close(self) -> None:
        self.is_closed = True


@dataclass
class MessageContent(NoProgress):
    """See `Progress`."""

    output: list[int | str] = field(default_factory=list)

    def begin(self, total: int, volume: Volume = NOTHING) -> None:
        del volume
        self.output.append(total)

    def advance(self, number: int) -> None:
        self.output.append(number)

    def end(self) -> None:
        self.output.append("end")


@dataclass
class Scene:
    """An action, its line, and what its runs write down."""

    action: MarkAction
    again: set[str] = field(default_factory=set)
    unstarted: list[tuple[Job, Problem]] = field(default_factory=list)
    recorder: MemoryRecorder = field(default_factory=MemoryRecorder)
    progress: MessageContent = field(default_factory=MessageContent)
    line: Line = field(init=False)

    def run(self, *, parallel: int = 1) -> ActionResult[Job, Mark, None]:
        todo: deque[MarkSlot] = deque()
        todo.extend(Slot(target=Job(entity=name), retry_at=lambda _: LATER) for name in self.action.todo)
        self.line = Line(todo=todo, again=self.again, unstarted=self.unstarted)
        runner = ActionRunner(
            action=self.action,
            process=NeverStopped(),
            look=looking(context),
            open_context=context,
            origin_of=lambda _: Origin(who="alice"),
        )
        with Heartbeat(self.recorder, seconds=3600) as heartbeat:
            envelope = envelope_of(self.recorder, heartbeat, clock=HandClock())
            slots = SlotRunner(runner=runner, envelope=envelope, slots=self.line, progress=self.progress)
            return slots.run(request(parallel=parallel))

    def statuses(self) -> list[RunStatus]:
        return [self.recorder.outcomes[run_id].status for run_id in sorted(self.recorder.outcomes)]


def test_each_target_ends_before_the_next_one_is_looked_at() -> None:
    looked: list[tuple[str, int]] = []
    scene = Scene(MarkAction(todo={"clicks": 2, "views": 1}))
    scene.action.before_plan = lambda job: looked.append((job.entity, len(scene.recorder.outcomes)))
    result = scene.run()
    assert (looked, result.exit_code) == ([("clicks", 0), ("views", 1)], ExitCode.DONE)
    assert len(scene.action.done) == 3


def test_what_waits_is_waiting_in_the_ledger_and_nothing_of_it_is_recovered() -> None:
    scene = Scene(MarkAction(todo={"clicks": 1}, problems={"clicks": {"waiting": Problem(code="no", message="later")}}))
    assert scene.run().exit_code is ExitCode.NOT_YET
    assert (scene.statuses(), scene.action.recovered) == ([RunStatus.WAITING], [])


def test_what_is_passed_over_is_skipped_in_the_ledger() -> None:
    scene = Scene(MarkAction(todo={"clicks": 1}, problems={"clicks": {"skipped": Problem(code="old", message="old")}}))
    assert scene.run().exit_code is ExitCode.SKIPPED
    assert scene.statuses() == [RunStatus.SKIPPED]


@pytest.mark.parametrize(("code", "status"), [("no_input", RunStatus.FAILED), (TIMED_OUT, RunStatus.TIMED_OUT)])
def test_a_failure_says_when_it_is_tried_again(code: str, status: RunStatus) -> None:
    scene = Scene(MarkAction(todo={"clicks": 1}, problems={"clicks": {"failed": Problem(code=code, message="")}}))
    scene.run()
    assert [(each.status, each.retry_at) for each in scene.recorder.outcomes.values()] == [(status, LATER)]


def test_progress_counts_targets_and_one_whose_turn_comes_twice_counts_once() -> None:
    scene = Scene(MarkAction(todo={"clicks": 5, "views": 1}), again={"clicks"})
    scene.run()
    assert scene.progress.output == [2, 1, 1, 0, "end"]


def test_a_target_whose_turn_comes_twice_is_told_once_by_its_last_turn() -> None:
    scene = Scene(MarkAction(todo={"clicks": 1}), again={"clicks"})
    result = scene.run()
    assert (scene.line.given_back, len(result.targets)) == (["clicks", "clicks"], 1)
    assert result.targets[0].run is not None
    assert result.targets[0].run.run_id == 2


def test_one_that_finds_no_room_leaves_no_trace_and_one_that_is_suspended_does() -> None:
    key = RunKey(life_cycle=LifeCycle.EXECUTION, entity="clicks", cluster="primary", instance_key="")
    refusals: dict[str, Skipped] = {
        "clicks": TooManyRun(key=key, most=1, under_way=1),
        "views": Skipped("suspended"),
    }
    scene = Scene(MarkAction(todo={"clicks": 1, "views": 1}), recorder=MemoryRecorder(refusals=refusals))
    result = scene.run()
    assert scene.recorder.skips == ["suspended"]
    assert [each.plan.target.entity for each in result.targets] == ["views"]


def test_what_found_no_slot_and_is_not_started_by_itself_is_not_yet_done() -> None:
    full = Problem(code=TooManyRun.code, message="others run")
    result = Scene(MarkAction(todo={}), unstarted=[(Job(entity="clicks"), full)]).run()
    assert [(each.plan.target.entity, each.plan.waiting) for each in result.targets] == [("clicks", full)]
    assert result.exit_code is ExitCode.NOT_YET


def test_a_target_ends_while_another_has_no_plan_yet() -> None:
    scene, is_planning = Scene(MarkAction(todo={"clicks": 1, "views": 1})), threading.Event()

    def wait(job: Job) -> None:
        if job.entity == "views":
            is_planning.wait(60)
            return
        is_planning.set()
        while not (scene.line.given_back or scene.line.is_closed):
            time.sleep(0.001)

    scene.action.before_plan = wait
    assert scene.run(parallel=2).exit_code is ExitCode.DONE
    assert scene.line.given_back == ["views", "clicks"]


def test_the_end_of_the_process_ends_what_is_under_way_and_nothing_more_begins() -> None:
    scene = Scene(MarkAction(todo={"clicks": 1, "views": 1}))

    def stop(job: Job) -> None:
        raise Stopped(reason=f"SIGTERM at {job.entity}")

    scene.action.before_plan = stop
    result = scene.run()
    assert (result.exit_code, scene.line.is_closed) == (ExitCode.TERMINATED, True)
    assert scene.statuses() == [RunStatus.KILLED]


def test_a_run_that_is_killed_alone_does_not_end_the_others() -> None:
    scene = Scene(MarkAction(todo={"clicks": 1, "views": 1}))

    def stop(job: Job) -> None:
        if job.entity == "clicks":
            raise RunKilled(who="bob")

    scene.action.before_plan = stop
    result = scene.run()
    assert (scene.statuses(), result.stopped) == ([RunStatus.KILLED, RunStatus.SUCCEEDED], None)
    assert result.exit_code is ExitCode.PARTIAL


def test_a_bug_ends_the_whole_run() -> None:
    scene = Scene(MarkAction(todo={"clicks": 1, "views": 1}))

    def fail(job: Job) -> None:
        raise LookupError(job.entity)

    scene.action.before_plan = fail
    with pytest.raises(LookupError):
        scene.run(parallel=2)
    assert scene.line.is_closed
