"""Many callers at once: one of them gets the job, no batch is read twice, and none is missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from threading import Barrier

import pytest
import sqlalchemy as sa

from tests.contract.ledger_jobs.calls import NOON, Calls, instance
from tests.contract.ledger_jobs.pipelines import feed, process, step
from tests.databases.ledgers import open_ledger
from toolkit.errors import FeedctlError
from toolkit.ledger.batches.errors import BatchIsTaken
from toolkit.ledger.jobs.errors import JobIsRunning, NothingEnqueued
from toolkit.ledger.jobs.rows import StartedJob
from toolkit.ledger.registry.sync import SyncReport

pytestmark = pytest.mark.both_databases

CALLERS = 6


@contextmanager
def callers(url: sa.URL, count: int = CALLERS) -> Iterator[list[Calls]]:
    """Callers with a connection each."""
    with ExitStack() as stack:
        yield [Calls(stack.enter_context(closing(open_ledger(url)))) for _ in range(count)]


def at_once(*each: Callable[[], object]) -> list[object]:
    """Return what these calls return, or refuse with, when all are made at the same moment."""
    barrier = Barrier(len(each))

    def made(call: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return call()
        except FeedctlError as error:
            return error

    with ThreadPoolExecutor(len(each)) as pool:
        return list(pool.map(made, each))


def test_of_many_that_start_the_same_job_one_gets_it(ledger_url: sa.URL) -> None:
    with callers(ledger_url) as many:
        many[0].register(feed("a"), process("p", step("main", "a")))
        many[0].enqueue("a")
        for key in (None, NOON):
            got = at_once(*(partial(calls.init, "p", key) for calls in many))
            assert Counter(type(each) for each in got) == {StartedJob: 1, JobIsRunning: CALLERS - 1}


def test_every_batch_is_read_once_whoever_runs_the_jobs(ledger_url: sa.URL) -> None:
    with callers(ledger_url) as many:
        many[0].register(feed("a"), process("p", step("one", "a"), step("two", "a")), process("q", step("last", "p")))
        for number in range(12):
            many[0].enqueue("a", str(number))

        def work(calls: Calls) -> int:
            """Work until there is nothing left, or nothing left for this caller."""
            done = 0
            for name in ("p", "q") * 8:
                try:
                    calls.work(name, most=2)
                    done += 1
                except (JobIsRunning, NothingEnqueued):
                    continue
            return done

        got = at_once(*(partial(work, calls) for calls in many))
        for name in ("p", "q") * 12:
            try:
                many[0].work(name, most=2)
            except NothingEnqueued:
                continue
        assert not [each for each in got if isinstance(each, FeedctlError)]
        read = Counter((row.step, row.source) for row in many[0].archive())
        assert set(read.values()) == {1}
        assert {name: sum(1 for of, _ in read if of == name) for name in ("one", "two")} == {"one": 12, "two": 12}
        assert many[0].queue() == []


def test_the_same_file_of_the_same_batch_is_registered_once(ledger_url: sa.URL) -> None:
    with callers(ledger_url) as many:
        many[0].register(feed("a"), process("p", step("main", "a")))
        batch_id = many[0].register_file("/in/0").batch_id
        got = at_once(*(partial(calls.enqueue, "a", "/in/1", batch_id=batch_id, of=instance("a")) for calls in many))
        assert not [each for each in got if isinstance(each, FeedctlError)]
        assert len(many[0].queue()) == 1
        tables = many[0].everything()
        assert (len(tables["file"]), len(tables["event"]), len(tables["batch_instance"])) == (2, 1, 1)


def test_many_syncs_at_once_register_everything_once(ledger_url: sa.URL) -> None:
    with callers(ledger_url) as many:
        entries = [feed("a"), *(process(f"p{number}", step("main", "a")) for number in range(20))]
        got = at_once(*(partial(calls.register, *entries) for calls in many))
        assert [isinstance(each, SyncReport) and each.has_changed for each in got].count(True) == 1
        assert len(many[0].everything()["process"]) == 21


@pytest.mark.parametrize("key", [None, NOON])
def test_a_file_that_joins_a_batch_is_read_or_refused_and_never_missed(ledger_url: sa.URL, key: str | None) -> None:
    with callers(ledger_url, 2) as (job, adder):
        job.register(feed("a"), process("p", step("one", "a"), step("two", "a")))
        for number in range(10):
            batch_id = job.enqueue("a", f"/in/{number}", of=instance("a")).batch_id
            start = partial(job.init, "p", key, inputs=[instance("a")] if key else [])
            started, added = at_once(start, partial(adder.register_file, f"/late/{number}", batch_id=batch_id))
            assert isinstance(started, StartedJob)
            is_read = f"/late/{number}" in {each.path for each in started.files}
            assert is_read != isinstance(added, BatchIsTaken)
            for name in started.steps_to_run:
                job.step("p", name, key)
            job.halt("p", key)
