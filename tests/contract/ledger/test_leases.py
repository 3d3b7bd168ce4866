"""Leases: alone or beside others, until they expire by the database's clock."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from tests.contract.ledger.samples import (
    LEASE_SECONDS,
    ORIGIN,
    alone,
    begun,
    beside,
    changed,
    found,
    key,
    owned,
    started,
)
from tests.databases.ledgers import START, HandClock
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts, leases, queries
from toolkit.ledger.runs.errors import LeaseHeld, LeaseLost, UnknownRun
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import lease
from toolkit.ledger.vocabulary import LeaseMode, RunStatus

pytestmark = pytest.mark.both_databases

NEXT = key("2026-03-21T12:00Z")


def _take(ledger: Ledger, run: Run, *wanted: Wanted) -> None:
    ledger.write(lambda tx: leases.take(tx, run.run_id, wanted, LEASE_SECONDS))


def _held(ledger: Ledger) -> list[tuple[str, int, LeaseMode]]:
    columns = (lease.c.resource, lease.c.run_id, lease.c.mode)
    rows = ledger.read(lambda tx: tx.execute(sa.select(*columns).order_by(*columns)).all())
    return [(row.resource, row.run_id, row.mode) for row in rows]


def test_a_lease_expires_so_many_seconds_after_it_was_taken(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    start = started(clocked_ledger)
    assert start.expires_at == START + timedelta(seconds=LEASE_SECONDS)
    hand_clock.forward(LEASE_SECONDS - 0.001)
    assert owned(clocked_ledger, start.run)
    hand_clock.forward(0.001)
    assert not owned(clocked_ledger, start.run)


def test_what_is_held_alone_is_refused_to_all_others(ledger: Ledger) -> None:
    holder = started(ledger, wanted=alone("evict/clicks/primary")).run
    for wanted in (alone("evict/clicks/primary"), beside("evict/clicks/primary"), alone("a", "evict/clicks/primary")):
        with pytest.raises(LeaseHeld) as caught:
            started(ledger, NEXT, wanted)
        assert (caught.value.resource, caught.value.holder) == ("evict/clicks/primary", holder)
        assert caught.value.since < caught.value.until
    assert _held(ledger) == [("evict/clicks/primary", holder.run_id, LeaseMode.EXCLUSIVE)]
    assert ledger.read(lambda tx: queries.newest(tx, NEXT)) is None


def test_who_is_refused_learns_who_holds_it_since_when_until_when_and_what_to_do(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    started(clocked_ledger, wanted=alone("evict/clicks/primary"))
    hand_clock.forward(1)
    with pytest.raises(LeaseHeld) as caught:
        started(clocked_ledger, NEXT, alone("evict/clicks/primary"))
    assert str(caught.value) == (
        "evict/clicks/primary is held by run 1 (eviction of clicks on primary for 2026-03-20T12:00Z, attempt 1), "
        "ada on edge1 (process 4711), since 2026-03-20T12:00:00Z; its lease expires at 2026-03-20T12:01:00Z unless it "
        "is renewed; wait until it is over, or end it with `feedctl instance kill`"
    )


def test_readers_share_and_keep_writers_out_until_the_last_has_gone(ledger: Ledger) -> None:
    first = started(ledger, wanted=beside("data/clicks")).run
    second = started(ledger, NEXT, beside("data/clicks")).run
    writer = key("2026-03-22T12:00Z")
    for reader in (first, second):
        with pytest.raises(LeaseHeld):
            started(ledger, writer, alone("data/clicks"))
        changed(ledger, reader, RunStatus.SUCCEEDED)
    assert started(ledger, writer, alone("data/clicks")).run.status is RunStatus.RUNNING


def test_a_resource_wanted_both_ways_is_held_alone(ledger: Ledger) -> None:
    run = started(ledger, wanted=(*beside("a"), *alone("a"), *beside("a"))).run
    assert _held(ledger) == [("a", run.run_id, LeaseMode.EXCLUSIVE)]


def test_a_run_may_take_more_and_strengthen_what_it_has_but_never_weakens_it(ledger: Ledger) -> None:
    run = started(ledger, wanted=(*beside("a"), *alone("b"))).run
    _take(ledger, run, *alone("a"), *beside("b", "c"))
    exclusive, shared = LeaseMode.EXCLUSIVE, LeaseMode.SHARED
    assert _held(ledger) == [("a", run.run_id, exclusive), ("b", run.run_id, exclusive), ("c", run.run_id, shared)]


def test_a_shared_lease_cannot_be_strengthened_beside_another_reader(ledger: Ledger) -> None:
    run = started(ledger, wanted=beside("a")).run
    started(ledger, NEXT, beside("a"))
    with pytest.raises(LeaseHeld):
        _take(ledger, run, *alone("a"))


def test_the_fence_of_a_resource_rises_with_each_lease(ledger: Ledger) -> None:
    fences = []
    for _ in range(3):
        run = started(ledger).run
        fences.append(ledger.read(lambda tx: tx.execute(sa.select(lease.c.fence)).scalar_one()))
        changed(ledger, run, RunStatus.SUCCEEDED)
    assert fences == [1, 2, 3]


def test_a_heartbeat_moves_the_expiry_of_all_leases_and_is_noted(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    run = started(clocked_ledger, wanted=(*alone("a"), *beside("b"))).run
    hand_clock.forward(LEASE_SECONDS - 1)
    until = clocked_ledger.write(lambda tx: leases.renew(tx, run.run_id, LEASE_SECONDS))
    assert until == hand_clock.now + timedelta(seconds=LEASE_SECONDS)
    assert found(clocked_ledger, run).heartbeat_at == hand_clock.now
    hand_clock.forward(LEASE_SECONDS - 1)
    assert owned(clocked_ledger, run)
    with pytest.raises(LeaseHeld):
        started(clocked_ledger, NEXT, alone("b"))


def test_a_heartbeat_after_the_expiry_fails_even_when_nobody_took_over(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    run = started(clocked_ledger).run
    hand_clock.forward(LEASE_SECONDS)
    with pytest.raises(LeaseLost, match="it expired at 2026-03-20T12:01:00Z"):
        clocked_ledger.write(lambda tx: leases.renew(tx, run.run_id, LEASE_SECONDS))
    assert not owned(clocked_ledger, run)
    assert found(clocked_ledger, run).heartbeat_at == START


def test_one_expired_lease_of_several_is_enough_to_lose_all(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    run = started(clocked_ledger, wanted=alone("a")).run
    hand_clock.forward(LEASE_SECONDS - 1)
    _take(clocked_ledger, run, *alone("b"))
    hand_clock.forward(1)
    with pytest.raises(LeaseLost):
        clocked_ledger.write(lambda tx: leases.renew(tx, run.run_id, LEASE_SECONDS))


def test_a_heartbeat_of_a_run_that_was_killed_says_why_it_was(ledger: Ledger) -> None:
    run = started(ledger).run
    changed(ledger, run, RunStatus.KILLED, reason="ada said so")
    with pytest.raises(LeaseLost, match="the run is killed: ada said so"):
        ledger.write(lambda tx: leases.renew(tx, run.run_id, LEASE_SECONDS))


def test_a_heartbeat_of_no_run_is_refused(ledger: Ledger) -> None:
    with pytest.raises(UnknownRun):
        ledger.write(lambda tx: leases.renew(tx, 77, LEASE_SECONDS))


def test_whoever_takes_over_an_expired_lease_kills_the_run_of_the_dead_owner(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    dead = started(clocked_ledger, wanted=alone("a", "b")).run
    hand_clock.forward(LEASE_SECONDS)
    start = started(clocked_ledger, NEXT, alone("b"))
    (killed,) = start.taken_over
    assert (killed.run_id, killed.status, killed.ended_at) == (dead.run_id, RunStatus.KILLED, hand_clock.now)
    assert killed.reason == "its lease expired at 2026-03-20T12:01:00Z: its owner died or was cut off"
    assert _held(clocked_ledger) == [("b", start.run.run_id, LeaseMode.EXCLUSIVE)]


def test_a_dead_owner_frees_its_own_key_too(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    dead = started(clocked_ledger).run
    hand_clock.forward(LEASE_SECONDS)
    start = started(clocked_ledger)
    assert [each.run_id for each in start.taken_over] == [dead.run_id]
    assert (start.run.attempt, start.run.status) == (2, RunStatus.RUNNING)


def test_all_dead_readers_are_put_away_and_live_ones_stay(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    dead = [started(clocked_ledger, key(f"2026-03-0{day}T12:00Z"), beside("a")).run for day in (1, 2)]
    hand_clock.forward(LEASE_SECONDS)
    live = started(clocked_ledger, key("2026-03-03T12:00Z"), beside("a"))
    assert [each.run_id for each in live.taken_over] == [each.run_id for each in dead]
    with pytest.raises(LeaseHeld) as caught:
        started(clocked_ledger, NEXT, alone("a"))
    assert caught.value.holder.run_id == live.run.run_id


def test_who_is_refused_one_resource_changes_nothing_about_the_dead_holder_of_another(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    dead = started(clocked_ledger, wanted=alone("a")).run
    hand_clock.forward(LEASE_SECONDS)
    live = started(clocked_ledger, key("2026-03-19T12:00Z"), alone("b")).run
    with pytest.raises(LeaseHeld):
        started(clocked_ledger, NEXT, alone("a", "b"))
    exclusive = LeaseMode.EXCLUSIVE
    assert _held(clocked_ledger) == [("a", dead.run_id, exclusive), ("b", live.run_id, exclusive)]
    assert found(clocked_ledger, dead).status is RunStatus.RUNNING


def test_a_suspended_run_whose_owner_died_stays_suspended_without_a_lease(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    suspended = changed(clocked_ledger, started(clocked_ledger).run, RunStatus.SUSPENDED)
    hand_clock.forward(LEASE_SECONDS)
    start = started(clocked_ledger, NEXT)
    assert start.taken_over == ()
    assert found(clocked_ledger, suspended) == suspended
    assert not owned(clocked_ledger, suspended)


def test_what_is_released_is_free(ledger: Ledger) -> None:
    run = started(ledger).run
    ledger.write(lambda tx: leases.release(tx, run.run_id))
    assert not owned(ledger, run)
    assert started(ledger, NEXT).run.status is RunStatus.RUNNING


def test_those_with_living_owners_are_told_from_the_rest(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    dead = started(clocked_ledger, key("2026-03-01T12:00Z"), alone("a")).run
    hand_clock.forward(LEASE_SECONDS)
    live = started(clocked_ledger, key("2026-03-02T12:00Z"), alone("b", "c")).run
    bare = begun(clocked_ledger)
    requested = [dead.run_id, live.run_id, bare.run_id, *range(1000, 2000)]
    assert clocked_ledger.read(lambda tx: leases.owned(tx, requested)) == {live.run_id}


def test_freeing_leaves_the_way_open_for_the_run_that_is_to_take(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    dead = started(clocked_ledger).run
    hand_clock.forward(LEASE_SECONDS)
    killed = clocked_ledger.write(lambda tx: leases.free(tx, alone("evict/clicks")))
    assert [each.run_id for each in killed] == [dead.run_id]
    _take(clocked_ledger, begun(clocked_ledger), *alone("evict/clicks"))


def test_a_run_may_hold_very_many_resources(ledger: Ledger) -> None:
    many = [f"data/clicks/{number:05}" for number in range(1500)]
    run = started(ledger, wanted=beside(*many)).run
    assert [each for each, _, _ in _held(ledger)] == many
    assert owned(ledger, run)


def test_who_has_lost_a_lease_cannot_take_another(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    run = started(clocked_ledger, wanted=alone("a")).run
    hand_clock.forward(LEASE_SECONDS)
    for resource in ("a", "b"):
        with pytest.raises(LeaseLost, match="it expired at"):
            _take(clocked_ledger, run, *alone(resource))
    assert not owned(clocked_ledger, run)


def test_a_run_that_is_over_takes_no_lease(ledger: Ledger) -> None:
    run = changed(ledger, begun(ledger), RunStatus.SUCCEEDED)
    with pytest.raises(LeaseLost, match="the run is succeeded"):
        _take(ledger, run, *alone("a"))
    assert _held(ledger) == []
    with pytest.raises(UnknownRun):
        ledger.write(lambda tx: leases.take(tx, 77, alone("a"), LEASE_SECONDS))


def test_a_second_take_extends_what_the_run_holds(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    run = started(clocked_ledger, wanted=alone("a")).run
    hand_clock.forward(LEASE_SECONDS - 1)
    _take(clocked_ledger, run, *alone("a"))
    hand_clock.forward(LEASE_SECONDS - 1)
    assert owned(clocked_ledger, run)


def test_starting_what_was_ordered_takes_over_from_a_dead_owner_too(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    changed(clocked_ledger, begun(clocked_ledger, NEXT), RunStatus.FAILED)
    ready = clocked_ledger.write(lambda tx: attempts.queue_again(tx, NEXT, ORIGIN, is_forced=False))
    dead = started(clocked_ledger).run
    hand_clock.forward(LEASE_SECONDS)
    start = started(clocked_ledger, NEXT)
    assert [each.run_id for each in start.taken_over] == [dead.run_id]
    assert (start.run.run_id, start.run.status) == (ready.run_id, RunStatus.RUNNING)


@pytest.mark.parametrize("to", [RunStatus.WAITING, RunStatus.READY])
def test_a_run_that_waits_again_gives_back_its_leases(ledger: Ledger, to: RunStatus) -> None:
    run = changed(ledger, started(ledger).run, RunStatus.SUSPENDED)
    changed(ledger, run, to)
    assert _held(ledger) == []
    assert started(ledger).run.run_id == run.run_id
