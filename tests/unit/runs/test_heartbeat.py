"""One thread keeps all runs of the process alive."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence

import pytest

from tests.unit.runs.fakes import HandClock, MemoryRecorder, envelope_of, request, start_request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.runs.errors import LeaseExpired, LedgerLost, RunKilled
from toolkit.runs.lease import Heartbeat
from toolkit.runs.recorder import HeartbeatReply, RecordedRun
from toolkit.runs.run import ActiveRun


def _beating() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "feedctl-heartbeat"]


def test_there_is_one_thread_for_all_runs_and_none_without_runs() -> None:
    recorder = MemoryRecorder()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        assert _beating() == []
        envelope = envelope_of(recorder, heartbeat)
        with envelope.start(start_request("clicks")), envelope.start(start_request("views")):
            (thread,) = _beating()
            assert thread.daemon
    thread.join(60)
    assert _beating() == []


def test_it_beats_six_times_in_the_life_of_a_lease() -> None:
    recorder = MemoryRecorder()
    began = time.monotonic()
    with (
        Heartbeat(recorder, seconds=0.6) as heartbeat,
        envelope_of(recorder, heartbeat).start(start_request()),
    ):
        time.sleep(1)
    elapsed = time.monotonic() - began  # longer than the sleep on a busy machine
    assert 3 <= recorder.beats <= elapsed / 0.1 + 1


def test_what_is_said_of_one_run_is_not_said_of_the_others() -> None:
    recorder = MemoryRecorder()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        envelope = envelope_of(recorder, heartbeat)
        lost, killed, other = (envelope.start(start_request(name)) for name in ("a", "b", "c"))
        recorder.lost.add(1)
        recorder.open_requests.append(request(RequestKind.KILL, run_id=2))
        heartbeat.beat()
        other.check()
        with pytest.raises(LeaseExpired):
            lost.check()
        with pytest.raises(RunKilled):
            killed.check()


def test_a_request_for_a_run_that_is_over_by_now_is_nobodys() -> None:
    recorder = MemoryRecorder()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        with envelope_of(recorder, heartbeat).start(start_request()) as run:
            recorder.open_requests.append(request(RequestKind.KILL, run_id=9))
            heartbeat.beat()
            run.check()
        beats = recorder.beats
        heartbeat.beat()
        assert recorder.beats == beats


def test_a_slow_answer_counts_from_when_it_was_asked_for() -> None:
    clock = HandClock()

    class Slow(MemoryRecorder):
        def beat(self, runs: Sequence[RecordedRun]) -> HeartbeatReply:
            clock.forward(45)
            return super().beat(runs)

    recorder = Slow()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        run = envelope_of(recorder, heartbeat, clock=clock).start(start_request())
        heartbeat.beat()
        assert not run.deadline.is_over()
        clock.forward(6)
        assert run.deadline.is_over()


def test_a_lost_ledger_ends_the_beating_until_another_run_begins() -> None:
    recorder = MemoryRecorder(fails_at=0)
    with Heartbeat(recorder, seconds=0.06) as heartbeat:
        envelope = envelope_of(recorder, heartbeat)
        run = envelope.start(start_request())
        (thread,) = _beating()
        thread.join(60)
        assert recorder.beats == 1
        with pytest.raises(LedgerLost):
            run.check()
        recorder.fails_at = None
        envelope.start(start_request("views"))
        assert len(_beating()) == 1


def test_runs_that_come_at_once_have_one_thread_between_them() -> None:
    """Each of two threads would beat for all runs."""
    recorder, together, interval = MemoryRecorder(), threading.Barrier(20), sys.getswitchinterval()
    with Heartbeat(recorder, seconds=3600) as heartbeat:
        envelope = envelope_of(recorder, heartbeat)
        runs = [envelope.start(start_request(f"feed-{number}")) for number in range(20)]
    with Heartbeat(recorder, seconds=3600) as heartbeat:

        def add(run: ActiveRun) -> None:
            together.wait(30)
            heartbeat.add(run)

        sys.setswitchinterval(1e-6)
        try:
            adding = [threading.Thread(target=add, args=[run]) for run in runs]
            for thread in adding:
                thread.start()
            for thread in adding:
                thread.join(30)
        finally:
            sys.setswitchinterval(interval)
        assert len(_beating()) == 1
