from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import wait

import pytest

from toolkit.storage.daemon_pool import DaemonPool

_STUCK = """
import threading
from toolkit.storage.daemon_pool import DaemonPool
begun = threading.Event()
DaemonPool(2, "stuck").submit(lambda: (begun.set(), threading.Event().wait()))
begun.wait()
print("end")
"""


def test_answers_and_errors_come_back() -> None:
    pool = DaemonPool(2, "test")
    assert [future.result(5) for future in [pool.submit(divmod, number, 3) for number in range(50)]] == [
        divmod(number, 3) for number in range(50)
    ]
    with pytest.raises(ZeroDivisionError):
        pool.submit(divmod, 1, 0).result(5)
    assert pool.submit(divmod, 7, 3).result(5) == (2, 1)


def test_no_more_threads_run_than_were_allowed_and_as_many_as_are_needed() -> None:
    pool, release, seen = DaemonPool(3, "test"), threading.Event(), threading.Semaphore(0)

    def call() -> None:
        seen.release()
        release.wait(10)

    futures = [pool.submit(call) for _ in range(6)]
    assert all(seen.acquire(timeout=5) for _ in range(3))
    assert not seen.acquire(timeout=0.1)
    assert pool.threads == 3
    release.set()
    assert not wait(futures, timeout=10).not_done


def test_a_call_that_was_cancelled_is_not_run() -> None:
    pool, release, run = DaemonPool(1, "test"), threading.Event(), list[int]()
    first = pool.submit(release.wait, 10)
    second = pool.submit(run.append, 1)
    assert second.cancel()
    release.set()
    assert first.result(5)
    pool.submit(run.append, 2).result(5)
    assert run == [2]


def test_threads_without_calls_end_and_come_again() -> None:
    pool = DaemonPool(4, "test", idle_seconds=0.01)
    for _ in range(20):
        futures = [pool.submit(abs, number) for number in range(8)]
        assert [future.result(5) for future in futures] == list(range(8))
        time.sleep(0.01)
    until = time.monotonic() + 5
    while pool.threads and time.monotonic() < until:
        time.sleep(0.01)
    assert pool.threads == 0


def test_a_stuck_call_does_not_keep_the_process_from_ending() -> None:
    ended = subprocess.run([sys.executable, "-c", _STUCK], capture_output=True, timeout=30, check=True)
    assert ended.stdout == b"end\n"
