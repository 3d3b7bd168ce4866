"""The cap on changes a second: over all threads, with a small burst, and never in the way of a stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from toolkit.retention.pace import BURST_SECONDS, Pace
from toolkit.runs.errors import Stopped


@dataclass
class Time:
    """Passes by sleeping only."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


def _pace(time: Time, rate: float) -> Pace:
    return Pace(rate=rate, check=lambda: None, now=lambda: time.now, sleep=time.sleep)


@pytest.mark.parametrize("rate", [0.5, 1, 100, 10_000])
def test_no_more_calls_pass_than_the_rate_and_one_burst(rate: float) -> None:
    time = Time()
    pace = _pace(time, rate)
    for _ in range(200):
        pace.wait()
    least = (199 - rate * BURST_SECONDS) / rate
    assert time.now - 100 == pytest.approx(max(0, least), abs=1 / rate)


def test_what_was_not_used_for_long_is_not_saved() -> None:
    time = Time()
    pace = _pace(time, 100)
    pace.wait()
    time.now += 3600
    before = time.now
    for _ in range(100):
        pace.wait()
    assert time.now - before >= (100 - 1 - 100 * BURST_SECONDS) / 100 - 1e-6


def test_a_thread_that_waits_notices_a_stop_soon() -> None:
    time = Time()

    def check() -> None:
        if time.now > 101:
            raise Stopped(reason="received SIGTERM")

    pace = Pace(rate=0.01, check=check, now=lambda: time.now, sleep=time.sleep)
    pace.wait()
    with pytest.raises(Stopped):
        pace.wait()
    assert time.now < 101.2


def test_threads_share_the_rate() -> None:
    passed, pace = list[int](), Pace(rate=1000, check=lambda: None)
    gate = threading.Barrier(8)

    def call() -> None:
        gate.wait()
        for _ in range(25):
            pace.wait()
            passed.append(1)

    threads = [threading.Thread(target=call) for _ in range(8)]
    before = pace.now()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 200
    assert pace.now() - before >= 0.1  # 200 calls at 1000 a second, less a burst of 50
