"""Passes over SLAs: what they expect, find and record, on both databases."""

from __future__ import annotations

import pytest

from tests.contract.monitoring.sla_world import (
    SLA_OF_AN_HOUR,
    START,
    VALID,
    World,
    at,
    ended,
    event,
    feed,
    minutes_of,
    process,
    repo,
    resumed,
    started,
    suspended,
    update,
)
from toolkit.ledger.database import Ledger
from toolkit.monitoring.evidence import InstanceLook
from toolkit.monitoring.sla_pass import READABLE

pytestmark = pytest.mark.both_databases

SLA = SLA_OF_AN_HOUR
CLICKS = repo(feed(more=SLA), process())
ONE, TWO, THREE = "2026-03-01T01:00Z", "2026-03-01T02:00Z", "2026-03-01T03:00Z"
MIDNIGHT = "2026-03-01T00:00Z"


def test_an_instance_that_comes_in_time_leaves_nothing(ledger: Ledger) -> None:
    world = World(ledger, [event(10, MIDNIGHT)]).watch(CLICKS, START, at(5))
    assert world.states() == {f"clicks {MIDNIGHT}": "fresh"}
    world.watch(CLICKS, at(15), at(50))
    assert (world.states(), world.alerts()) == ({}, [])


def test_low_then_high_then_closed_once_the_data_comes(ledger: Ledger) -> None:
    world = World(ledger, [event(55, MIDNIGHT)]).watch(CLICKS, START, at(19))
    assert world.alerts() == []
    world.watch(CLICKS, at(20))
    assert world.alerts() == [f"01 00:20:00 sla low clicks {MIDNIGHT} high - closed -"]
    assert world.states() == {f"clicks {MIDNIGHT}": "late"}
    world.watch(CLICKS, at(47))
    assert world.alerts() == [f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed -"]
    assert world.states() == {f"clicks {MIDNIGHT}": "missing"}
    world.watch(CLICKS, at(59))
    closed = f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed 01 00:55:00 event 1: available"
    assert (world.alerts(), world.states()) == ([closed], {})


def test_a_retracted_instance_is_missing_from_the_retraction_on(ledger: Ledger) -> None:
    actions = [event(5, MIDNIGHT), event(50, MIDNIGHT, "retracted"), event(52, MIDNIGHT, "updated")]
    world = World(ledger, actions).watch(CLICKS, START, at(10), at(51), at(55))
    assert world.alerts() == [f"01 00:50:00 sla high clicks {MIDNIGHT} high - closed 01 00:52:00 event 3: updated"]


def test_an_evicted_instance_was_there(ledger: Ledger) -> None:
    world = World(ledger, [event(5, MIDNIGHT), event(30, MIDNIGHT, "evicted")]).watch(CLICKS, START, at(10), at(55))
    assert (world.alerts(), world.states()) == ([], {})


def test_an_instance_that_retention_would_remove_is_not_waited_for(ledger: Ledger) -> None:
    kept = repo(feed(more=SLA, on=f"{VALID}, retention: {{limit: hours(3)}}"), process())
    world = World(ledger).watch(kept, START, at(50), at(200))
    why = "it is older than the retention limit: it would be removed at once"
    assert world.alerts()[0] == f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed 01 03:00:00 {why}"
    assert f"clicks {MIDNIGHT}" not in world.states()


def test_data_that_came_before_the_monitor_began_is_there(ledger: Ledger) -> None:
    world = World(ledger, [event(3, MIDNIGHT)]).watch(CLICKS, at(10), at(50))
    assert (world.alerts(), world.states()) == ([], {})


def test_a_new_sla_says_nothing_of_the_past(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, at(59))
    assert (world.alerts(), world.states()) == ([], {})


def test_nothing_new_writes_nothing_but_the_position(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, START, at(50), at(51))
    assert world.last is not None
    assert [*world.last.put, *world.last.gone, *world.last.windows, *world.last.conditions] == []


def test_rows_of_a_feed_that_left_the_repo_go_and_its_alerts_are_closed(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, START, at(50)).watch(repo(), at(70))
    assert world.states() == {}
    opened = f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00"
    assert world.alerts() == [f"{opened} closed 01 01:10:00 its SLA does not expect it any more"]
    world.watch(CLICKS, at(71))
    assert world.states() == {f"clicks {ONE}": "fresh"}


def test_instances_after_the_end_of_the_validity_are_not_expected(ledger: Ledger) -> None:
    short = "validity: {start: 2026-01-01T00:00Z, end: 2026-03-01T01:00Z}"
    world = World(ledger).watch(CLICKS, START, at(70)).watch(repo(feed(more=SLA, on=short), process()), at(130))
    assert world.states() == {f"clicks {MIDNIGHT}": "missing"}
    assert [line[:30] for line in world.alerts() if "closed -" in line] == ["01 00:20:00 sla high clicks 20"]


def test_a_change_of_the_sla_counts_for_later_instances(ledger: Ledger) -> None:
    world = World(ledger).watch(CLICKS, START)
    slower = repo(feed(more="sla: {low: minutes(50), high: minutes(55)}"), process())
    world.watch(slower, at(25), at(119))
    assert world.alerts() == [
        f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed -",
        f"01 01:50:00 sla high clicks {ONE} high 01 01:55:00 closed -",
    ]


def test_nothing_is_expected_of_a_suspended_feed(ledger: Ledger) -> None:
    actions = [suspended(30), resumed(130), event(135, ONE)]
    world = World(ledger, actions).watch(CLICKS, START, at(25), at(60), at(100))
    assert world.states() == {f"clicks {MIDNIGHT}": "exempt", f"clicks {ONE}": "exempt"}
    first = f"01 00:20:00 sla low clicks {MIDNIGHT} high - closed 01 00:30:00 suspended by ada: repair"
    assert world.alerts() == [first]
    world.watch(CLICKS, at(138))
    assert world.alerts() == [
        first,
        f"01 02:10:00 sla high clicks {MIDNIGHT} high - closed -",
        f"01 02:10:00 sla high clicks {ONE} high - closed 01 02:15:00 event 1: available",
    ]


def test_nothing_is_expected_of_an_instance_on_hold(ledger: Ledger) -> None:
    held = repo(feed(more=SLA), process(), {"holds.yaml": f"holds: [{{feed: clicks, end: {ONE}, reason: audit}}]\n"})
    world = World(ledger).watch(held, START, at(50), at(90))
    assert world.states() == {f"clicks {MIDNIGHT}": "exempt", f"clicks {ONE}": "late"}
    world.watch(CLICKS, at(95))
    assert world.alerts()[-1] == f"01 01:35:00 sla high clicks {MIDNIGHT} high - closed -"


def test_days_off_of_a_calendar_are_not_expected(ledger: Ledger) -> None:
    more = 'sla: {deadline: {cron: "0 9 * * *", calendar: business, after: days(1)}}'
    daily = repo(
        feed(more=more, frequency="days(1)"), process(), {"calendars/business.yaml": "description: working days\n"}
    )
    world = World(ledger).watch(daily, at(-3 * 1440), *minutes_of(0, 3 * 1440, 60))
    due = ["02 09 02-27", "03 09 03-02", "26 09 02-25", "27 09 02-26"]  # 28 February is a Saturday
    assert [f"{line[:5]} {line[33:38]}" for line in world.alerts()] == due


def test_a_process_should_start_and_end_in_time(ledger: Ledger) -> None:
    found = repo(feed(), process(more="sla: {should_start_in: minutes(10), should_end_in: minutes(30)}"))
    actions = [started(15, MIDNIGHT), ended(45, MIDNIGHT), started(62, ONE), ended(70, ONE, status="failed")]
    world = World(ledger, actions).watch(found, START, *minutes_of(1, 110, 1))
    assert world.alerts() == [
        f"01 00:10:00 sla_start low make_clicks {MIDNIGHT} high - closed 01 00:15:00 run 1 began",
        f"01 00:30:00 sla_end high make_clicks {MIDNIGHT} high - closed 01 00:45:00 run 1: succeeded",
        f"01 01:30:00 sla_end high make_clicks {ONE} high - closed -",
    ]
    assert world.states() == {f"make_clicks {ONE}": "missing"}


def test_a_dataset_is_missing_until_its_next_update(ledger: Ledger) -> None:
    uri = "s3://others/prices"
    settings = f"datasets: [{{uri: '{uri}', sla: {{updated_every: hours(1)}}}}]\n"
    world = World(ledger, [update(-30, uri), update(50, uri), update(200, uri)])
    world.watch(repo(settings=settings), START, at(240), at(300))
    assert world.alerts() == [
        f"01 00:30:00 sla high {uri}  high - closed 01 00:50:00 event 2: updated",
        f"01 01:50:00 sla high {uri}  high - closed 01 03:20:00 event 3: updated",
        f"01 04:20:00 sla high {uri}  high - closed -",
    ]


OUTSIDE = repo(feed(more=f"external: true\n{SLA}"))
THERE = InstanceLook(is_there=True, bytes=10)


def test_storage_tells_of_a_feed_that_others_write(ledger: Ledger) -> None:
    world = World(ledger)
    world.store = lambda time: {MIDNIGHT: THERE, **({ONE: THERE} if time >= at(115) else {})}
    world.watch(OUTSIDE, START, at(30), at(90), at(110), at(118))
    opened = f"01 01:20:00 sla high clicks {ONE} high 01 01:40:00"
    assert world.alerts() == [f"{opened} closed 01 01:58:00 storage at 2026-03-01T01:58Z: it is there"]
    assert world.states() == {}


def test_what_cannot_be_read_is_unknown_and_never_missing(ledger: Ledger) -> None:
    world = World(ledger)
    world.store = lambda time: {MIDNIGHT: InstanceLook(problem="down")} if time < at(55) else {MIDNIGHT: THERE}
    world.watch(OUTSIDE, START, at(30), at(50))
    assert world.states() == {f"clicks {MIDNIGHT}": "unknown"}
    assert world.alerts() == ["01 00:30:00 unknown high clicks  high - closed -"]
    world.watch(OUTSIDE, at(58))
    assert world.states() == {}
    assert world.alerts() == [f"01 00:30:00 unknown high clicks  high - closed 01 00:58:00 {READABLE}"]


def test_an_open_alert_stays_as_it_is_while_its_store_cannot_be_read(ledger: Ledger) -> None:
    world = World(ledger)
    world.store = lambda time: {MIDNIGHT: InstanceLook(problem="down")} if at(30) < time < at(55) else {}
    world.watch(OUTSIDE, START, at(25), at(50))
    opened = f"01 00:20:00 sla low clicks {MIDNIGHT} high - closed -"
    assert world.alerts() == [opened, "01 00:50:00 unknown high clicks  high - closed -"]
    world.watch(OUTSIDE, at(58))
    assert world.alerts()[0] == f"01 00:20:00 sla high clicks {MIDNIGHT} high 01 00:40:00 closed -"


def test_an_instance_with_too_little_data_is_empty(ledger: Ledger) -> None:
    sized = repo(feed(more="sla: {low: minutes(20), high: minutes(40), min_bytes: 5}"), process())
    world = World(ledger, [event(10, MIDNIGHT), event(45, MIDNIGHT, "updated"), event(65, ONE)])
    world.store = lambda time: {MIDNIGHT: InstanceLook(is_there=True, bytes=10 if time >= at(45) else 1), ONE: THERE}
    world.watch(sized, START, at(15))
    assert world.states() == {f"clicks {MIDNIGHT}": "empty"}
    world.watch(sized, at(30), at(70))
    assert world.states() == {}
    assert world.alerts() == [
        f"01 00:20:00 empty high clicks {MIDNIGHT} high 01 00:40:00 closed 01 00:45:00 event 2: updated"
    ]


def test_a_poll_has_seen_the_bytes(ledger: Ledger) -> None:
    sized = repo(feed(more="sla: {low: minutes(20), high: minutes(40), min_bytes: 5}"), process())
    actions = [event(10, MIDNIGHT, extra='{"poll": {"bytes": 3}}'), event(65, ONE, extra='{"poll": {"bytes": 7}}')]
    world = World(ledger, actions).watch(sized, START, at(25), at(70))
    assert world.states() == {f"clicks {MIDNIGHT}": "empty"}
