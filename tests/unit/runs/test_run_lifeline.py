"""Paused past its lease, suspended, resumed, killed: what a run does before its next effect."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.unit.runs.fakes import AuditMemory, HandClock, MemoryRecorder, envelope_of, request, start_request
from toolkit.ledger.vocabulary import RequestKind, RunStatus
from toolkit.runs.errors import LeaseExpired, LedgerLost, PauseRequested, RunKilled, Stopped
from toolkit.runs.lease import Heartbeat
from toolkit.runs.run import ActiveRun
from toolkit.runs.stop import ProcessStop


@dataclass
class Scene:
    """A run that has started, and everything around it."""

    run: ActiveRun
    recorder: MemoryRecorder
    heartbeat: Heartbeat
    clock: HandClock
    process: ProcessStop
    audit: AuditMemory

    def in_background(self, deed: Callable[[], None]) -> threading.Thread:
        """Do something as soon as the run is suspended."""

        def wait_and_do() -> None:
            while self.recorder.statuses[-1] is not RunStatus.SUSPENDED:
                time.sleep(0.001)
            deed()

        thread = threading.Thread(target=wait_and_do, daemon=True)
        thread.start()
        return thread

    def requested(self, kind: RequestKind, number: int) -> None:
        self.recorder.open_requests.append(request(kind, number))
        self.heartbeat.beat()


@pytest.fixture
def scene() -> Iterator[Scene]:
    recorder, clock, process, audit = MemoryRecorder(), HandClock(), ProcessStop(), AuditMemory()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        run = envelope_of(recorder, heartbeat, process=process, clock=clock, audit=audit).start(start_request())
        with run:
            yield Scene(run, recorder, heartbeat, clock, process, audit)


def test_heartbeats_keep_a_run_going(scene: Scene) -> None:
    for _ in range(20):
        scene.clock.forward(10)
        scene.heartbeat.beat()
        scene.run.check()
    assert scene.recorder.beats == 20


def test_a_run_that_was_paused_within_its_lease_asks_once_and_goes_on(scene: Scene) -> None:
    scene.clock.forward(55)
    scene.run.check()
    assert scene.recorder.beats == 1


def test_a_run_that_was_paused_past_its_lease_starts_no_further_effect(scene: Scene) -> None:
    scene.clock.forward(61)
    scene.recorder.lost.add(1)
    with pytest.raises(LeaseExpired, match="taken over") as caught:
        scene.run.check()
    assert caught.value.exit_code == 1, "nobody has killed it"
    with pytest.raises(LeaseExpired):
        scene.run.check()


def test_a_ledger_that_does_not_answer_counts_as_a_lost_lease(scene: Scene) -> None:
    scene.heartbeat.remove(scene.run)  # so that a beat brings nothing
    scene.clock.forward(50)
    with pytest.raises(LeaseExpired, match="did not renew it in time"):
        scene.run.check()


def test_a_heartbeat_that_finds_the_ledger_gone_stops_the_run(scene: Scene) -> None:
    scene.recorder.fails_at = 0
    scene.heartbeat.beat()
    with pytest.raises(LedgerLost):
        scene.run.check()


def test_a_suspended_run_waits_before_its_next_effect_until_it_is_resumed(scene: Scene) -> None:
    scene.requested(RequestKind.SUSPEND, 1)
    thread = scene.in_background(lambda: scene.requested(RequestKind.RESUME, 2))
    scene.run.check()
    thread.join()
    assert scene.recorder.statuses == [RunStatus.RUNNING, RunStatus.SUSPENDED, RunStatus.RUNNING]
    assert scene.recorder.honoured == [1, 2]
    assert [line["state"] for line in scene.audit.lines] == ["running", "suspended", "running"]
    scene.run.check()


def test_a_run_that_is_resumed_waits_until_there_is_room_for_it(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.runs.stop._PLACE_SECONDS", 0.01)
    scene.recorder.full_for = 3
    scene.requested(RequestKind.SUSPEND, 1)
    thread = scene.in_background(lambda: scene.requested(RequestKind.RESUME, 2))
    scene.run.check()
    thread.join()
    assert (scene.recorder.full_for, scene.recorder.honoured) == (0, [1, 2])
    assert [line["state"] for line in scene.audit.lines] == ["running", "suspended", "running"]


def test_a_run_that_waits_for_room_can_be_suspended_again_and_killed(scene: Scene) -> None:
    scene.recorder.full_for = 1000

    def ask() -> None:
        scene.requested(RequestKind.RESUME, 2)
        while scene.recorder.full_for == 1000:
            time.sleep(0.001)
        scene.requested(RequestKind.SUSPEND, 3)
        while 3 not in scene.recorder.honoured:
            time.sleep(0.001)
        scene.requested(RequestKind.KILL, 4)

    scene.requested(RequestKind.SUSPEND, 1)
    thread = scene.in_background(ask)
    with pytest.raises(RunKilled):
        scene.run.check()
    thread.join()
    assert RunStatus.RUNNING not in scene.recorder.statuses[1:]


def test_a_suspended_run_keeps_its_lease(scene: Scene) -> None:
    def let_time_pass() -> None:
        for _ in range(20):
            scene.clock.forward(10)
            scene.heartbeat.beat()
        scene.requested(RequestKind.RESUME, 2)

    scene.requested(RequestKind.SUSPEND, 1)
    scene.in_background(let_time_pass)
    scene.run.check()


def test_a_suspended_run_can_be_killed(scene: Scene) -> None:
    scene.requested(RequestKind.SUSPEND, 1)
    scene.in_background(lambda: scene.requested(RequestKind.KILL, 2))
    with pytest.raises(RunKilled, match="killed by bob"):
        scene.run.check()


def test_a_suspended_run_hears_signals(scene: Scene) -> None:
    scene.requested(RequestKind.SUSPEND, 1)
    scene.in_background(lambda: scene.process.stop(Stopped(reason="received SIGTERM")))
    with pytest.raises(Stopped, match="SIGTERM"):
        scene.run.check()


def test_a_suspended_run_that_loses_its_lease_ends(scene: Scene) -> None:
    def lose() -> None:
        scene.recorder.lost.add(1)
        scene.clock.forward(61)

    scene.requested(RequestKind.SUSPEND, 1)
    scene.in_background(lose)
    with pytest.raises(LeaseExpired):
        scene.run.check()


def test_a_second_suspend_changes_nothing_and_is_honoured(scene: Scene) -> None:
    def ask_twice() -> None:
        scene.requested(RequestKind.SUSPEND, 2)
        while 2 not in scene.recorder.honoured:
            time.sleep(0.001)
        scene.requested(RequestKind.RESUME, 3)

    scene.requested(RequestKind.SUSPEND, 1)
    scene.in_background(ask_twice)
    scene.run.check()
    assert scene.recorder.honoured == [1, 2, 3]


def test_a_resume_that_came_before_the_run_could_pause_is_honoured_at_once(scene: Scene) -> None:
    scene.recorder.open_requests.append(request(RequestKind.RESUME, 2))
    scene.heartbeat.beat()
    scene.run.check()
    assert (scene.recorder.honoured, RunStatus.SUSPENDED in scene.recorder.statuses) == ([2], False)


def test_a_killed_run_is_killed_in_the_ledger() -> None:
    recorder = MemoryRecorder()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        run = envelope_of(recorder, heartbeat).start(start_request())
        recorder.open_requests.append(request(RequestKind.KILL))
        heartbeat.beat()
        with pytest.raises(RunKilled), run:
            run.check()
    assert (recorder.outcomes[1].status, recorder.outcomes[1].exit_code) == (RunStatus.KILLED, 143)


def test_threads_of_a_suspended_run_all_wait(scene: Scene) -> None:
    scene.requested(RequestKind.SUSPEND, 1)
    checked: list[int] = []

    def effect() -> None:
        scene.run.check()
        checked.append(1)

    threads = [threading.Thread(target=effect, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    while scene.recorder.statuses[-1] is not RunStatus.SUSPENDED:
        time.sleep(0.001)
    time.sleep(0.05)
    assert checked == []
    scene.requested(RequestKind.RESUME, 2)
    for thread in threads:
        thread.join()
    assert len(checked) == 4


def test_no_thread_of_a_suspended_run_goes_on_after_a_signal(scene: Scene) -> None:
    scene.requested(RequestKind.SUSPEND, 1)
    ended = list[str]()

    def effect() -> None:
        try:
            scene.run.check()
        except Stopped as stopped:
            ended.append(stopped.reason)
        else:
            ended.append("went on")

    threads = [threading.Thread(target=effect, daemon=True) for _ in range(16)]
    for thread in threads:
        thread.start()
    while scene.recorder.statuses[-1] is not RunStatus.SUSPENDED:
        time.sleep(0.001)
    time.sleep(0.05)  # so that the others wait behind the one that rests
    scene.process.stop(Stopped(reason="received SIGTERM"))
    for thread in threads:
        thread.join(60)
    assert ended == ["received SIGTERM"] * 16


def test_work_that_goes_on_elsewhere_is_to_be_called_off_before_a_run_rests(scene: Scene) -> None:
    scene.run.check_without_rest()
    scene.requested(RequestKind.SUSPEND, 1)
    with pytest.raises(PauseRequested):
        scene.run.check_without_rest()
    resting = threading.Thread(target=scene.run.check, daemon=True)
    resting.start()
    while scene.recorder.statuses[-1] is not RunStatus.SUSPENDED:
        time.sleep(0.001)
    with pytest.raises(PauseRequested):
        scene.run.check_without_rest()
    scene.requested(RequestKind.RESUME, 2)
    resting.join(60)
    scene.run.check_without_rest()


def test_work_that_goes_on_elsewhere_ends_with_its_run(scene: Scene) -> None:
    scene.process.stop(Stopped(reason="received SIGTERM"))
    with pytest.raises(Stopped, match="SIGTERM"):
        scene.run.check_without_rest()
