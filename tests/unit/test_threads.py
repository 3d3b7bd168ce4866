"""Threads that share work: each thing once, errors to whoever waits, and nobody's burden when the work is over."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, wait

import pytest

from toolkit.threads import JoinedCalls, WorkerPool, worker_pool

_STUCK = """
import threading
from toolkit.threads import WorkerPool
begun = threading.Event()
WorkerPool(2, "stuck").submit(lambda: (begun.set(), threading.Event().wait()))
begun.wait()
print("end")
"""


# One call


def test_answers_and_errors_come_back() -> None:
    pool = WorkerPool(2, "test")
    assert [future.result(60) for future in [pool.submit(divmod, number, 3) for number in range(50)]] == [
        divmod(number, 3) for number in range(50)
    ]
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(60)
    assert pool.submit(divmod, 7, 3).result(60) == (2, 1)


def test_no_more_threads_run_than_were_allowed_and_as_many_as_are_needed() -> None:
    pool, release, seen = WorkerPool(3, "test"), threading.Event(), threading.Semaphore(0)

    def call() -> None:
        seen.release()
        release.wait(60)

    futures = [pool.submit(call) for _ in range(6)]
    assert all(seen.acquire(timeout=5) for _ in range(3))
    assert not seen.acquire(timeout=0.1)
    assert pool.threads == 3
    release.set()
    assert not wait(futures, timeout=10).not_done


def test_a_call_that_was_cancelled_is_not_run() -> None:
    pool, release, run = WorkerPool(1, "test"), threading.Event(), list[int]()
    first = pool.submit(release.wait, 10)
    second = pool.submit(run.append, 1)
    assert second.cancel()
    release.set()
    assert first.result(60)
    pool.submit(run.append, 2).result(60)
    assert run == [2]


def test_threads_without_calls_end_and_come_again() -> None:
    pool = WorkerPool(4, "test", idle_seconds=0.01)
    for _ in range(20):
        futures = [pool.submit(abs, number) for number in range(8)]
        assert [future.result(60) for future in futures] == list(range(8))
        time.sleep(0.01)
    until = time.monotonic() + 60
    while pool.threads and time.monotonic() < until:
        time.sleep(0.01)
    assert pool.threads == 0


def test_a_stuck_call_does_not_keep_the_process_from_ending() -> None:
    ended = subprocess.run([sys.executable, "-c", _STUCK], capture_output=True, timeout=30, check=True)
    assert ended.stdout == b"end\n"


# Many things


def test_each_thing_is_worked_on_once_by_several_threads() -> None:
    seen, together = list[int](), threading.Barrier(4)

    def work(thing: int) -> None:
        if thing < 4:
            together.wait(60)
        seen.append(thing)

    WorkerPool(4, "test").run_all(work, range(1000))
    assert sorted(seen) == list(range(1000))


@pytest.mark.parametrize("most", [0, 1, 4])
def test_one_at_a_time_is_worked_on_by_who_asked(most: int) -> None:
    names, pool = set[str](), WorkerPool(most, "test")
    pool.run_all(lambda _: names.add(threading.current_thread().name), range(50), at_once=1)
    assert (names, pool.threads) == ({threading.current_thread().name}, 0)


def test_no_things_are_over_at_once_and_need_no_thread() -> None:
    pool = WorkerPool(4, "test")
    pool.run_all(print, [])
    assert pool.threads == 0


@pytest.mark.parametrize("most", [1, 3])
def test_an_error_is_raised_where_the_work_was_asked_for_and_nothing_begins_after_it(most: int) -> None:
    seen = list[int]()

    def work(thing: int) -> None:
        seen.append(thing)
        if thing == 3:
            raise LookupError(thing)
        time.sleep(0.01)

    with pytest.raises(LookupError):
        WorkerPool(most, "test").run_all(work, range(100))
    assert max(seen) < 3 + 2 * most


def test_ctrl_c_while_others_work_lets_nothing_begin_and_waits_for_what_is_under_way() -> None:
    begun, reported, over = list[int](), list[int](), list[int]()
    both = threading.Barrier(2)

    def work(thing: int) -> None:
        begun.append(thing)
        both.wait(60)
        if thing == 0:
            time.sleep(0.3)  # a thread that is about to wait does not notice a signal
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(0.6)
        over.append(thing)

    with pytest.raises(KeyboardInterrupt):
        WorkerPool(2, "test").run_all(work, range(10), on_interrupt=lambda: reported.append(1))
    assert (sorted(begun), sorted(over), reported) == ([0, 1], [0, 1], [1])


# The end of a pool


def test_who_waits_for_a_call_that_a_shut_pool_does_not_run_any_more_is_told() -> None:
    pool, release = WorkerPool(1, "test"), threading.Event()
    running, waiting = pool.submit(release.wait, 10), pool.submit(abs, 1)
    pool.shutdown()
    late = pool.submit(abs, 1)
    assert not wait([waiting, late], timeout=5).not_done
    with pytest.raises(CancelledError):
        late.result(1)
    release.set()
    assert running.result(60)


def test_one_thread_is_no_pool_at_all() -> None:
    with worker_pool(1, "test") as pool:
        assert pool is None


def test_a_pool_makes_no_more_threads_than_are_wanted_and_may_be_left_while_they_hang() -> None:
    release, begun = threading.Event(), threading.Semaphore(0)

    def hang() -> bool:
        begun.release()
        return release.wait(60)

    with worker_pool(3, "feedctl-hanging") as pool:
        assert pool is not None
        for _ in range(10):
            pool.submit(hang)
        for _ in range(3):
            assert begun.acquire(timeout=5)
        named = [each for each in threading.enumerate() if each.name.startswith("feedctl-hanging")]
        assert len(named) == 3
        assert all(each.daemon for each in named)
    release.set()
    for each in named:
        each.join(60)
    assert not any(each.is_alive() for each in named)
    assert not begun.acquire(blocking=False)


# Calls that are joined


class _Slow:
    """Answers with the number of the call; each call lasts until it is let go, and a call can fail."""

    def __init__(self, failing: int = 0) -> None:
        self.begun, self.failing = 0, failing
        self.has_begun, self.may_end = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        self.has_begun.release()
        assert self.may_end.acquire(timeout=10)
        if number == self.failing:
            message = f"call {number}"
            raise ValueError(message)
        return number


def test_who_comes_while_a_call_is_under_way_shares_the_next_one() -> None:
    slow, pool = _Slow(), WorkerPool(9, "test")
    joined = JoinedCalls(slow)
    first = pool.submit(joined)
    assert slow.has_begun.acquire(timeout=10)
    later = [pool.submit(joined) for _ in range(8)]
    time.sleep(0.1)
    slow.may_end.release(2)
    assert (first.result(60), {each.result(10) for each in later}, slow.begun) == (1, {2}, 2)
    slow.may_end.release()
    assert joined() == 3


def test_the_error_of_a_joined_call_is_raised_to_all_that_shared_it_and_to_nobody_else() -> None:
    slow, pool = _Slow(failing=2), WorkerPool(4, "test")
    joined = JoinedCalls(slow)
    first = pool.submit(joined)
    assert slow.has_begun.acquire(timeout=10)
    later = [pool.submit(joined) for _ in range(3)]
    time.sleep(0.1)
    slow.may_end.release(3)
    assert first.result(60) == 1
    for each in later:
        with pytest.raises(ValueError, match="call 2"):
            each.result(60)
    assert joined() == 3


def test_many_threads_never_get_an_answer_that_is_older_than_their_question() -> None:
    count, lock = [0], threading.Lock()

    def grow() -> int:
        with lock:
            count[0] += 1
            return count[0]

    joined, pool = JoinedCalls(grow), WorkerPool(16, "test")

    def ask(number: int) -> None:
        del number
        before = count[0]
        assert joined() > before

    pool.run_all(ask, range(2_000))
    assert count[0] <= 2_000
