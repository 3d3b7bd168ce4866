"""`feedctl run` and `feedctl ledger sync`: JSON for workflows in shell and Oozie."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.running import Feedctl, Ran
from toolkit.ledger.location import located
from toolkit.ledger.opening import connected
from toolkit.ledger.state import start_check

HOURLY = ("--process", "clicks_hourly_job", "--cluster", "primary")
DAILY = ("--process", "clicks_by_country_job", "--cluster", "primary")
CRM = ("--process", "customer_activity_job", "--cluster", "primary")
FILE = ("--server", "primary", "--size", "10", "--modified-at", "2026-03-01T06:40:05Z")
NOON = "2026-03-01T12:00Z"


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ledger that commands find; there is nothing yet."""
    named = f"sqlite:///{tmp_path}/ledger.db"
    monkeypatch.setenv("FEEDCTL_LEDGER", named)
    return named


@pytest.fixture
def run(feedctl: Feedctl, own_repo: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Feedctl:
    """The command, with a ledger that knows the template's processes; nothing that they make is judged."""
    del url
    feed = own_repo / "feeds/web/clicks_hourly.yaml"
    lines = [line for line in feed.read_text().splitlines() if not line.startswith("quality:")]
    feed.write_text("\n".join([*lines, ""]))
    shutil.rmtree(own_repo / ".git")  # a plain directory is never dirty
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    synced = feedctl("ledger", "sync")
    assert synced.code == 0, synced
    return feedctl


def enqueue(run: Feedctl, instance: str = NOON, *more: str) -> Ran:
    path = f"/data/clicks/{instance}"
    return run(
        "run",
        "enqueue",
        "--source",
        "clicks",
        "--cluster",
        "primary",
        "--path",
        path,
        *FILE,
        "--output",
        f"clicks={instance}",
        *more,
    )


def work(run: Feedctl, *job: str, steps: tuple[str, ...] = ("main",)) -> Ran:
    """Run all steps of a job, and end it."""
    for step in steps:
        for call in ("init-step", "halt-step"):
            assert run("run", call, *job, "--step", step).code == 0
    return run("run", "halt-job", *job)


def error_of(ran: Ran) -> tuple[int, str]:
    """The exit code and the code of the error; the message is on standard error as well."""
    error = ran.document["error"]
    assert error["message"] in ran.err
    return ran.code, error["code"]


def test_sync_registers_the_processes_and_again_changes_nothing(feedctl: Feedctl, repo: Path, url: str) -> None:
    del repo, url
    added = feedctl("ledger", "sync").document["added"]
    assert {"name": "clicks_by_country_job", "cluster": "primary"} in added
    assert feedctl("ledger", "sync").document == {
        "schema_version": 1,
        "added": [],
        "changed": [],
        "removed": [],
        "unchanged": len(added),
    }


def test_a_batch_goes_from_a_feed_through_a_job_to_the_job_downstream(run: Feedctl) -> None:
    first = enqueue(run).document
    assert {each["process"] for each in first["waiting"]} == {"clicks_hourly_job", "customer_activity_job"}
    started = run("run", "init-job", *HOURLY, "--max-batch", "1").document
    step = started["steps"][0]
    assert (step["min_batch_id"], step["max_batch_id"]) == (first["batch_id"], first["batch_id"])
    assert (step["min_batch_date"], started["target_marking"]) == (NOON, NOON)
    halted = work(run, *HOURLY).document
    assert halted["batch_id"] == started["target_batch_id"]
    assert [(each["process"], each["step"]) for each in halted["downstream"]] == [("clicks_by_country_job", "collect")]
    below = run("run", "init-job", *DAILY).document
    assert below["steps_to_run"] == ["collect", "check_shown", "publish"]
    assert below["steps"][0]["min_batch_id"] == started["target_batch_id"]
    assert below["steps"][0]["max_source_run_id"] == started["job"]["run_id"]


def views(run: Feedctl, process: str) -> tuple[list[str], list[str], str]:
    """Return what the three views say of a process: statuses of its newest instances, of a summary, and its backlog."""
    status = run("instance", "status", process, "--output", "json").document["instances"]
    summary = run("instance", "summary", process, "--output", "json").document["clusters"]
    counts = [key for each in summary for key in each["counts"]]
    return sorted({each["status"] for each in status}), counts, str(overview_row(run, process)["backlog"])


def overview_row(run: Feedctl, process: str) -> dict[str, Any]:
    """What `feedctl status` says of a process."""
    ran = run("status", "--time", "2026-03-03T00:30Z", "--output", "json")
    (row,) = [each for each in ran.document["entities"] if each["name"] == process]
    return dict(row)


def test_a_job_for_an_instance_is_seen_by_all_views(run: Feedctl) -> None:
    run("run", "init-job", *HOURLY, "--instance", NOON)
    before = overview_row(run, HOURLY[1])["backlog"]
    work(run, *HOURLY, "--instance", NOON)
    assert overview_row(run, HOURLY[1])["backlog"] == before - 1
    (row,) = run("instance", "status", HOURLY[1], "--start", NOON, "--output", "json").document["instances"]
    assert row["status"] == "succeeded"
    assert views(run, HOURLY[1])[1] == ["waiting", "succeeded"]


@pytest.mark.extended
def test_jobs_on_the_queue_are_seen_by_all_views_and_have_no_backlog(run: Feedctl) -> None:
    for _ in range(6):
        enqueue(run)
        run("run", "init-job", *HOURLY)
        work(run, *HOURLY)
    assert views(run, HOURLY[1]) == (["succeeded"], ["succeeded"], "None")
    listed = [row[1] for row in run("instance", "status", HOURLY[1]).rows[1:]]
    numbers = [int(each.removeprefix("batch-")) for each in listed]
    assert numbers == sorted(numbers, reverse=True)
    assert (len(numbers), numbers[0] > 9 > numbers[-1]) == (6, True)
    ranged = run("instance", "status", HOURLY[1], "--start", NOON)
    assert ranged.rows[1][:3] == ["primary", NOON, "waiting"]
    assert ranged.err.startswith("note: clicks_hourly_job works off the queue on primary")
    run("run", "init-job", *HOURLY, "--instance", NOON)
    assert views(run, HOURLY[1])[2] != "None"
    assert run("instance", "status", HOURLY[1], "--start", NOON).err == ""


@pytest.mark.extended
def test_a_job_on_the_queue_that_failed_counts_until_it_is_made_good(run: Feedctl) -> None:
    enqueue(run)
    for failed in (1, 0):
        run("run", "init-job", *HOURLY)
        if failed:
            run("run", "term-job", *HOURLY)
        else:
            work(run, *HOURLY)
        assert overview_row(run, HOURLY[1])["failed"] == failed


def test_a_job_that_failed_goes_on_where_it_failed(run: Feedctl) -> None:
    enqueue(run)
    run("run", "init-job", *HOURLY)
    work(run, *HOURLY)
    target = run("run", "init-job", *DAILY).document["target_batch_id"]
    for call in ("init-step", "halt-step"):
        run("run", call, *DAILY, "--step", "collect")
    run("run", "init-step", *DAILY, "--step", "check_shown", "--application-id", "application_1", "--log", "/logs/1")
    failed = run("run", "term-step", *DAILY, "--step", "check_shown").document["step_run"]
    assert (failed["status"], failed["application_id"], failed["log"]) == ("failed", "application_1", "/logs/1")
    ended = run("run", "term-job", *DAILY, "--reason", "no impressions").document["job"]
    assert (ended["status"], ended["reason"]) == ("failed", "no impressions")
    again = run("run", "init-job", *DAILY).document
    assert (again["rerun"], again["last_recoverable_step"], again["target_batch_id"]) == (True, "check_shown", target)
    assert again["steps_to_run"] == ["check_shown", "publish"]


@pytest.mark.extended
def test_a_job_whose_workflow_is_dead_is_aborted_with_its_steps(run: Feedctl) -> None:
    enqueue(run)
    run("run", "init-job", *HOURLY)
    run("run", "init-step", *HOURLY, "--step", "main")
    assert error_of(run("run", "term-job", *HOURLY)) == (1, "step_is_running")
    ended = run("run", "term-job", *HOURLY, "--abort").document["job"]
    assert (ended["status"], ended["reason"]) == ("killed", "aborted")
    assert error_of(run("run", "term-job", *HOURLY, "--abort")) == (1, "job_not_running")
    assert run("run", "init-job", *HOURLY).document["steps_to_run"] == ["main"]


def test_errors_are_json_with_a_code_and_the_facts_and_have_their_exit_codes(run: Feedctl) -> None:
    unknown = run("run", "init-job", "--process", "clicks_hourly", "--cluster", "primary")
    assert error_of(unknown) == (2, "unknown_process")
    assert unknown.document["error"]["process"] == "clicks_hourly"
    assert error_of(run("run", "halt-job", *HOURLY)) == (1, "job_not_running")
    waiting = run("run", "init-job", *HOURLY)
    assert error_of(waiting) == (75, "nothing_enqueued")
    assert waiting.document["error"]["missing"] == [{"step": "main", "upstream": "clicks"}]
    assert waiting.document["error"]["retriable"] is True
    enqueue(run)
    run("run", "init-job", *HOURLY)
    running = run("run", "init-job", *HOURLY)
    assert error_of(running) == (5, "job_is_running")
    assert running.document["error"]["run"]["status"] == "running"
    run("run", "init-step", *HOURLY, "--step", "main")
    assert error_of(run("run", "halt-job", *HOURLY)) == (1, "step_is_running")


def test_an_instance_reads_and_makes_what_the_config_repo_says(run: Feedctl) -> None:
    batch = enqueue(run, "2026-03-01T11:00Z").document["batch_id"]
    enqueue(run, "2026-03-01T13:00Z")
    started = run("run", "init-job", *HOURLY, "--instance", NOON).document
    assert [each["batch_id"] for each in started["steps"][0]["batches"]] == [batch]
    assert (started["job"]["instance"], started["job"]["mode"]) == (NOON, "instance")
    halted = work(run, *HOURLY, "--instance", NOON).document
    assert (halted["marking"], len(halted["events"])) == (NOON, 1)
    below = run("run", "init-job", *DAILY, "--instance", "2026-03-02T03:00Z").document
    assert [each["batch_id"] for each in below["steps"][0]["batches"]] == [halted["batch_id"]]


def test_inputs_that_count_available_instances_are_left_out_and_named(run: Feedctl) -> None:
    assert run("run", "init-job", *CRM, "--instance", "2026-03-01T04:00Z").document["unresolved_inputs"] == [
        "customers"
    ]


def test_inputs_and_outputs_can_be_given(run: Feedctl) -> None:
    batch = enqueue(run, "2026-03-01T05:00Z").document["batch_id"]
    started = run("run", "init-job", *HOURLY, "--instance", NOON, "--input", "clicks=2026-03-01T05:00:00Z").document
    assert [each["batch_id"] for each in started["steps"][0]["batches"]] == [batch]
    for call in ("init-step", "halt-step"):
        run("run", call, *HOURLY, "--instance", NOON, "--step", "main")
    made = ("clicks_hourly=2026-03-01T05:00Z=hdfs://ns1/x=1", "clicks_hourly=2026-03-01T06:00Z")
    halted = run("run", "halt-job", *HOURLY, "--instance", NOON, "--output", made[0], "--output", made[1])
    assert len(halted.document["events"]) == 2


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("clicks=2026-03-01T11:00Z", "foreign_output", "clicks is no output of clicks_hourly_job"),
        ("click_hourly=2026-03-01T11:00Z", "foreign_output", "expected one of clicks_hourly"),
        ("clicks_hourly=2026-03-01T11:30Z", "not_an_instance", "2026-03-01T11:00Z"),
        ("clicks_hourly=2025-03-01T11:00Z", "not_an_instance", "2026-01-01T00:00Z"),
    ],
)
def test_a_job_announces_only_instances_that_its_process_makes(
    run: Feedctl, output: str, code: str, message: str
) -> None:
    assert run("run", "init-job", *HOURLY, "--instance", NOON).code == 0
    for call in ("init-step", "halt-step"):
        run("run", call, *HOURLY, "--instance", NOON, "--step", "main")
    refused = run("run", "halt-job", *HOURLY, "--instance", NOON, "--output", output)
    assert error_of(refused) == (2, code)
    assert message in refused.err
    assert run("event", "list", "--output", "json").document["events"] == []
    halted = run("run", "halt-job", *HOURLY, "--instance", NOON, "--output", output, "--no-resolve")
    assert len(halted.document["events"]) == 1


def test_a_job_announces_no_output_that_is_validated_also_when_it_is_named(run: Feedctl, own_repo: Path) -> None:
    feed = own_repo / "feeds/web/clicks_hourly.yaml"
    feed.write_text(feed.read_text() + "quality: {suites: [clicks_hourly]}\n")
    assert run("run", "init-job", *HOURLY, "--instance", NOON).code == 0
    for call in ("init-step", "halt-step"):
        run("run", call, *HOURLY, "--instance", NOON, "--step", "main")
    for output in ((), ("--output", "clicks_hourly=2026-03-01T11:00Z")):
        refused = run("run", "halt-job", *HOURLY, "--instance", NOON, *output)
        assert (refused.code, "is validated (quality, suites)" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("output", "code"),
    [("click=2026-03-01T12:00Z", "foreign_output"), ("clicks=2026-03-01T12:30Z", "not_an_instance")],
)
def test_what_comes_from_outside_is_announced_only_as_an_instance_of_its_feed(
    run: Feedctl, output: str, code: str
) -> None:
    source = ("run", "enqueue", "--source", "clicks", "--cluster", "primary", "--path", "/data/x", *FILE)
    assert error_of(run(*source, "--output", output)) == (2, code)
    assert run("event", "list", "--output", "json").document["events"] == []
    assert run(*source, "--output", output, "--no-resolve").code == 0


def test_without_the_config_repo_only_the_ledger_is_needed(
    run: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FEEDCTL_REPO")
    monkeypatch.chdir(tmp_path)
    assert error_of(run("run", "init-job", *HOURLY, "--instance", NOON))[0] == 2
    assert run("run", "init-job", *HOURLY, "--instance", NOON, "--no-resolve").code == 0
    for call in ("init-step", "halt-step"):
        assert run("run", call, *HOURLY, "--instance", NOON, "--step", "main").code == 0
    assert run("run", "halt-job", *HOURLY, "--instance", NOON, "--no-resolve").document["events"] == []


def test_an_instance_that_the_process_does_not_have_is_refused(run: Feedctl) -> None:
    refused = run("run", "init-job", *HOURLY, "--instance", "2026-03-01T12:30Z")
    assert error_of(refused) == (2, "not_an_instance")


@pytest.mark.parametrize(
    "options",
    [
        ("--instance", "noon"),
        ("--instance", NOON, "--input", "clicks"),
        ("--instance", NOON, "--input", "=2026-03-01T12:00Z"),
        ("--instance", NOON, "--input", "clicks=noon"),
    ],
)
def test_a_malformed_option_is_named(run: Feedctl, options: tuple[str, ...]) -> None:
    refused = run("run", "init-job", *HOURLY, *options)
    assert error_of(refused) == (2, "bad_option")
    assert "expected" in refused.err


def test_files_are_registered_once_and_read_by_job_or_by_range(run: Feedctl) -> None:
    first = run("run", "register-file", "--path", "/in/1", *FILE).document["file"]
    again = run("run", "register-file", "--path", "/in/1", *FILE, "--batch", str(first["batch_id"])).document["file"]
    assert again == first
    assert (first["server_kind"], first["modified_at"], first["hash"]) == ("cluster", "2026-03-01T06:40:05Z", None)
    second = enqueue(run).document
    span = ("--min-batch", str(first["batch_id"]), "--max-batch", str(second["batch_id"]))
    assert run("run", "get-files", *span).document["files"] == [first, second["file"]]
    job = run("run", "init-job", *HOURLY).document["job"]["run_id"]
    assert run("run", "get-files", "--run", str(job)).document["files"] == [second["file"]]
    text = run("run", "get-etl-driver", *span).document["etl_driver"]
    assert text.split(";")[0] == f"{first['batch_id']},primary,/in/1,10,,2026-03-01T06:40:05Z"


def test_a_range_of_batches_has_two_ends(run: Feedctl) -> None:
    assert error_of(run("run", "get-files", "--max-batch", "3")) == (2, "missing_option")
    assert error_of(run("run", "get-etl-driver", "--min-batch", "3")) == (2, "missing_option")


def test_a_time_without_its_zone_is_refused(run: Feedctl) -> None:
    late = ("--server", "primary", "--size", "1", "--path", "/in/1", "--modified-at", "2026-03-01T06:40:05")
    assert error_of(run("run", "register-file", *late)) == (2, "bad_option")


def test_properties_are_those_that_were_registered(run: Feedctl) -> None:
    found = run("run", "get-properties", *HOURLY).document
    assert (found["properties"], found["groups"]) == ({"threshold": "10"}, {"threshold": "default"})
    assert run("run", "get-properties", *HOURLY, "--group", "spark").document["properties"] == {}


def test_a_run_writes_its_log_and_anybody_reads_it(run: Feedctl) -> None:
    enqueue(run)
    job = run("run", "init-job", *HOURLY).document["job"]["run_id"]
    written = run("run", "log", "write", "3 rows", "--category", "import", "--step", "main", *HOURLY).document["entry"]
    assert (written["run_id"], written["message"], written["step"]) == (job, "3 rows", "main")
    run("run", "log", "write", "no nulls", "--category", "quality", "--run", str(job))
    read = run("run", "log", "read", *HOURLY).document
    assert (read["run_id"], [each["category"] for each in read["entries"]]) == (job, ["import", "quality"])
    assert run("run", "log", "read", "--run", str(job), "--category", "import").document["entries"] == [written]
    assert error_of(run("run", "log", "read")) == (2, "missing_option")
    assert error_of(run("run", "log", "read", *DAILY)) == (1, "job_not_running")


def test_in_safe_mode_nothing_is_registered_or_started_but_data_is_recorded(run: Feedctl, url: str) -> None:
    ledger = connected(located(url, named_by="test", root=None, variables={}), read_only=False)
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="ada", reason="upgrade"))
    ledger.close()
    assert enqueue(run).code == 0
    assert error_of(run("run", "init-job", *HOURLY)) == (5, "safe_mode")
    assert error_of(run("ledger", "sync")) == (5, "safe_mode")
