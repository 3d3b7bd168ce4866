from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType

import pytest

from toolkit.storage.calls import BoundedCalls, BrokenCall, NoAnswer

_TEXT = "index out of range"


class _Panic(BaseException):
    """As a library that is not written in Python may raise it."""


class _Interrupted(Exception):  # noqa: N818 - named for what happened
    """What a signal's handler raises."""


@contextmanager
def _hanging(calls: BoundedCalls, number: int) -> Iterator[threading.Event]:
    """So many calls that were not answered, until the event is set."""
    answer = threading.Event()
    try:
        for _ in range(number):
            with pytest.raises(NoAnswer):
                calls.run(answer.wait)
        yield answer
    finally:
        answer.set()


def _becomes(is_so: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


def test_the_answer_and_the_error_of_a_call_come_back() -> None:
    calls = BoundedCalls()
    assert calls.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        calls.run(lambda: 1 // 0)
    assert calls.run(lambda: "next") == "next"


def test_a_panic_is_an_ordinary_error_here() -> None:
    def panic() -> None:
        raise _Panic(_TEXT)

    calls = BoundedCalls()
    with pytest.raises(BrokenCall, match=f"_Panic: {_TEXT}"):
        calls.run(panic)
    assert calls.run(lambda: 7) == 7


def test_a_call_without_an_answer_is_left_alone_after_its_time() -> None:
    calls = BoundedCalls(seconds=0.05)
    began = time.monotonic()
    with _hanging(calls, 1):
        assert 0.04 < time.monotonic() - began < 30
        assert calls.stuck == 1
        assert calls.run(lambda: 7) == 7


def test_the_error_says_that_it_may_still_happen() -> None:
    calls, answer = BoundedCalls(seconds=0.05), threading.Event()
    with pytest.raises(NoAnswer, match=r"no answer within 0.05 s; what was asked for may still happen"):
        calls.run(answer.wait)
    answer.set()


def test_a_late_call_takes_its_effect_and_its_thread_ends() -> None:
    before, calls, done = _threads(), BoundedCalls(seconds=0.05), threading.Event()

    def late() -> None:
        answer.wait()
        done.set()

    with _hanging(calls, 1) as answer, pytest.raises(NoAnswer):
        calls.run(late)
    assert done.wait(60)
    assert _becomes(lambda: calls.stuck == 0)
    assert _becomes(lambda: _threads() <= before)


def test_when_too_many_hang_a_call_is_refused_at_once_and_not_begun() -> None:
    calls = BoundedCalls(seconds=0.05, stuck=3)
    calls.run(lambda: 7)
    with _hanging(calls, 3):
        calls.seconds, began = 60, time.monotonic()
        with pytest.raises(NoAnswer, match="3 calls before this one were not answered and still hang"):
            calls.run(lambda: pytest.fail("was begun"))
        assert time.monotonic() - began < 30
    assert _becomes(lambda: calls.stuck == 0)
    assert calls.run(lambda: 7) == 7


def test_each_of_many_threads_gets_its_own_answer() -> None:
    calls = BoundedCalls()
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda number: calls.run(lambda: number), range(5000))) == list(range(5000))


def test_threads_are_used_again() -> None:
    before, calls = _threads(), BoundedCalls()
    for _ in range(100):
        calls.run(lambda: None)
    assert _threads() - before <= 1


def test_a_thread_without_calls_ends() -> None:
    before, calls = _threads(), BoundedCalls(idle_seconds=0.05)
    for _ in range(3):
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda number: calls.run(lambda: number), range(8))) == list(range(8))
        assert _becomes(lambda: _threads() <= before)


def test_a_call_that_comes_as_its_thread_ends_is_run_all_the_same() -> None:
    calls = BoundedCalls(seconds=10, idle_seconds=0.0005)
    for number in range(300):
        assert calls.run(lambda: number) == number  # noqa: B023 - run at once
        time.sleep(0.0005)


def test_the_last_call_is_not_kept_alive() -> None:
    class Large:
        pass

    calls = BoundedCalls()
    gone = weakref.ref(calls.run(Large))
    gc.collect()
    assert gone() is None


def test_what_a_signal_raises_ends_the_wait_and_harms_nothing() -> None:
    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise _Interrupted

    calls, answer = BoundedCalls(seconds=30), threading.Event()
    before = signal.signal(signal.SIGUSR2, interrupt)
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR2)).start()
        with pytest.raises(_Interrupted):
            calls.run(answer.wait)
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert calls.stuck == 1
    assert calls.run(lambda: 7) == 7
    answer.set()
    assert _becomes(lambda: calls.stuck == 0)


@pytest.mark.parametrize("hangs", ["time.sleep(600)", "threading.Event().wait()"])
def test_a_hanging_call_does_not_keep_the_process(hangs: str) -> None:
    program = f"""
import threading, time
from toolkit.storage.calls import BoundedCalls, NoAnswer
try:
    BoundedCalls(seconds=0.05).run(lambda: {hangs})
except NoAnswer:
    print("late")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "late\n", "")


def _threads() -> int:
    return sum(thread.name == "feedctl-bounded" for thread in threading.enumerate())


def test_a_call_that_goes_on_is_waited_for_again_and_again() -> None:
    answers, release = iter([True, True, False]), threading.Event()
    calls = BoundedCalls(0.05)
    with pytest.raises(NoAnswer):
        calls.run(release.wait, lambda: next(answers))
    assert next(answers, None) is None
    release.set()


def test_a_call_that_goes_on_ends_in_its_own_time() -> None:
    looks = itertools.count()
    assert BoundedCalls(0.05).run(lambda: threading.Event().wait(0.3), lambda: next(looks) >= 0) is False
    assert next(looks) > 1


def test_who_starts_a_call_may_do_something_meanwhile() -> None:
    calls, release = BoundedCalls(5), threading.Event()
    with calls.started(lambda: release.wait(60)) as started:
        release.set()
        assert started.answer() is True
    assert calls.stuck == 0


def test_a_call_whose_answer_nobody_takes_gives_its_thread_back() -> None:
    calls = BoundedCalls(5)
    ran_in: list[int] = []
    for _ in range(3):
        with calls.started(lambda: ran_in.append(threading.get_ident())) as started:
            assert started.has_ended()
    assert (len(ran_in), len(set(ran_in)), calls.stuck) == (3, 1, 0)


def test_a_call_that_is_left_before_it_has_ended_counts_as_stuck_until_it_does() -> None:
    calls, release = BoundedCalls(5), threading.Event()
    with calls.started(release.wait):
        pass
    assert calls.stuck == 1
    release.set()
    assert _becomes(lambda: calls.stuck == 0)
