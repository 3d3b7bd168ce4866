"""Two runs at once, a killed one, a paused one, and a ledger that goes away in the middle (DESIGN section 6)."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.databases.postgresql import PostgresServer
from tests.e2e.retention_process import NOMINAL_TIME, SKIPPED, Repo, plain, when_free
from tests.e2e.retention_runs import (
    DAY,
    INSTANCES,
    SECONDS,
    filled,
    in_the_middle,
    item_states,
    left_by_an_uninterrupted_run,
    looking_into,
    runs_of,
    sqlite_url,
    stop,
    times_evicted,
    wait_until,
)
from toolkit.actions.model import INTERRUPTED
from toolkit.ledger.location import located
from toolkit.ledger.opening import connected
from toolkit.ledger.runs import status
from toolkit.ledger.upgrade import upgrade
from toolkit.ledger.vocabulary import ItemState, RequestKind, RunStatus
from toolkit.retention.batches import BATCH
from toolkit.storage.local.file_system import LocalFileSystem

pytestmark = pytest.mark.slow

LATER = "2026-03-20T13:00Z"
MOST_OPEN = 3 * BATCH
"""A batch that is being settled, one that is at work, and one that is to follow."""


def _is_gone(line: Mapping[str, object]) -> bool:
    return line.get("code") == INTERRUPTED and str(line["message"]).startswith("it is gone")


def _deleted(repo: Repo) -> set[str]:
    """The instances that are gone, as the audit file says it; one of them the stop may have met in mid-removal."""
    reported = (line for line in repo.audit if line["what"] == "item" and (line["state"] == "done" or _is_gone(line)))
    return {str(line["path"]) for line in reported if line["kind"] == "instance:data"}


def _gone(repo: Repo) -> set[str]:
    """The instances that are gone, as the disk says it."""
    paths = (repo.data / DAY / f"{minute // 60:02d}/{minute % 60:02d}" for minute in range(INSTANCES))
    return {f"file://{path}" for path in paths if not path.exists()}


def test_of_two_evictions_at_once_one_runs_and_the_other_names_it(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    expected = left_by_an_uninterrupted_run(repo)
    with in_the_middle(repo) as first:
        stop(first, repo)
        second = plain(repo, "--feed", "clicks", "--time", LATER, "--output", "json")
        first.send_signal(signal.SIGCONT)
        out, err = first.communicate(timeout=SECONDS)
    assert (first.returncode, second.returncode) == (0, 5), err + second.stderr
    assert json.loads(out)["feeds"][0]["run"] == {"id": 1, "attempt": 1}
    result = json.loads(second.stdout)
    assert (result["status"], result["items"], result["feeds"][0]["run"]) == ("skipped", [], {"id": 2, "attempt": 1})
    skipped = result["feeds"][0]["skipped"]
    assert skipped["code"] == "lease_held"
    assert f"held by run 1 (eviction of clicks on primary for {NOMINAL_TIME}, attempt 1)" in skipped["message"]
    assert f"(process {first.pid})" in skipped["message"]
    assert skipped["message"] in second.stderr
    assert repo.tree() == expected
    ran, other = runs_of(sqlite_url(repo))
    assert (ran.status, ran.exit_code, ran.pid) == (RunStatus.SUCCEEDED, 0, first.pid)
    assert (other.status, other.reason) == (RunStatus.SKIPPED, skipped["message"])


@pytest.mark.extended  # `tests/golden` has the record of such a run, with each event
def test_what_a_killed_run_left_open_is_settled_by_the_next_and_every_instance_is_one_event(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    expected, url = left_by_an_uninterrupted_run(repo), sqlite_url(repo)
    with in_the_middle(repo) as first:
        first.kill()
        first.wait(SECONDS)
    open_before = item_states(url, 1)[ItemState.INTENDED]
    assert 0 < open_before <= MOST_OPEN
    rerun = plain(repo, "--feed", "clicks", "--output", "json")
    assert rerun.returncode == 0, rerun.stderr
    assert repo.tree() == expected
    killed, second = runs_of(url)
    assert (killed.status, second.status, second.attempt) == (RunStatus.KILLED, RunStatus.SUCCEEDED, 2)
    assert killed.reason == f"its process {first.pid} on {killed.host} is gone"
    assert f'event=run_taken_over run=1 by=2 why="{killed.reason}"' in rerun.stderr
    (reported,) = [line for line in repo.audit if (line["what"], line["state"]) == ("run", "killed")]
    assert (reported["run"], reported["reason"], reported["pid"] != first.pid) == (1, killed.reason, True)
    assert item_states(url, 1)[ItemState.INTENDED] == 0
    assert set(item_states(url, 2)) == {ItemState.DONE}
    evicted = times_evicted(url)
    assert (len(evicted), set(evicted.values())) == (INSTANCES, {1})
    (note,) = [note for note in json.loads(rerun.stdout)["feeds"][0]["notes"] if "earlier run" in note]
    assert f"left {open_before} open (it died, " in note


@pytest.mark.extended
def test_a_run_that_was_paused_past_its_lease_deletes_nothing_more(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    expected, url = left_by_an_uninterrupted_run(repo), sqlite_url(repo)
    with in_the_middle(repo, lease_seconds=5) as first:
        stop(first, repo)
        second = when_free(repo, "--feed", "clicks", "--time", LATER)
        assert second.returncode == 0, second.stderr
        assert repo.tree() == expected
        repo.fill("2026/03/01", INSTANCES, files=1)  # it would delete these as well
        made = repo.tree()
        first.send_signal(signal.SIGCONT)
        out, err = first.communicate(timeout=SECONDS)
    # What each thread was about to remove when it was stopped may go: nothing can look after its last look.
    assert set(made) - set(repo.tree()) <= {each for each in made if each.startswith(f"{DAY}/0")}
    assert len(set(made) - set(repo.tree())) <= LocalFileSystem.capabilities.parallel
    assert first.returncode == 1, err
    result = json.loads(out)
    assert (result["status"], result["error"]["type"]) == ("failed", "LeaseExpired")
    assert (runs_of(url)[0].status, runs_of(url)[-1].status) == (RunStatus.KILLED, RunStatus.SUCCEEDED)
    assert set(times_evicted(url).values()) == {1}


@pytest.mark.extended
def test_a_run_that_is_suspended_pauses_in_place_keeps_its_lease_and_goes_on(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    expected, url = left_by_an_uninterrupted_run(repo), sqlite_url(repo)
    with in_the_middle(repo, lease_seconds=6) as first, looking_into(url) as ledger:
        stop(first, repo)
        ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.SUSPEND, "bob"))
        _let_heartbeat_be_due()
        first.send_signal(signal.SIGCONT)
        wait_until(lambda: runs_of(url)[0].status is RunStatus.SUSPENDED)
        left = repo.tree()
        time.sleep(7)
        assert plain(repo, "--feed", "clicks", "--time", LATER).returncode == SKIPPED
        assert repo.tree() == left
        assert len(left) > len(expected)
        ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.RESUME, "bob"))
        _, err = first.communicate(timeout=SECONDS)
    assert first.returncode == 0, err
    assert repo.tree() == expected
    assert runs_of(url)[0].status is RunStatus.SUCCEEDED


@pytest.mark.extended
def test_a_run_that_is_killed_by_a_command_says_by_whom(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    with in_the_middle(repo, lease_seconds=6) as first, looking_into(sqlite_url(repo)) as ledger:
        stop(first, repo)
        ledger.write(lambda tx: status.ask_owner(tx, 1, RequestKind.KILL, "bob"))
        _let_heartbeat_be_due()
        first.send_signal(signal.SIGCONT)
        out, err = first.communicate(timeout=SECONDS)
    assert first.returncode == 143, err
    assert json.loads(out)["error"] == {
        "type": "RunKilled",
        "message": "stopped: killed by bob; nothing more was touched, a rerun goes on from here",
    }
    (run,) = runs_of(sqlite_url(repo))
    assert (run.status, run.reason, run.exit_code) == (RunStatus.KILLED, "killed by bob", 143)
    assert 0 < len(_gone(repo)) < INSTANCES
    assert item_states(sqlite_url(repo), 1)[ItemState.INTENDED] == 0
    assert plain(repo, "--feed", "clicks").returncode == 0


def _let_heartbeat_be_due() -> None:
    """Wait for more than a sixth of a lease of 6 seconds: a run that goes on then asks the ledger before much else."""
    time.sleep(1.2)


def _has_stopped(repo: Repo, returncode: int | None, out: str, err: str) -> None:
    """A run that lost its ledger stopped before its next effect, and the audit file has all that it did."""
    assert returncode == 1, err
    result = json.loads(out)
    assert (result["status"], result["exit_code"], result["error"]["type"]) == ("failed", 1, "LedgerLost")
    assert "Traceback" not in err
    assert "event=outcome_not_recorded" in err
    assert 0 < len(_gone(repo)) < INSTANCES
    assert _deleted(repo) == _gone(repo)


@pytest.mark.extended
def test_a_sqlite_ledger_that_is_replaced_in_the_middle_stops_the_run(tmp_path: Path) -> None:
    repo = filled(tmp_path)
    expected, url = left_by_an_uninterrupted_run(repo), sqlite_url(repo)
    with in_the_middle(repo, lease_seconds=4) as first:
        repo.ledger.rename(tmp_path / "moved.db")
        repo.ledger.mkdir()
        out, err = first.communicate(timeout=SECONDS)
    _has_stopped(repo, first.returncode, out, err)
    repo.ledger.rmdir()
    (tmp_path / "moved.db").rename(repo.ledger)
    assert when_free(repo, "--feed", "clicks").returncode == 0
    assert repo.tree() == expected
    assert set(times_evicted(url).values()) == {1}
    assert len(times_evicted(url)) == INSTANCES


@pytest.mark.extended
def test_a_postgresql_ledger_that_is_stopped_in_the_middle_stops_the_run(
    tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = filled(tmp_path)
    expected = left_by_an_uninterrupted_run(repo)
    postgres_server.create_database("lost_in_the_middle")
    text = postgres_server.url("lost_in_the_middle").replace("+psycopg", "")
    monkeypatch.setenv("FEEDCTL_LEDGER", text)
    monkeypatch.setenv("FEEDCTL_AUDIT", str(repo.ledger.with_name("ledger.audit.jsonl")))
    location = located(text, named_by="the test", root=None, variables={})
    ledger = connected(location, read_only=False)
    upgrade(ledger)
    ledger.close()
    with in_the_middle(repo, lease_seconds=4) as first:
        postgres_server.stop()
        try:
            out, err = first.communicate(timeout=SECONDS)
        finally:
            postgres_server.start()
    _has_stopped(repo, first.returncode, out, err)
    rerun = when_free(repo, "--feed", "clicks")
    assert rerun.returncode == 0, rerun.stderr
    assert repo.tree() == expected
    url = location.url.set(drivername="postgresql+psycopg")
    assert (len(times_evicted(url)), set(times_evicted(url).values())) == (INSTANCES, {1})
    postgres_server.drop_database("lost_in_the_middle")
