"""Writers and evictions see each other, on both databases, with as many statements for many items as for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import sqlalchemy as sa

from tests.contract.ledger.samples import LEASE_SECONDS, ORIGIN, key
from tests.databases.ledgers import HandClock
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import items, outputs, run_start
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.outputs import HeldOutput, OpenEviction, output_resource
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.runs.run_start import StartRequest
from toolkit.ledger.vocabulary import ItemState, LeaseMode, LifeCycle

KEY = "2026-03-01T00:00Z"
PLACE = ("clicks", "primary")


def _started(ledger: Ledger, resource: str, life_cycle: LifeCycle, mode: LeaseMode = LeaseMode.EXCLUSIVE) -> Run:
    wanted = (Wanted(resource=resource, mode=mode),)
    of = key(entity=resource[:100], life_cycle=life_cycle)
    request = StartRequest(key=of, origin=ORIGIN, leases=wanted, lease_seconds=LEASE_SECONDS)
    return ledger.write(lambda tx: run_start.start(tx, request)).run


def _writer(ledger: Ledger, feed: str = "clicks", cluster: str = "primary", instance_key: str = KEY) -> Run:
    return _started(ledger, output_resource(feed, cluster, instance_key), LifeCycle.EXECUTION)


def _evicting(ledger: Ledger, count: int) -> Run:
    run = _started(ledger, "evict/clicks/primary", LifeCycle.EVICTION)
    new = [NewItem(position=at, kind="instance:data", path=f"file:/d/{at}", instance_key=KEY) for at in range(count)]
    ledger.write(lambda tx: items.intend(tx, run.run_id, new))
    return run


def _held(ledger: Ledger, *places: tuple[str, str], also: tuple[str, ...] = ()) -> list[HeldOutput]:
    return ledger.read(lambda tx: list(outputs.held_outputs(tx, places, also)))


def _evictions(ledger: Ledger) -> list[OpenEviction]:
    return ledger.read(outputs.open_evictions)


@contextmanager
def _counted(ledger: Ledger) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(*values: object) -> None:
        statements.append(str(values[2]))

    sa.event.listen(ledger.engine, "before_cursor_execute", note)
    yield statements
    sa.event.remove(ledger.engine, "before_cursor_execute", note)


def test_the_leases_on_instances_of_a_feed_are_told_with_their_holder(ledger: Ledger) -> None:
    run = _writer(ledger)
    for feed, cluster in (("Clicks", "primary"), ("clicks_", "primary"), ("clicks", "primary2"), ("click", "primary")):
        _writer(ledger, feed, cluster)
    (found,) = _held(ledger, PLACE)
    assert (found.feed, found.cluster, found.instance_key) == (*PLACE, KEY)
    assert found.held.holder.run_id == run.run_id
    assert f"run {run.run_id} " in str(found.held)


def test_only_the_leases_on_one_instance_are_read_when_it_is_named(ledger: Ledger) -> None:
    run = _writer(ledger)
    _writer(ledger, instance_key="2026-03-01T01:00Z")
    _writer(ledger, "other")
    _started(ledger, "copy/clicks", LifeCycle.REPLICATION)
    found = ledger.read(lambda tx: list(outputs.held_outputs(tx, [PLACE], instance_key=KEY)))
    assert [(each.instance_key, each.held.holder.run_id) for each in found] == [(KEY, run.run_id)]


def test_a_name_with_wildcards_is_a_name(ledger: Ledger) -> None:
    _writer(ledger, "a_b")
    _writer(ledger, "axb")
    assert [each.feed for each in _held(ledger, ("a_b", "primary"))] == ["a_b"]


def test_an_expired_lease_is_not_told(clocked_ledger: Ledger, hand_clock: HandClock) -> None:
    _writer(clocked_ledger)
    hand_clock.forward(LEASE_SECONDS + 1)
    assert _held(clocked_ledger, PLACE) == []


def test_other_resources_are_told_if_they_are_exclusive(ledger: Ledger) -> None:
    _started(ledger, "table/primary/web.clicks", LifeCycle.REPLICATION, LeaseMode.SHARED)
    _started(ledger, "table/primary/web.views", LifeCycle.REPLICATION)
    requested = ("table/primary/web.clicks", "table/primary/web.views")
    assert [each.held.resource for each in _held(ledger, also=requested)] == ["table/primary/web.views"]
    assert [each.feed for each in _held(ledger, PLACE, also=requested)] == [""]


def test_the_open_items_of_a_living_eviction_are_told_until_they_are_settled(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    run = _evicting(clocked_ledger, 3)
    settled = SettledItem(position=1, state=ItemState.DONE)
    clocked_ledger.write(lambda tx: items.settle(tx, run.run_id, [settled]))
    assert [(each.path, each.run.run_id) for each in _evictions(clocked_ledger)] == [
        ("file:/d/0", run.run_id),
        ("file:/d/2", run.run_id),
    ]
    hand_clock.forward(LEASE_SECONDS + 1)
    assert _evictions(clocked_ledger) == []


def test_open_items_of_a_dead_eviction_are_told_while_another_one_may_bring_them_to_an_end(
    clocked_ledger: Ledger, hand_clock: HandClock
) -> None:
    _evicting(clocked_ledger, 2)
    hand_clock.forward(LEASE_SECONDS + 1)
    _started(clocked_ledger, "evict/views/primary", LifeCycle.EVICTION)
    assert _evictions(clocked_ledger) == []
    again = _started(clocked_ledger, "evict/clicks/primary", LifeCycle.EVICTION)
    expected = [("file:/d/0", again.run_id), ("file:/d/1", again.run_id)]
    assert [(each.path, each.run.run_id) for each in _evictions(clocked_ledger)] == expected


def test_items_of_other_actions_are_nobodys_concern(ledger: Ledger) -> None:
    run = _writer(ledger)
    new = NewItem(position=0, kind="step", path="count", instance_key=KEY)
    ledger.write(lambda tx: items.intend(tx, run.run_id, [new]))
    assert _evictions(ledger) == []


def test_a_look_costs_as_much_for_many_items_as_for_one(ledger: Ledger) -> None:
    counts: list[int] = []
    run = _evicting(ledger, 1)
    for at in (range(0), range(1, 501)):
        new = [NewItem(position=each, kind="i", path=f"file:/e/{each}", instance_key=KEY) for each in at]
        ledger.write(partial(items.intend, run_id=run.run_id, items=new))
        with _counted(ledger) as statements:
            assert len(_evictions(ledger)) == 1 + len(at)
            assert _held(ledger, PLACE) == []
        counts.append(len([each for each in statements if each.startswith("SELECT")]))
    assert counts[0] == counts[1] <= 5
