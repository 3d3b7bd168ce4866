"""Events of real runs of a process: valid by the specification, in order, once each, and no burden for the runs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from tests.integration.process_runs import KEYS, Runs, steps
from tests.lineage_events.receiver import Manner, Receiver, receiving
from tests.lineage_events.schemas import faults
from toolkit.bootstrap import lineage_events

LATE = "late_process: {policy: backoff, delay: hours(1), inputs: {clicks: workflows/late.sh}}"
SETTINGS = """\
owners: [data-platform@example.com]
monitoring: {{allowed_hosts: ["127.0.0.1"]}}
lineage: {{openlineage: {{transport: http, url: "{url}", timeout: 20}}}}
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def counting(tmp_path: Path, receiver: Receiver) -> Runs:
    runs = Runs(directory=tmp_path)
    runs.write()
    runs.fill(*KEYS[:2])
    configure(runs, receiver.url)
    return runs


def configure(runs: Runs, url: str) -> None:
    file = runs.directory / "repo" / "repo.yaml"
    file.write_text(f"name: counting\nledger: sqlite:///{runs.directory}/ledger.db\n{SETTINGS.format(url=url)}")


def states(events: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Job and state of each event about a run."""
    return [(each["job"]["name"], each["eventType"]) for each in events]


def test_a_run_has_a_start_and_an_end_below_the_call_that_started_it(counting: Runs, receiver: Receiver) -> None:
    counting.write(scripts={"count": counting.making(), "late": "true"}, more=LATE)  # keeps fingerprints of inputs
    configure(counting, receiver.url)
    assert counting.run()[0] == 0
    events = receiver.until(4)
    assert states(events) == [
        ("feedctl.process", "START"),
        ("count", "START"),
        ("count", "COMPLETE"),
        ("feedctl.process", "COMPLETE"),
    ]
    assert [fault for each in events for fault in faults(each)] == []
    call, begun, ended, _ = events
    assert begun["run"]["runId"] == ended["run"]["runId"] != call["run"]["runId"]
    assert ended["run"]["facets"]["parent"]["run"]["runId"] == call["run"]["runId"]
    assert ended["job"]["namespace"] == "counting"
    nominal = ended["run"]["facets"]["nominalTime"]
    assert (nominal["nominalStartTime"], nominal["nominalEndTime"]) == (
        "2026-03-01T00:00:00.000Z",
        "2026-03-01T01:00:00.000Z",
    )
    (read,), (wrote,) = ended["inputs"], ended["outputs"]
    assert (read["namespace"], read["name"]) == ("file", f"{counting.directory}/data/clicks")
    assert (wrote["namespace"], wrote["name"]) == ("file", f"{counting.directory}/data/counts")
    for each in (read, wrote):
        (instance,) = each["facets"]["feedctl_instances"]["instances"]
        assert instance["instanceKey"] == KEYS[0]
    assert read["facets"]["feedctl_instances"]["instances"][0]["fingerprint"]


def test_a_failed_attempt_says_why_and_the_next_one_is_another_run(counting: Runs, receiver: Receiver) -> None:
    counting.write(scripts={"count": "exit 3"})
    configure(counting, receiver.url)
    assert counting.run()[0] == 1
    counting.write()
    configure(counting, receiver.url)
    assert counting.run()[0] == 0
    events = [each for each in receiver.until(8) if each["job"]["name"] == "count"]
    assert [state for _, state in states(events)] == ["START", "FAIL", "START", "COMPLETE"]
    assert "exit" in events[1]["run"]["facets"]["errorMessage"]["message"]
    assert len({each["run"]["runId"] for each in events}) == 2
    assert [fault for each in events for fault in faults(each)] == []


def test_an_instance_that_waits_for_its_input_has_no_events(counting: Runs, receiver: Receiver) -> None:
    assert counting.run(time=KEYS[5])[0] == 75
    assert not (counting.directory / "openlineage").exists()
    assert receiver.requests == []


@pytest.mark.parametrize("manner", [Manner.HANGS, pytest.param(Manner.FAILS, marks=pytest.mark.extended)])
def test_events_that_no_receiver_takes_wait_and_neither_fail_nor_slow_the_run(
    counting: Runs, receiver: Receiver, manner: Manner
) -> None:
    receiver.manner = manner
    begun = time.monotonic()
    assert counting.run()[0] == 0
    assert time.monotonic() - begun < 18  # 20 if it waited


def test_a_spool_that_cannot_be_written_is_a_note_and_no_failure(counting: Runs) -> None:
    (counting.directory / "openlineage").symlink_to("/dev/null")
    code, result = counting.run()
    assert (code, counting.statuses()) == (0, [("00", 1, "succeeded")])
    assert "events of OpenLineage are missing or wait" in " ".join(result["notes"])


def test_a_long_run_says_that_it_still_works(
    counting: Runs, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lineage_events, "_AGAIN_SECONDS", 0)
    counting.write(steps("one", "count"), scripts={"one": "true", "count": counting.making()})
    configure(counting, receiver.url)
    assert counting.run()[0] == 0
    found = [state for job, state in states(receiver.until(4)) if job == "count"]
    assert found[:2] == ["START", "RUNNING"]
    assert [fault for each in receiver.events for fault in faults(each)] == []


def test_without_the_library_a_note_says_what_to_install(counting: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "toolkit.lineage.openlineage", raising=False)
    monkeypatch.setitem(sys.modules, "openlineage.client", None)
    code, result = counting.run()
    assert (code, counting.statuses()) == (0, [("00", 1, "succeeded")])
    assert "pip install feedctl[lineage]" in " ".join(result["notes"])


def test_without_the_setting_nothing_is_written(counting: Runs) -> None:
    counting.write()
    assert counting.run()[0] == 0
    assert list(counting.directory.glob("openlineage*")) == []


@pytest.mark.extended
def test_an_eviction_without_the_ledger_has_events_beside_the_audit_file(tmp_path: Path) -> None:
    repo = Repo.make(tmp_path, repo_yaml="name: e2e\nlineage: {openlineage: {transport: file}}\n")
    repo.fill("2026/01/01", 2)
    assert run_here(repo, "--all", "--no-ledger") == 0
    events = [json.loads(line) for line in (tmp_path / "openlineage.jsonl").read_text().splitlines()]
    assert states(events)[1:3] == [("clicks.eviction", "START"), ("clicks.eviction", "COMPLETE")]
    assert events[1]["run"]["runId"] == events[2]["run"]["runId"]
    assert [fault for each in events for fault in faults(each)] == []


@pytest.mark.extended
def test_a_run_that_was_killed_is_aborted_by_the_one_that_takes_over(counting: Runs, receiver: Receiver) -> None:
    counting.write(scripts={"count": counting.saying("begun", "sleep 60")})
    configure(counting, receiver.url)
    with counting.started() as run:
        counting.until("begun", run)
        run.kill()
        run.wait()
    counting.write()
    configure(counting, receiver.url)
    latest = time.monotonic() + 60
    while counting.run()[0] != 0:
        assert time.monotonic() < latest
        time.sleep(1)
    events = [each for each in receiver.until(6) if each["job"]["name"] == "count"]
    assert [state for _, state in states(events)] == ["START", "ABORT", "START", "COMPLETE"]
    assert events[0]["run"]["runId"] == events[1]["run"]["runId"] != events[2]["run"]["runId"]
