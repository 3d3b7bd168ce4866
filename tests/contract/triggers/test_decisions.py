"""Writes of a decision: cursors, pending events, causes, and runs that are ready."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.contract.ledger_jobs.plans import executed
from tests.contract.triggers.rules import (
    CLUSTER,
    DAYS,
    ORIGIN,
    caused,
    consumer,
    created,
    cursors,
    decide,
    decider,
    dropped,
    ended,
    newest,
    pending,
    update,
)
from tests.databases.contents import contents
from toolkit.entities.trigger_vocabulary import Coalesce, GroupBy, OnPause, StartFrom
from toolkit.ledger import events, trigger_causes, triggers
from toolkit.ledger.database import Ledger
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import attempts, status
from toolkit.ledger.runs.instances import open_attempts
from toolkit.ledger.state import start_check
from toolkit.ledger.state.start_check import SafeModeIsOn
from toolkit.ledger.trigger_causes import Cause
from toolkit.ledger.vocabulary import EventKind, LifeCycle, RunStatus

pytestmark = pytest.mark.both_databases
MONDAY, TUESDAY = DAYS[1], DAYS[2]
REPORT = "trigger/report@primary"


def test_a_run_is_ready_once_all_inputs_of_its_instance_were_updated(ledger: Ledger) -> None:
    report = consumer("report", "clicks", "orders")
    first = update(ledger, "clicks", MONDAY)
    update(ledger, "orders", TUESDAY)
    assert created(decide(ledger, report)) == []
    third = update(ledger, "orders", MONDAY)
    assert created(decide(ledger, report)) == [("report", MONDAY, (first, third))]
    run = newest(ledger, report, MONDAY)
    assert (run.status, run.is_forced, run.who) == (RunStatus.READY, False, "ada")
    assert caused(ledger) == {("report", MONDAY, 1): [first, third]}
    assert pending(ledger) == [(REPORT, 2)]
    assert cursors(ledger) == {REPORT: 3}


def test_a_second_decision_finds_nothing(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    update(ledger, "clicks")
    assert created(decide(ledger, report)) != []
    assert decide(ledger, report) == []


def test_nothing_new_costs_one_statement_for_all_consumers(ledger: Ledger) -> None:
    consumers = [consumer(f"report-{number}", "clicks", "orders") for number in range(50)]
    update(ledger, "clicks")
    decide(ledger, *consumers)
    with executed(ledger) as statements:
        assert decide(ledger, *consumers) == []
    assert len([text for text, _ in statements if text.startswith("SELECT")]) == 1
    assert not [text for text, _ in statements if text.startswith(("INSERT", "UPDATE", "DELETE"))]


def test_the_number_of_statements_does_not_grow_with_the_consumers_that_are_due(ledger: Ledger) -> None:
    update(ledger, "clicks")
    with executed(ledger) as few:
        decide(ledger, *(consumer(f"few-{number}", "clicks") for number in range(2)))
    with executed(ledger) as many:
        assert len(created(decide(ledger, *(consumer(f"many-{number}", "clicks") for number in range(60))))) == 60
    assert len(many) == len(few)


@pytest.mark.parametrize(("start", "count"), [(StartFrom.NOW, 0), (StartFrom.EARLIEST, 1)])
def test_a_new_consumer_starts_from_now_or_from_the_earliest_event(
    ledger: Ledger, start: StartFrom, count: int
) -> None:
    report = consumer("report", "clicks", start_from=start)
    update(ledger, "clicks", MONDAY)
    assert len(created(decide(ledger, report))) == count
    update(ledger, "clicks", TUESDAY)
    assert [key for _, key, _ in created(decide(ledger, report))] == [TUESDAY]


def test_a_dry_run_shows_the_same_and_writes_nothing(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    update(ledger, "clicks", MONDAY)
    with ledger.engine.connect() as connection:
        before = contents(connection)
    shown = decider(ledger).preview([report])
    assert created(shown) == [("report", MONDAY, (1,))]
    assert [each.run_id for one in shown for each in one.created] == [None]
    with ledger.engine.connect() as connection:
        assert contents(connection) == before


def test_an_update_of_what_has_run_orders_another_attempt_that_starts_over(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    update(ledger, "clicks")
    decide(ledger, report)
    ended(ledger, report)
    update(ledger, "clicks", kind=EventKind.UPDATED)
    decide(ledger, report)
    again = newest(ledger, report)
    assert (again.attempt, again.status, again.is_forced) == (2, RunStatus.READY, True)
    assert caused(ledger) == {("report", DAYS[0], 1): [1], ("report", DAYS[0], 2): [2]}


def test_a_run_waits_for_the_end_of_an_earlier_run_of_the_same_instance_and_keeps_its_events(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    update(ledger, "clicks")
    decide(ledger, report)
    update(ledger, "clicks", kind=EventKind.UPDATED)
    assert created(decide(ledger, report)) == []
    assert pending(ledger) == [(REPORT, 2)]
    assert created(decide(ledger, report)) == []
    ended(ledger, report)
    assert created(decide(ledger, report)) == [("report", DAYS[0], (2,))]
    assert pending(ledger) == []


def test_no_more_runs_are_queued_than_max_queued_and_no_event_is_lost(ledger: Ledger) -> None:
    report = consumer("report", "clicks", max_queued=2)
    for key in DAYS[:3]:
        update(ledger, "clicks", key)
    assert [key for _, key, _ in created(decide(ledger, report))] == DAYS[:2]
    assert created(decide(ledger, report)) == []
    ended(ledger, report, DAYS[0])
    assert created(decide(ledger, report)) == [("report", DAYS[2], (3,))]


def test_a_run_waits_until_the_time_of_its_instance_has_come(ledger: Ledger) -> None:
    come: set[str] = set()
    report = consumer("report", "clicks", may_run=lambda key: key in come)
    update(ledger, "clicks", MONDAY)
    assert created(decide(ledger, report)) == []
    come.add(MONDAY)
    assert created(decide(ledger, report)) == [("report", MONDAY, (1,))]


@pytest.mark.parametrize(("on_pause", "count"), [(OnPause.KEEP, 1), (OnPause.DROP, 0)])
def test_events_of_a_suspended_process_are_kept_or_dropped(ledger: Ledger, on_pause: OnPause, count: int) -> None:
    report = consumer("report", "clicks", on_pause=on_pause)
    ledger.write(lambda tx: start_check.suspend(tx, "report", CLUSTER, "ada", "repair"))
    update(ledger, "clicks")
    (found,) = decide(ledger, report)
    assert (created([found]), found.plan.suspension) == ([], "suspended by ada: repair")
    ledger.write(lambda tx: start_check.resume(tx, "report", CLUSTER, "ada"))
    assert len(created(decide(ledger, report))) == count
    assert dropped(ledger) == ({} if count else {1: "paused"})


def test_a_suspension_on_another_cluster_does_not_count(ledger: Ledger) -> None:
    ledger.write(lambda tx: start_check.suspend(tx, "report", "backup", "ada", None))
    update(ledger, "clicks")
    assert len(created(decide(ledger, consumer("report", "clicks")))) == 1


def test_nothing_is_decided_in_safe_mode(ledger: Ledger) -> None:
    update(ledger, "clicks")
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ada", reason=None))
    with pytest.raises(SafeModeIsOn):
        decide(ledger, consumer("report", "clicks"))
    assert cursors(ledger) == {}


def test_a_chain_of_triggered_runs_ends_at_max_chain_and_its_events_are_dropped_by_name(ledger: Ledger) -> None:
    report = consumer("report", "clicks", max_chain=3)
    update(ledger, "clicks", MONDAY, chain=2)
    update(ledger, "clicks", TUESDAY, chain=3)
    (found,) = decide(ledger, report)
    assert created([found]) == [("report", MONDAY, (1,))]
    assert [each.instance_key for each in found.plan.refused] == [TUESDAY]
    assert dropped(ledger) == {2: "chain_too_long"}
    assert decide(ledger, report) == []


def test_an_instance_that_a_person_killed_before_it_began_is_not_started_by_data(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    suspended = ledger.write(lambda tx: attempts.suspend_ahead(tx, report.key(MONDAY), ORIGIN))
    ledger.write(lambda tx: status.change(tx, suspended.run_id, RunStatus.KILLED))
    update(ledger, "clicks", MONDAY)
    assert created(decide(ledger, report)) == []
    assert dropped(ledger) == {1: "killed"}


def test_with_any_update_the_run_has_the_minute_of_its_newest_event(ledger: Ledger) -> None:
    report = consumer("report", "clicks", by=GroupBy.ANY_UPDATE, coalesce=Coalesce.ALL)
    update(ledger, "clicks", "")
    update(ledger, "clicks", "")
    ((_, key, causes),) = created(decide(ledger, report))
    assert causes == (1, 2)
    (cause, *_) = ledger.read(lambda tx: trigger_causes.causes_of_instance(tx, report.key(key)))
    assert key == f"{cause.recorded_at:%Y-%m-%dT%H:%M}Z"


def test_causes_of_an_instance_are_those_of_its_newest_triggered_attempt_also_for_a_retry(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    update(ledger, "clicks")
    decide(ledger, report)
    ended(ledger, report)
    update(ledger, "clicks", kind=EventKind.UPDATED)
    decide(ledger, report)
    ended(ledger, report, to=RunStatus.FAILED)
    ledger.write(lambda tx: attempts.begin(tx, report.key(DAYS[0]), ORIGIN))
    found = ledger.read(lambda tx: trigger_causes.causes_of_instance(tx, report.key(DAYS[0])))
    assert [each.sequence for each in found] == [2]
    properties = trigger_causes.event_properties(found)
    assert properties["triggering_event_count"] == "1"
    (named,) = json.loads(properties["triggering_events"])
    assert (named["uri"], named["key"], named["run"]) == ("feedctl:feed/clicks?cluster=primary", DAYS[0], None)
    assert (named["time"].endswith("Z"), named["extra"]) == (True, None)


def test_a_workflow_is_told_what_the_emitters_of_its_events_say_unless_it_is_too_long(ledger: Ledger) -> None:
    report = consumer("report", "clicks", by=GroupBy.ANY_UPDATE, coalesce=Coalesce.ALL)
    extras = [
        '{"rows": 3, "partition": {"region": "us"}}',
        "no JSON",
        json.dumps({"x": "x" * trigger_causes.MOST_EXTRA}),
    ]
    news = [
        NewEvent(kind=EventKind.AVAILABLE, feed="clicks", cluster=CLUSTER, chain=0, extra=each)
        for each in (None, *extras)
    ]
    ledger.write(lambda tx: events.append(tx, news))
    ((_, key, _),) = created(decide(ledger, report))
    found = ledger.read(lambda tx: trigger_causes.causes_of_instance(tx, report.key(key)))
    named = json.loads(trigger_causes.event_properties(found)["triggering_events"])
    assert [each["extra"] for each in named] == [None, {"rows": 3, "partition": {"region": "us"}}, None, None]


def test_a_workflow_is_told_of_so_many_newest_events_as_an_argument_holds() -> None:
    long = [
        Cause(
            sequence=number,
            dataset=f"s3://bucket/{'x' * 1000}",
            instance_key="",
            recorded_at=datetime(2026, 3, 1, tzinfo=UTC),
            run_id=number,
            chain=0,
            extra=json.dumps({"x": "y" * 1000}),
        )
        for number in range(1, 301)
    ]
    properties = trigger_causes.event_properties(long)
    text = properties["triggering_events"]
    numbers = [each["run"] for each in json.loads(text)]
    assert (len(text) <= trigger_causes.MOST_BYTES, properties["triggering_event_count"]) == (True, "300")
    assert (len(numbers) > 40, numbers) == (True, list(range(301 - len(numbers), 301)))
    assert trigger_causes.event_properties([])["triggering_events"] == "[]"


def test_open_attempts_are_what_is_ready_waits_or_runs_and_retries_that_are_due(ledger: Ledger) -> None:
    report = consumer("report", "clicks")
    for key in DAYS[:3]:
        update(ledger, "clicks", key)
    decide(ledger, report)
    ended(ledger, report, DAYS[0])
    now = ledger.read(lambda tx: tx.now())
    found = ledger.read(lambda tx: open_attempts(tx, LifeCycle.EXECUTION, CLUSTER, now))
    assert {name: list(each) for name, each in found.items()} == {"report": DAYS[1:3]}
    assert ledger.read(lambda tx: open_attempts(tx, LifeCycle.EXECUTION, "backup", now)) == {}


def test_a_delayed_run_of_a_range_leaves_each_update_to_its_own_instance(ledger: Ledger) -> None:
    report = consumer("report", "clicks", coalesce=Coalesce.RANGE)
    update(ledger, "clicks", DAYS[1])
    decide(ledger, report)
    update(ledger, "clicks", DAYS[0])
    update(ledger, "clicks", DAYS[1])
    assert created(decide(ledger, report)) == []
    assert created(decide(ledger, report)) == []
    assert (dropped(ledger), pending(ledger)) == ({}, [(REPORT, 2), (REPORT, 3)])
    ended(ledger, report, DAYS[1])
    assert created(decide(ledger, report)) == [("report", DAYS[1], (2, 3))]


def test_what_the_latest_run_stands_for_stays_while_that_is_delayed(ledger: Ledger) -> None:
    report = consumer("report", "clicks", coalesce=Coalesce.LATEST)
    update(ledger, "clicks", DAYS[1])
    decide(ledger, report)
    update(ledger, "clicks", DAYS[0])
    update(ledger, "clicks", DAYS[1])
    assert created(decide(ledger, report)) == []
    assert (dropped(ledger), pending(ledger)) == ({}, [(REPORT, 2), (REPORT, 3)])
    ended(ledger, report, DAYS[1])
    assert created(decide(ledger, report)) == [("report", DAYS[1], (3,))]
    assert (dropped(ledger), pending(ledger)) == ({2: "coalesced"}, [])


def test_what_a_refused_latest_run_stands_for_starts_the_run_before(ledger: Ledger) -> None:
    report = consumer("report", "clicks", coalesce=Coalesce.LATEST, max_chain=1)
    update(ledger, "clicks", DAYS[0])
    update(ledger, "clicks", DAYS[1], chain=1)
    assert created(decide(ledger, report)) == []
    assert (dropped(ledger), pending(ledger)) == ({2: "chain_too_long"}, [(REPORT, 1)])
    assert created(decide(ledger, report)) == [("report", DAYS[0], (1,))]


def test_an_edited_trigger_looks_at_what_waits_without_a_new_event(ledger: Ledger) -> None:
    update(ledger, "clicks")
    assert created(decide(ledger, consumer("report", "clicks", "sales"))) == []
    edited = consumer("report", "clicks", "sales", is_all=False)
    assert created(decide(ledger, edited)) == [("report", DAYS[0], (1,))]
    assert decide(ledger, edited) == []


def test_cursors_never_go_back(ledger: Ledger) -> None:
    update(ledger, "clicks")
    decide(ledger, consumer("report", "clicks"))
    ledger.write(lambda tx: triggers.record(tx, [triggers.ConsumerStep(consumer=REPORT, sequence=0)]))
    ledger.write(lambda tx: triggers.subscribe(tx, {REPORT: 0}))
    assert cursors(ledger) == {REPORT: 1}
