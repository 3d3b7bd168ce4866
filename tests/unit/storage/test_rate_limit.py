"""The cap on changes a second: over all threads, with a small burst, and never in the way of a stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from toolkit.runs.errors import Stopped
from toolkit.storage.bound import BURST_SECONDS, RateLimiter, side_by_side


def go_on() -> None:
    """Nothing stands against a call."""


@dataclass
class Time:
    """Passes by sleeping only."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


def _limiter(time: Time, rate: float) -> RateLimiter:
    return RateLimiter(rate=rate, now=lambda: time.now, sleep=time.sleep)


@pytest.mark.parametrize("rate", [0.5, 1, 100, 10_000])
def test_no_more_calls_pass_than_the_rate_and_one_burst(rate: float) -> None:
    time = Time()
    limiter = _limiter(time, rate)
    for _ in range(200):
        limiter.acquire(go_on)
    least = (199 - rate * BURST_SECONDS) / rate
    assert time.now - 100 == pytest.approx(max(0, least), abs=1 / rate)


def test_what_was_not_used_for_long_is_not_saved() -> None:
    time = Time()
    limiter = _limiter(time, 100)
    limiter.acquire(go_on)
    time.now += 3600
    before = time.now
    for _ in range(100):
        limiter.acquire(go_on)
    assert time.now - before >= (100 - 1 - 100 * BURST_SECONDS) / 100 - 1e-6


def test_a_thread_that_waits_notices_a_stop_soon() -> None:
    time = Time()

    def check() -> None:
        if time.now > 101:
            raise Stopped(reason="received SIGTERM")

    limiter = _limiter(time, 0.01)
    limiter.acquire(check)
    with pytest.raises(Stopped):
        limiter.acquire(check)
    assert time.now < 101.2


def test_threads_share_the_rate() -> None:
    passed, limiter = list[int](), RateLimiter(rate=1000)
    barrier = threading.Barrier(8)

    def call() -> None:
        barrier.wait()
        for _ in range(25):
            limiter.acquire(go_on)
            passed.append(1)

    threads = [threading.Thread(target=call) for _ in range(8)]
    before = limiter.now()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 200
    assert limiter.now() - before >= 0.1  # 200 calls at 1000 a second, less a burst of 50


def test_each_caller_is_asked_by_its_own_check_when_its_turn_has_come() -> None:
    calls, limiter = list[str](), RateLimiter(rate=1000)
    limiter.acquire(lambda: calls.append("first"))
    limiter.acquire(lambda: calls.append("second"))
    assert [calls[0], calls[-1]] == ["first", "second"]


@pytest.mark.parametrize(("parallel", "rate", "calls"), [(32, float("inf"), 32), (32, 8.5, 8), (4, 0.1, 1)])
def test_no_more_calls_are_made_at_once_than_the_rate_lets_pass(parallel: int, rate: float, calls: int) -> None:
    assert side_by_side(parallel, rate) == calls
