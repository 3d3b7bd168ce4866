"""Listings beside the walk: answered where they are waited for, and nobody's burden when the walk is over."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from toolkit.retention.listing_threads import listing_threads


def test_answers_and_errors_come_where_they_are_waited_for() -> None:
    def fail() -> int:
        raise KeyError

    with listing_threads(2) as threads:
        assert threads is not None
        answers = [threads.submit(partial(pow, number, 2)) for number in range(10)]
        failing = threads.submit(fail)
        assert [answer() for answer in answers] == [number**2 for number in range(10)]
        with pytest.raises(KeyError):
            failing()


def test_one_thread_is_none_at_all() -> None:
    with listing_threads(1) as threads:
        assert threads is None


def test_no_more_threads_are_made_than_are_wanted_and_all_may_be_left_behind() -> None:
    release, begun = threading.Event(), threading.Semaphore(0)

    def hang() -> bool:
        begun.release()
        return release.wait(10)

    with listing_threads(3) as threads:
        assert threads is not None
        for _ in range(10):
            threads.submit(hang)
        for _ in range(3):
            assert begun.acquire(timeout=5)
        named = [each for each in threading.enumerate() if each.name.startswith("feedctl-listing")]
        assert len(named) == 3
        assert all(each.daemon for each in named)
    release.set()
    for each in named:
        each.join(5)
    assert not any(each.is_alive() for each in named)
    assert not begun.acquire(blocking=False)
