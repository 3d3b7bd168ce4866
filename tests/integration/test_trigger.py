"""Passes of triggers over a real config repo, a disk and a SQLite ledger: updated data starts its consumers, once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.databases.ledgers import make_ledger
from tests.described import faults
from tests.integration.process_runs import KEYS
from tests.integration.trigger_runs import BOTH, TriggerRuns, notes
from toolkit.rendering.document_schemas import DocumentName


@pytest.fixture
def runs(tmp_path: Path) -> TriggerRuns:
    found = TriggerRuns(directory=tmp_path)
    found.write_story()
    make_ledger(found.url)
    return found


def test_a_consumer_runs_once_both_of_its_inputs_were_updated(runs: TriggerRuns) -> None:
    assert runs.produce("clicks") == 0
    assert runs.pass_by()[0] == 0
    assert runs.output() == []
    assert runs.produce("orders") == 0
    code, result = runs.pass_by()
    assert (code, runs.output()) == (0, [f"{KEYS[0]} report"])
    assert runs.reports() == [(KEYS[0], 1, "succeeded")]
    assert runs.causes() == [(KEYS[0], 1), (KEYS[0], 2)]
    assert [each for each in notes(result) if "is ready as run" in each] == [
        f"report on primary: {KEYS[0]} is ready as run 3: events 1, 2"
    ]
    assert runs.pass_by()[0] == 0
    assert runs.output() == [f"{KEYS[0]} report"]


def test_instances_of_different_times_do_not_satisfy_a_condition_together(runs: TriggerRuns) -> None:
    runs.produce("clicks", KEYS[0])
    runs.produce("orders", KEYS[1])
    assert runs.pass_by()[0] == 0
    assert runs.reports() == []


def test_a_skipped_producer_starts_nothing(runs: TriggerRuns) -> None:
    runs.write_story(make="exit 99")
    runs.produce("clicks")
    runs.produce("orders")
    assert (runs.events(), runs.pass_by()[0], runs.reports()) == ([], 0, [])


def test_a_failed_producer_starts_nothing(runs: TriggerRuns) -> None:
    runs.write_story(make="exit 1")
    runs.produce("clicks")
    runs.produce("orders")
    assert (runs.events(), runs.pass_by()[0], runs.reports()) == ([], 0, [])


def test_what_is_only_decided_is_started_by_the_next_process_due(runs: TriggerRuns) -> None:
    runs.emit("clicks")
    runs.emit("orders")
    code, result = runs.pass_by("--due", "--decide-only")
    assert (code, notes(result), runs.output()) == (0, ["is ready as run 1: events 1, 2"], [])
    assert runs.reports() == [(KEYS[0], 1, "ready")]
    assert runs.due()[0] == 0
    assert (runs.reports(), runs.output()) == ([(KEYS[0], 1, "succeeded")], [f"{KEYS[0]} report"])


def test_a_dry_run_says_what_is_due_and_writes_nothing(runs: TriggerRuns) -> None:
    runs.emit("clicks")
    runs.emit("orders")
    code, result = runs.pass_by("--due", "--dry-run")
    assert (code, notes(result), runs.reports()) == (0, ["is due: events 1, 2"], [])
    assert runs.query("SELECT * FROM consumer_cursor") == []


@pytest.mark.parametrize(("schedule", "expected"), [("also", [0, 1, 2]), ("and", [1]), ("never", [1])])
def test_the_schedule_says_whether_the_frequency_starts_instances_too(
    runs: TriggerRuns, schedule: str, expected: list[int]
) -> None:
    runs.write_story(schedule=schedule)
    for feed in ("clicks", "orders"):
        runs.fill_feed(feed, *KEYS[:3])
        runs.emit(feed, KEYS[1])
    runs.pass_by("--due", "--decide-only", time=KEYS[2])
    assert runs.due(time=KEYS[2])[0] == 0
    assert sorted(runs.output()) == [f"{KEYS[hour]} report" for hour in expected]


def test_with_schedule_and_an_instance_runs_once_its_time_has_come(runs: TriggerRuns) -> None:
    runs.write_story(schedule="and")
    runs.emit("clicks", KEYS[3])
    runs.emit("orders", KEYS[3])
    runs.pass_by(time=KEYS[2])
    assert runs.output() == []
    runs.pass_by(time=KEYS[3])
    assert runs.output() == [f"{KEYS[3]} report"]


def test_a_run_of_any_update_is_of_the_minute_of_its_newest_event_and_gets_its_events(runs: TriggerRuns) -> None:
    received = runs.directory / "received"
    runs.write_story(
        '{any: ["s3://bucket/prices"], start_from: earliest}',
        more='properties: {x: "1"}',
        report=f'echo "$triggering_events" > {received}\necho "$nominalTime report" >> {runs.trace}',
    )
    runs.emit_uri("s3://bucket/prices")
    key = runs.newest_minute()
    for feed in ("clicks", "orders"):
        runs.fill_feed(feed, f"{key[:13]}:00Z")
    code, _ = runs.pass_by(time=key)
    assert (code, runs.output()) == (0, [f"{key} report"])
    (event,) = json.loads(received.read_text())
    assert (event["uri"], event["key"], event["run"]) == ("s3://bucket/prices", None, None)


def test_a_run_beyond_max_chain_is_refused_with_exit_code_3_and_reported_once(runs: TriggerRuns) -> None:
    runs.write_story("{all: [clicks, orders], start_from: earliest, max_chain: 2}")
    runs.emit("clicks", chain=2)
    runs.emit("orders", chain=1)
    code, result = runs.pass_by()
    assert (code, runs.output()) == (3, [])
    (refused,) = [each for each in result["instances"] if each["instance"] == KEYS[0]]
    assert "max_chain is 2" in json.dumps(refused)
    assert runs.pass_by()[0] == 0


def test_a_suspended_process_starts_nothing_and_keeps_its_events(runs: TriggerRuns) -> None:
    runs.feedctl("entity", "suspend", "report")
    runs.emit("clicks")
    runs.emit("orders")
    code, result = runs.pass_by()
    assert (code, runs.output()) == (0, [])
    assert any("2 updates wait, since it is suspended" in each for each in notes(result))
    runs.feedctl("entity", "resume", "report")
    assert runs.pass_by()[0] == 0
    assert runs.output() == [f"{KEYS[0]} report"]


def test_nothing_starts_in_safe_mode_and_no_event_is_lost(runs: TriggerRuns) -> None:
    runs.emit("clicks")
    runs.emit("orders")
    runs.feedctl("admin", "safe-mode", "on")
    assert runs.pass_by()[0] == 5
    assert runs.reports() == []
    runs.feedctl("admin", "safe-mode", "off")
    assert (runs.pass_by()[0], runs.output()) == (0, [f"{KEYS[0]} report"])


def test_an_update_after_the_run_starts_it_again_where_on_says_so(runs: TriggerRuns) -> None:
    runs.write_story("{all: [clicks, orders], on: [available, updated], start_from: earliest}")
    for feed in ("clicks", "orders", "clicks", "orders"):
        assert runs.produce(feed, KEYS[0], "--force") == 0
        assert runs.pass_by()[0] == 0
    assert runs.output() == [f"{KEYS[0]} report"] * 2
    assert runs.reports() == [(KEYS[0], 1, "succeeded"), (KEYS[0], 2, "succeeded")]


def test_a_failed_triggered_run_is_retried_by_the_next_pass(runs: TriggerRuns) -> None:
    fails = f'echo "$nominalTime report" >> {runs.trace}\n[ $(wc -l < {runs.trace}) -ge 2 ]'
    runs.write_story(more="retry: {policy: periodic, delay: minutes(1), attempts: 2}", report=fails)
    runs.emit("clicks")
    runs.emit("orders")
    assert runs.pass_by()[0] == 1
    assert runs.pass_by()[0] == 0
    assert len(runs.output()) == 1
    runs.change("UPDATE run SET retry_at = '2026-03-01T00:00:00.000000Z' WHERE retry_at IS NOT NULL")
    assert runs.pass_by()[0] == 0
    assert runs.reports() == [(KEYS[0], 1, "failed"), (KEYS[0], 2, "succeeded")]


def test_a_process_without_a_trigger_is_refused_by_name(runs: TriggerRuns) -> None:
    assert runs.pass_by("--process", "make_clicks")[0] == 2
    assert runs.pass_by("--process", "report", "--due")[0] == 2
    code, result = runs.pass_by("--process", "report")
    assert (code, notes(result)) == (0, ["nothing is due"])


def test_a_result_has_every_key_that_is_described_and_no_other(runs: TriggerRuns) -> None:
    runs.write_story(BOTH)
    runs.emit("clicks")
    runs.emit("orders")
    results = [runs.pass_by(*more)[1] for more in (("--due", "--dry-run"), ("--due",), ("--due",))]
    assert [fault for each in results for fault in faults(each, DocumentName.PROCESS_RUN, "result", strict=True)] == []


def test_a_loop_of_updates_stops_at_max_chain_with_exit_code_3(runs: TriggerRuns) -> None:
    runs.write_loop("x-loop:a", max_chain=3)
    runs.emit_uri("x-loop:a")
    time = runs.newest_minute()
    codes = [runs.pass_by(time=time)[0] for _ in range(5)]
    assert codes == [0, 0, 0, 3, 0]
    assert runs.query("SELECT chain FROM event ORDER BY sequence") == [(0,), (1,), (2,), (3,)]
    assert runs.query("SELECT reason FROM trigger_dropped") == [("chain_too_long",)]
