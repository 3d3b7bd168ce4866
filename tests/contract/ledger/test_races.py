"""Of many who want the same at once, one gets it, and the others are told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest
import sqlalchemy as sa

from tests.contract.ledger.racing import Race, Work, race_processes, racing
from tests.contract.ledger.samples import (
    LEASE_SECONDS,
    ORIGIN,
    alone,
    begun,
    beside,
    changed,
    found,
    key,
    started,
)
from tests.contract.ledger.stored_runs import instance
from tests.databases.ledgers import START, HandClock, open_ledger
from toolkit.errors import FeedctlError
from toolkit.ledger.database import Ledger, Transaction, database_now
from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs import attempts, leases, queries, run_start, status
from toolkit.ledger.runs.errors import LeaseHeld, LeaseLost, NotTerminal, RunIsActive
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.queries import RunFilter
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.runs.run_start import Started, StartRequest
from toolkit.ledger.state import holds
from toolkit.ledger.state.holds import NewHold
from toolkit.ledger.vocabulary import RunStatus

pytestmark = pytest.mark.both_databases

RACERS = 6
ROUNDS = range(5)


def _start(of: RunKey, wanted: tuple[Wanted, ...]) -> Work[object]:
    request = StartRequest(key=of, origin=ORIGIN, leases=wanted, lease_seconds=LEASE_SECONDS)
    return lambda tx: run_start.start(tx, request)


def _renewal(run: Run) -> Work[object]:
    return lambda tx: leases.renew(tx, run.run_id, LEASE_SECONDS)


def _end(run: Run, to: RunStatus) -> Work[object]:
    return lambda tx: status.change(tx, run.run_id, to)


def _order(of: RunKey) -> Work[object]:
    return lambda tx: attempts.queue_again(tx, of, ORIGIN, is_forced=False)


def _suspend(of: RunKey) -> Work[object]:
    return lambda tx: attempts.suspend_ahead(tx, of, ORIGIN)


def _hold(new: NewHold) -> Work[bool]:
    return lambda tx: holds.add(tx, new, "bob")[1]


def _kinds(outcomes: Sequence[object]) -> Counter[str]:
    return Counter(type(each).__name__ for each in outcomes)


def _runs(ledger: Ledger) -> list[Run]:
    return ledger.read(lambda tx: queries.find(tx, RunFilter(entity="clicks", all_attempts=True)))


def _instance(number: int) -> RunKey:
    return key(instance(number))


@pytest.fixture
def race(ledger_url: sa.URL) -> Iterator[Race]:
    """As many racers as there are."""
    with racing(ledger_url, [database_now] * RACERS) as prepared:
        yield prepared


def test_of_many_that_want_one_resource_exactly_one_starts(ledger: Ledger, race: Race) -> None:
    for number in ROUNDS:
        resource = alone(f"evict/{number}")
        outcomes = race([_start(_instance(10 * number + each), resource) for each in range(RACERS)])
        assert _kinds(outcomes) == {Started.__name__: 1, LeaseHeld.__name__: RACERS - 1}
    assert len(_runs(ledger)) == len(ROUNDS)


@pytest.mark.extended
def test_of_many_processes_that_want_one_resource_exactly_one_starts(ledger_url: sa.URL) -> None:
    assert Counter(race_processes(ledger_url, 3)) == {"started": 1, LeaseHeld.__name__: 2}


def test_of_many_that_start_one_key_exactly_one_starts(ledger: Ledger, race: Race) -> None:
    for number in ROUNDS:
        outcomes = race([_start(_instance(number), ()) for _ in range(RACERS)])
        assert _kinds(outcomes) == {Started.__name__: 1, RunIsActive.__name__: RACERS - 1}
    assert [run.attempt for run in _runs(ledger)] == [1] * len(ROUNDS)


def test_of_two_that_begin_one_key_in_the_same_moment_one_begins(postgres_ledger_url: sa.URL) -> None:
    """Both have looked and found nothing; then they meet in whichever unique index comes first."""
    barrier = threading.Barrier(2)

    def begin(number: int) -> Work[object]:
        def work(tx: Transaction) -> object:
            now = tx.now()
            barrier.wait(30)
            return attempts.begin(tx, _instance(number), ORIGIN, at=now)

        return work

    with racing(postgres_ledger_url, [database_now] * 2) as race:
        for number in range(100):
            assert _kinds(race([begin(number)] * 2)) == {Run.__name__: 1, RunIsActive.__name__: 1}


def test_of_many_that_begin_what_was_ordered_exactly_one_begins(ledger: Ledger, race: Race) -> None:
    for number in ROUNDS:
        of = _instance(number)
        changed(ledger, begun(ledger, of), RunStatus.FAILED)
        assert _kinds(race([_order(of)] * RACERS)) == {Run.__name__: 1, NotTerminal.__name__: RACERS - 1}
        assert _kinds(race([_start(of, ())] * RACERS)) == {Started.__name__: 1, RunIsActive.__name__: RACERS - 1}
    assert [run.status for run in _runs(ledger)] == [RunStatus.FAILED, RunStatus.RUNNING] * len(ROUNDS)


def test_what_is_suspended_ahead_in_the_moment_of_its_start_is_either_suspended_or_started(
    ledger: Ledger, race: Race
) -> None:
    for number in ROUNDS:
        of = _instance(number)
        works: list[Work[object]] = [_start(of, ()), _suspend(of)] * (RACERS // 2)
        outcomes = race(works)
        (run,) = [run for run in _runs(ledger) if run.key == of]
        starts = [each for each in outcomes if isinstance(each, Started)]
        assert (run.status, len(starts)) in ((RunStatus.RUNNING, 1), (RunStatus.SUSPENDED, 0))


def test_readers_start_all_at_once(ledger: Ledger, race: Race) -> None:
    for number in ROUNDS:
        wanted = beside(f"b{number}", f"a{number}")
        outcomes = race([_start(_instance(10 * number + each), wanted) for each in range(RACERS)])
        assert _kinds(outcomes) == {Started.__name__: RACERS}
    assert len(ledger.read(queries.active)) == RACERS * len(ROUNDS)


def test_of_many_that_find_an_owner_dead_exactly_one_takes_over(ledger_url: sa.URL) -> None:
    clock = HandClock()
    with racing(ledger_url, [clock] * RACERS) as race, closing(open_ledger(ledger_url, clock)) as ledger:
        for number in ROUNDS:
            dead = started(ledger, _instance(number), alone(f"a{number}", f"b{number}")).run
            clock.forward(LEASE_SECONDS)
            later = [_instance(10 * number + 10 + each) for each in range(RACERS)]
            wanted = [alone(f"b{number}", f"a{number}"), alone(f"a{number}")] * (RACERS // 2)
            outcomes = race(list(map(_start, later, wanted)))
            assert _kinds(outcomes) == {Started.__name__: 1, LeaseHeld.__name__: RACERS - 1}
            assert [each.taken_over[0].run_id for each in outcomes if isinstance(each, Started)] == [dead.run_id]


def test_a_heartbeat_and_a_takeover_at_the_moment_of_expiry_never_both_succeed(ledger_url: sa.URL) -> None:
    """The owner asks just before the lease expires and the other just after; whoever is served first decides."""
    before, after = HandClock(), HandClock()
    with racing(ledger_url, [before, after]) as race, closing(open_ledger(ledger_url, before)) as ledger:
        for number in range(40):
            before.now = after.now = START
            run = started(ledger, _instance(number), alone(str(number))).run
            before.forward(LEASE_SECONDS - 0.001)
            after.forward(LEASE_SECONDS)
            works: list[Work[object]] = [_renewal(run), _start(_instance(100 + number), alone(str(number)))]
            renewed, start = race(works)
            assert {type(each) for each in (renewed, start) if isinstance(each, FeedctlError)} in (
                {LeaseLost},
                {LeaseHeld},
            )
            assert (found(ledger, run).status is RunStatus.KILLED) == isinstance(renewed, LeaseLost)


def test_an_end_and_a_takeover_at_the_same_moment_never_both_count(ledger_url: sa.URL) -> None:
    clock = HandClock()
    with racing(ledger_url, [clock] * 2) as race, closing(open_ledger(ledger_url, clock)) as ledger:
        for number in range(40):
            run = started(ledger, _instance(number), alone(str(number))).run
            clock.forward(LEASE_SECONDS)
            works = [_end(run, RunStatus.SUCCEEDED), _start(_instance(100 + number), alone(str(number)))]
            ended, start = race(works)
            assert isinstance(start, Started)
            assert isinstance(ended, IllegalTransition) == bool(start.taken_over)
            end = RunStatus.KILLED if start.taken_over else RunStatus.SUCCEEDED
            assert found(ledger, run).status is end


def test_of_many_ends_of_a_run_exactly_one_counts(ledger: Ledger, race: Race) -> None:
    ends = [RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.KILLED] * (RACERS // 3)
    for number in ROUNDS:
        run = begun(ledger, _instance(number))
        outcomes = race([_end(run, to) for to in ends])
        assert _kinds(outcomes) == {Run.__name__: 1, IllegalTransition.__name__: RACERS - 1}
        assert found(ledger, run) in outcomes


def test_of_many_that_add_the_same_hold_one_adds_it(ledger: Ledger, race: Race) -> None:
    for number in ROUNDS:
        new = NewHold(feed="clicks", reason=f"lawsuit {number}")
        assert Counter(race([_hold(new)] * RACERS)) == {True: 1, False: RACERS - 1}
    assert len(ledger.read(holds.active)) == len(ROUNDS)
