"""Deciders and producers at the same time: each satisfied condition has exactly one run, and no event is lost.

Three reports on Airflow name what must not happen: a run of 15 of 16 datasets (#56541), events that no run consumes
(#47398), and a condition that holds and starts nothing (#52711).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

import pytest
import sqlalchemy as sa

from tests.contract.triggers.rules import (
    CLUSTER,
    DAYS,
    caused,
    consumer,
    created,
    decide,
    ended,
    pending,
    update,
)
from tests.contract.triggers.swarm import TriggerSwarm
from tests.databases.forking import Forks, forking
from tests.databases.ledgers import open_ledger
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy
from toolkit.ledger import events
from toolkit.ledger.database import Ledger, Transaction
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind
from toolkit.triggers.consumer import TriggerConsumer

pytestmark = pytest.mark.both_databases
_SECONDS = 120


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Yield what makes the processes."""
    with forking() as started:
        yield started


def at_once(url: sa.URL, works: Sequence[Callable[[Ledger], object]]) -> None:
    """Do all of this at the same moment, each with a connection of its own."""
    barrier = threading.Barrier(len(works))

    def work(one: Callable[[Ledger], object]) -> None:
        with closing(open_ledger(url)) as ledger:
            try:
                ledger.read(lambda tx: tx.now())
            except BaseException:
                barrier.abort()
                raise
            barrier.wait(_SECONDS)
            one(ledger)

    with ThreadPoolExecutor(len(works)) as threads:
        started = [threads.submit(work, each) for each in works]
    failed = [error for each in started if (error := each.exception())]
    causes = [error for error in failed if not isinstance(error, threading.BrokenBarrierError)]
    for error in [*causes, *failed]:  # the error of one thread breaks the barrier of all the others
        raise error


def deciding(report: TriggerConsumer, times: int = 3) -> Callable[[Ledger], object]:
    """Return a decider that decides some times in a row."""
    return lambda ledger: [decide(ledger, report) for _ in range(times)]


def updating(feed: str, key: str = DAYS[0]) -> Callable[[Ledger], object]:
    """Return a producer of one update."""
    return lambda ledger: update(ledger, feed, key)


def test_airflow_56541_no_run_starts_while_one_of_16_datasets_is_missing(ledger: Ledger, ledger_url: sa.URL) -> None:
    feeds = [f"feed-{number}" for number in range(16)]
    report = consumer("report", *feeds)
    at_once(ledger_url, [*map(updating, feeds[:15]), *[deciding(report)] * 4])
    decide(ledger, report)
    assert caused(ledger) == {}
    update(ledger, feeds[15], DAYS[1])
    decide(ledger, report)
    assert caused(ledger) == {}
    at_once(ledger_url, [updating(feeds[15]), *[deciding(report)] * 4])
    decide(ledger, report)
    assert caused(ledger) == {("report", DAYS[0], 1): [*range(1, 16), 17]}


def test_airflow_47398_each_of_four_events_of_one_producer_is_consumed(ledger: Ledger, ledger_url: sa.URL) -> None:
    each = consumer("each", "clicks")
    together = consumer("together", "clicks", by=GroupBy.ANY_UPDATE, coalesce=Coalesce.ALL)
    for start in range(0, 12, 4):
        keys = DAYS[start : start + 4]
        deciders = [partial(lambda ledger, them: decide(ledger, *them), them=(each, together))] * 4
        at_once(ledger_url, [*(updating("clicks", key) for key in keys), *deciders])
    decide(ledger, each, together)
    found = caused(ledger)
    assert sorted(number for (name, _, _), numbers in found.items() if name == "each" for number in numbers) == list(
        range(1, 13)
    )
    consumed = [number for (name, _, _), numbers in found.items() if name == "together" for number in numbers]
    waiting = [number for name, number in pending(ledger) if name == "trigger/together@primary"]
    assert sorted([*consumed, *waiting]) == list(range(1, 13))


def test_airflow_47398_events_during_a_run_are_consumed_by_the_next_one(ledger: Ledger) -> None:
    report = consumer("report", "clicks", coalesce=Coalesce.ALL)
    update(ledger, "clicks")
    decide(ledger, report)
    for _ in range(3):
        update(ledger, "clicks", kind=EventKind.UPDATED)
        assert created(decide(ledger, report)) == []
    ended(ledger, report)
    assert created(decide(ledger, report)) == [("report", DAYS[0], (2, 3, 4))]


def test_airflow_52711_six_updates_at_the_same_moment_start_their_consumer(ledger: Ledger, ledger_url: sa.URL) -> None:
    feeds = [f"feed-{number}" for number in range(6)]
    report = consumer("report", *feeds)
    for day in range(4):
        at_once(ledger_url, [*(updating(feed, DAYS[day]) for feed in feeds), *[deciding(report)] * 3])
        decide(ledger, report)
        assert {key: len(numbers) for key, numbers in caused(ledger).items()} == {
            ("report", DAYS[each], 1): 6 for each in range(day + 1)
        }


def test_an_event_that_began_early_and_was_committed_late_is_seen(ledger: Ledger, ledger_url: sa.URL) -> None:
    report = consumer("report", "clicks")
    began, may_commit = threading.Event(), threading.Event()
    new = NewEvent(kind=EventKind.AVAILABLE, feed="clicks", cluster=CLUSTER, instance_key=DAYS[0])

    def slow(tx: Transaction) -> None:
        events.append(tx, [new])
        began.set()
        may_commit.wait(_SECONDS)

    with closing(open_ledger(ledger_url)) as other, ThreadPoolExecutor(2) as threads:
        slowly = threads.submit(other.write, slow)
        assert began.wait(_SECONDS)
        deciding_now = threads.submit(decide, ledger, report)
        may_commit.set()
        slowly.result(_SECONDS)
        deciding_now.result(_SECONDS)
    decide(ledger, report)
    assert caused(ledger) == {("report", DAYS[0], 1): [1]}


@pytest.mark.parametrize(
    "seed", [pytest.param(1, marks=pytest.mark.extended), pytest.param(2, marks=pytest.mark.soak)]
)  # the next test has the same, and deaths
def test_many_deciders_and_producers_create_one_run_for_each_condition(
    ledger_url: sa.URL, forks: Forks, seed: int
) -> None:
    TriggerSwarm(deciders=20, producers=8, at_once=8, seed=seed).run(ledger_url, forks)


@pytest.mark.parametrize(
    "seed",
    [
        11,
        pytest.param(12, marks=pytest.mark.extended),
        *(pytest.param(seed, marks=pytest.mark.soak) for seed in (13, 14, 15)),
    ],
)
def test_deciders_and_producers_that_die_lose_and_double_nothing(ledger_url: sa.URL, forks: Forks, seed: int) -> None:
    counts = TriggerSwarm(deciders=20, producers=8, at_once=6, killed=0.6, seed=seed).run(ledger_url, forks)
    # No matter of chance: the seed lets at least four producers die before they have emitted their updates, each of
    # which takes more statements than the number at which they die.
    assert counts["killed"] > 3
