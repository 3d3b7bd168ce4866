"""Threads that share work: each thing once, errors to whoever waits, and nothing after an error."""

from __future__ import annotations

import threading

import pytest

from toolkit.el import CanonicalPath
from toolkit.retention.crew import Crew, Crews

PLACE = CanonicalPath.parse("hdfs://nn/a")


def test_each_thing_is_worked_on_once_by_several_threads() -> None:
    seen, together = list[int](), threading.Barrier(4)

    def work(thing: int) -> None:
        if thing < 4:
            together.wait(10)
        seen.append(thing)

    crew = Crew(4)
    crew.start(work, range(1000)).wait()
    crew.send_home(now=False)
    assert sorted(seen) == list(range(1000))


def test_no_more_threads_take_part_than_were_asked_for() -> None:
    names, crew = set[str](), Crew(4)
    crew.start(lambda _: names.add(threading.current_thread().name), range(50), at_once=1).wait()
    crew.send_home(now=False)
    assert len(names) == 1


def test_an_error_is_raised_where_the_work_was_asked_for_and_nothing_begins_after_it() -> None:
    seen, crew = list[int](), Crew(1)

    def work(thing: int) -> None:
        seen.append(thing)
        if thing == 3:
            raise LookupError(thing)

    with pytest.raises(LookupError):
        crew.start(work, range(10)).wait()
    crew.send_home(now=True)
    assert seen == [0, 1, 2, 3]


def test_no_things_are_over_at_once_and_need_no_thread() -> None:
    before = threading.active_count()
    Crew(4).start(print, []).wait()
    assert threading.active_count() == before


def test_an_error_in_between_ends_what_is_under_way_after_its_present_thing() -> None:
    begun, may_end, told, seen = threading.Event(), threading.Event(), threading.Event(), list[int]()

    def work(thing: int) -> None:
        seen.append(thing)
        begun.set()
        may_end.wait(10)

    def ctrl_c() -> None:
        with Crews(on_error=told.set) as crews:
            crews.of(PLACE, 1).start(work, range(10))
            begun.wait(10)
            threading.Timer(0.1, may_end.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ctrl_c()
    assert (seen, told.is_set()) == ([0], True)


def test_a_call_that_hangs_does_not_keep_the_process() -> None:
    crew, begun = Crew(1), threading.Event()
    never = threading.Event()

    def hang(_: int) -> None:
        begun.set()
        never.wait(60)

    crew.start(hang, [1])
    assert begun.wait(10)
    (thread,) = [each for each in threading.enumerate() if each.name.startswith("feedctl-store")][-1:]
    assert thread.daemon
    never.set()
    crew.send_home(now=True)
