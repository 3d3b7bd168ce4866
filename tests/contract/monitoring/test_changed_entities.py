"""Passes over SLAs whose entities change while instances are open, on both databases."""

from __future__ import annotations

import pytest

from tests.contract.monitoring.sla_world import (
    START,
    World,
    at,
    ended,
    event,
    feed,
    process,
    repo,
    resumed,
    started,
    suspended,
    update,
)
from toolkit.ledger.database import Ledger
from toolkit.monitoring.evidence import InstanceLook

pytestmark = pytest.mark.both_databases

SLA = "sla: {low: minutes(20), high: minutes(40)}"
MIDNIGHT, ONE = "2026-03-01T00:00Z", "2026-03-01T01:00Z"
CLICKS = repo(feed(more=SLA), process())
OF_OTHERS = repo(feed(more=SLA))
THERE = InstanceLook(is_there=True)
MISSED = f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed"


def test_a_validity_that_was_over_and_goes_on_is_watched_again(ledger: Ledger) -> None:
    over = "validity: {start: 2026-01-01T00:00Z, end: 2026-02-01T00:00Z}"
    world = World(ledger).watch(repo(feed(more=SLA, on=over), process()), START, at(10))
    world.watch(CLICKS, at(30), at(75))
    assert world.alerts() == [f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed -"]


def test_alerts_of_instances_outside_a_later_validity_are_closed(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, START, at(50))
    later = "validity: {start: 2026-03-01T01:00Z, end: 2099-01-01T00:00Z}"
    world.watch(repo(feed(more=SLA, on=later), process()), at(55))
    assert world.alerts() == [f"{MISSED} 01 00:55:00 its SLA does not expect it any more"]
    assert world.states() == {}


def test_alerts_of_instances_that_a_new_frequency_does_not_have_are_closed(ledger: Ledger) -> None:
    world = World(ledger, [event(5, MIDNIGHT)]).watch(CLICKS, START, at(110))
    world.watch(repo(feed(more=SLA, frequency="days(1)"), process()), at(115))
    closed = "closed 01 01:55:00 its SLA does not expect it any more"
    assert world.alerts() == [f"01 01:20:00 sla high clicks {ONE} high 01 01:40:00 {closed}"]


def test_a_feed_that_becomes_more_frequent_is_watched_at_once(ledger: Ledger) -> None:
    daily = repo(feed(more=SLA, frequency="days(1)"), process())
    world = World(ledger, [event(1, MIDNIGHT)]).watch(daily, START, at(10)).watch(CLICKS, at(50), at(90))
    assert world.alerts() == [f"01 01:20:00 sla low clicks {ONE} high - closed -"]


def test_a_feed_that_others_write_from_now_on_is_looked_at(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, START, at(50))
    world.store = lambda _: {MIDNIGHT: THERE}
    world.watch(OF_OTHERS, at(55))
    assert world.alerts() == [f"{MISSED} 01 00:55:00 storage at 2026-03-01T00:55Z: it is there"]


def test_an_open_alert_is_closed_by_a_hold(ledger: Ledger) -> None:
    held = repo(feed(more=SLA), process(), {"holds.yaml": f"holds: [{{feed: clicks, end: {ONE}, reason: audit}}]\n"})
    world = World(ledger).watch(CLICKS, START, at(50)).watch(held, at(55))
    assert world.alerts() == [f"{MISSED} 01 00:55:00 on hold: audit"]


@pytest.mark.parametrize("look", [THERE, InstanceLook(problem="no answer")], ids=["there", "unknown"])
def test_a_resumed_feed_is_looked_at_before_it_is_missing(ledger: Ledger, look: InstanceLook) -> None:
    world = World(ledger, [suspended(5), resumed(55)]).watch(OF_OTHERS, START, at(6))
    world.store = lambda _: {MIDNIGHT: look}
    world.watch(OF_OTHERS, at(57))
    assert [each for each in world.alerts() if " sla " in each] == []


def test_a_process_that_ended_while_it_was_suspended_is_not_missing_once_it_is_resumed(ledger: Ledger) -> None:
    watched = repo(feed(), process(more="sla: {should_end_in: minutes(40)}"))
    name = "make_clicks"
    actions = [started(2, MIDNIGHT), suspended(5, name), ended(20, MIDNIGHT), resumed(55, name)]
    world = World(ledger, actions).watch(watched, START, at(6), at(30), at(57))
    assert (world.alerts(), world.states()) == ([], {})


@pytest.mark.parametrize("key", ["", "all", "2026-03-01T00:00:30Z"])
def test_a_retraction_of_something_that_is_no_instance_does_not_end_the_pass(ledger: Ledger, key: str) -> None:
    world = World(ledger, [event(5, key, "retracted")]).watch(CLICKS, START, at(50))
    assert world.alerts() == [f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed -"]


def test_a_dataset_whose_next_update_is_outside_the_calendar_does_not_end_the_pass(ledger: Ledger) -> None:
    far = "datasets: [{uri: file:///data/far, sla: {updated_every: months(119988)}}]"
    world = World(ledger, [update(70, "file:///data/far")])
    world.watch(repo(feed(more=SLA), process(), settings=far), START, at(50), at(75))
    assert [each for each in world.alerts() if "clicks" in each and MIDNIGHT in each] != []


def test_nobody_waits_for_data_that_a_new_retention_would_remove_at_once(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, START, at(50))
    kept = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}, retention: {limit: minutes(52)}"
    world.watch(repo(feed(more=SLA, on=kept), process()), at(55))
    assert [each for each in world.alerts() if MIDNIGHT in each and "closed -" in each] == []


def test_a_dataset_that_is_to_be_updated_more_often_from_now_on_is_late_by_that(ledger: Ledger) -> None:
    monthly, hourly = (
        repo(feed(), process(), settings=f"datasets: [{{uri: file:///data/far, sla: {{updated_every: {every}}}}}]")
        for every in ("days(30)", "hours(1)")
    )
    world = World(ledger, [update(1, "file:///data/far")]).watch(monthly, START, at(50)).watch(hourly, at(120))
    assert world.alerts() == ["01 01:01:00 sla high file:///data/far  high - closed -"]
