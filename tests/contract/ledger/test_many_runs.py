"""Many runs of one process start, and give signs of life, with few statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, alone, begun, beside, changed, found, key, started
from tests.databases.ledgers import HandClock
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts, leases, run_start
from toolkit.ledger.runs.errors import UnknownRun
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.state import start_check
from toolkit.ledger.tables import lease
from toolkit.ledger.vocabulary import RunStatus

_FEW = 15


def _request(of: RunKey, wanted: tuple[Wanted, ...] | None = None) -> StartRequest:
    wanted = alone(f"evict/{of.entity}") if wanted is None else wanted
    return StartRequest(key=of, origin=ORIGIN, leases=wanted, lease_seconds=LEASE_SECONDS)


def _start(ledger: Ledger, *requests: StartRequest) -> tuple[Run | None, ...]:
    return ledger.write(lambda tx: run_start.start_many(tx, requests))


def _many(ledger: Ledger, count: int) -> list[Run]:
    runs = _start(ledger, *(_request(key(entity=f"feed-{number}")) for number in range(count)))
    return [run for run in runs if run is not None]


@contextmanager
def _counted(ledger: Ledger) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(*values: object) -> None:
        statements.append(str(values[2]))

    sa.event.listen(ledger.engine, "before_cursor_execute", note)
    yield statements
    sa.event.remove(ledger.engine, "before_cursor_execute", note)


def test_many_runs_start_in_the_order_of_their_requests_with_few_statements(ledger: Ledger) -> None:
    with _counted(ledger) as statements:
        runs = _many(ledger, 150)
    assert [run.entity for run in runs] == [f"feed-{number}" for number in range(150)]
    assert {(run.status, run.attempt, run.who, run.host) for run in runs} == {(RunStatus.RUNNING, 1, "ada", "edge1")}
    assert len(statements) < _FEW
    assert ledger.read(lambda tx: leases.owned(tx, [run.run_id for run in runs])) == {run.run_id for run in runs}


def test_a_run_that_starts_among_many_is_as_one_that_starts_alone(clocked_ledger: Ledger) -> None:
    alone_ = started(clocked_ledger, key(entity="a"), alone("evict/a")).run
    (among,) = _start(clocked_ledger, _request(key(entity="b")))
    assert among is not None
    differing = ("run_id", "entity")
    assert [getattr(among, name) for name in Run.__slots__ if name not in differing] == [
        getattr(alone_, name) for name in Run.__slots__ if name not in differing
    ]
    rows = clocked_ledger.read(lambda tx: tx.execute(sa.select(lease).order_by(lease.c.resource)).mappings().all())
    assert rows[0]["expires_at"] == rows[1]["expires_at"]
    assert [row["fence"] for row in rows] == [1, 1]


def test_what_is_over_gets_a_next_attempt(ledger: Ledger) -> None:
    changed(ledger, started(ledger, key(entity="a"), alone("evict/a")).run, RunStatus.FAILED)
    (again,) = _start(ledger, _request(key(entity="a")))
    assert again is not None
    assert again.attempt == 2


def _ready(ledger: Ledger) -> None:
    changed(ledger, begun(ledger), RunStatus.FAILED)
    ledger.write(lambda tx: attempts.queue_again(tx, key(), ORIGIN, is_forced=False))


def _killed_ahead(ledger: Ledger) -> None:
    changed(ledger, ledger.write(lambda tx: attempts.suspend_ahead(tx, key(), ORIGIN)), RunStatus.KILLED)


_OBSTACLES: dict[str, Callable[[Ledger], object]] = {
    "the entity is suspended": lambda ledger: ledger.write(
        lambda tx: start_check.suspend(tx, "clicks", "primary", "bob", None)
    ),
    "it is suspended everywhere": lambda ledger: ledger.write(
        lambda tx: start_check.suspend(tx, "clicks", None, "bob", None)
    ),
    "another holds its lease": lambda ledger: started(ledger, key(entity="other"), alone("evict/clicks")),
    "others read what it wants alone": lambda ledger: started(ledger, key(entity="other"), beside("evict/clicks")),
    "the same key runs": begun,
    "it waits for a start": _ready,
    "it was suspended ahead": lambda ledger: ledger.write(lambda tx: attempts.suspend_ahead(tx, key(), ORIGIN)),
    "it was killed ahead": _killed_ahead,
}


@pytest.mark.parametrize("obstacle", _OBSTACLES.values(), ids=_OBSTACLES)
def test_what_has_something_in_its_way_is_left_to_a_start_of_its_own(
    ledger: Ledger, obstacle: Callable[[Ledger], object]
) -> None:
    obstacle(ledger)
    runs = _start(ledger, _request(key(entity="a")), _request(key()), _request(key(entity="b")))
    assert [run and run.entity for run in runs] == ["a", None, "b"]


def test_a_dead_owner_is_put_away_by_a_start_of_its_own(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    dead = started(clocked_ledger, key(entity="other"), alone("evict/clicks")).run
    hand_clock.forward(LEASE_SECONDS)
    assert _start(clocked_ledger, _request(key())) == (None,)
    assert found(clocked_ledger, dead).status is RunStatus.RUNNING
    assert started(clocked_ledger).taken_over[0].run_id == dead.run_id


def test_none_starts_in_safe_mode(ledger: Ledger) -> None:
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="root", reason=None))
    assert _start(ledger, _request(key()), _request(key(entity="b"))) == (None, None)


def test_of_two_that_are_in_each_others_way_the_first_starts(ledger: Ledger) -> None:
    same_key = _request(key(), alone("x"))
    same_resource = _request(key(entity="b"), alone("evict/clicks"))
    runs = _start(ledger, _request(key()), same_key, same_resource)
    assert [run is not None for run in runs] == [True, False, False]


def test_what_others_read_may_be_read_by_one_more(ledger: Ledger) -> None:
    started(ledger, key(entity="other"), beside("tables"))
    (run,) = _start(ledger, _request(key(), beside("tables")))
    assert run is not None


def test_many_runs_renew_their_leases_with_few_statements(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    runs = _many(clocked_ledger, 150)
    hand_clock.forward(LEASE_SECONDS / 2)
    ids = [run.run_id for run in runs]
    with _counted(clocked_ledger) as statements:
        until, lost = clocked_ledger.write(lambda tx: leases.renew_many(tx, ids, LEASE_SECONDS))
    assert lost == {}
    assert len(statements) < _FEW
    hand_clock.forward(LEASE_SECONDS - 1)
    assert clocked_ledger.read(lambda tx: leases.owned(tx, ids)) == set(ids)
    assert found(clocked_ledger, runs[0]).heartbeat_at == until - timedelta(seconds=LEASE_SECONDS)


def test_only_those_that_lost_a_lease_are_told_so(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    late, _ = _many(clocked_ledger, 2)
    hand_clock.forward(LEASE_SECONDS / 2)
    timely = started(clocked_ledger).run
    hand_clock.forward(LEASE_SECONDS / 2)
    ids = [late.run_id, timely.run_id]
    _, lost = clocked_ledger.write(lambda tx: leases.renew_many(tx, ids, LEASE_SECONDS))
    assert list(lost) == [late.run_id]
    assert clocked_ledger.read(lambda tx: leases.owned(tx, ids)) == {timely.run_id}


def test_a_run_of_another_ledger_is_no_lost_lease(ledger: Ledger) -> None:
    with pytest.raises(UnknownRun):
        ledger.write(lambda tx: leases.renew_many(tx, [999], LEASE_SECONDS))
