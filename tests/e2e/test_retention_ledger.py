"""Tests of what the ledger says to a retention run, and what a run does without it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases.ledgers import open_ledger
from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo, outcomes
from tests.e2e.retention_runs import looking_into, runs_of, sqlite_url, times_evicted
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import items
from toolkit.ledger.state import holds, start_check
from toolkit.ledger.state.holds import NewHold
from toolkit.ledger.vocabulary import ItemState, RunStatus
from toolkit.runs.recorder import current_user

FEEDS = {"clicks": "{limit: days(10)}", "views": "{limit: days(10)}"}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path, FEEDS)
    for feed in FEEDS:
        made.fill("2026/03/01", 2, feed=feed)
    return made


@pytest.fixture
def ledger(repo: Repo) -> Iterator[Ledger]:
    """The repo's ledger, made by a run that had nothing to do."""
    assert run_here(repo, "--all", time="2026-03-02T00:00Z") == 0
    opened = open_ledger(sqlite_url(repo))
    yield opened
    opened.close()


def _suspend(ledger: Ledger, feed: str, *, cluster: str | None = None) -> None:
    ledger.write(lambda tx: start_check.suspend(tx, feed, cluster, "bob", "migration"))


def _safe_mode(ledger: Ledger) -> None:
    ledger.write(lambda tx: start_check.switch_safe_mode(tx, on=True, who="bob", reason="upgrade"))


def _result(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def _feeds(result: dict[str, object]) -> dict[str, dict[str, object]]:
    feeds = result["feeds"]
    assert isinstance(feeds, list)
    return {feed["feed"]: feed for feed in feeds}


def test_a_run_is_a_row_with_its_items_and_events(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(repo, "--feed", "clicks", "--output", "json") == 0
    result = _result(capsys)
    assert result["ledger"] == f"sqlite:///{repo.ledger}"
    assert _feeds(result)["clicks"]["run"] == {"id": 1, "attempt": 1}
    (run,) = runs_of(sqlite_url(repo))
    assert (str(run.key), run.status) == ("eviction of clicks on primary for 2026-03-20T12:00Z", RunStatus.SUCCEEDED)
    assert (run.who, run.pid, run.exit_code) == (current_user(), os.getpid(), 0)
    assert run.snapshot is not None
    assert run.snapshot.startswith("directory sha256:")
    assert run.digest is not None
    with looking_into(sqlite_url(repo)) as ledger:
        found = ledger.read(lambda tx: items.of_run(tx, 1))
    assert [(each.kind, each.path, each.state) for each in found] == [
        ("instance:data", f"file://{repo.data}/clicks/2026/03/01/00/0{minute}", ItemState.DONE) for minute in range(2)
    ]
    assert times_evicted(sqlite_url(repo)) == {"2026-03-01T00:00Z": 1, "2026-03-01T00:01Z": 1}


def test_the_audit_file_has_every_removal_and_begins_with_the_process(repo: Repo) -> None:
    assert run_here(repo, "--feed", "clicks") == 0
    first, *others = repo.audit
    assert (first["action"], first["ledger"]) == ("retention", f"sqlite:///{repo.ledger}")
    base = f"file://{repo.data}/clicks/2026"
    assert [(line["state"], str(line.get("path", "")).removeprefix(base)) for line in others] == [
        ("running", ""),
        ("intended", ""),
        ("done", "/03/01/00/00"),
        ("done", "/03/01/00/01"),
        ("done", "/03/01/00"),
        ("done", "/03/01"),
        ("done", "/03"),
        ("done", ""),
        ("succeeded", ""),
    ]


def test_without_a_ledger_nothing_is_changed(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write("repo.yaml", "name: none\n")
    before = repo.tree()
    assert run_here(repo, "--feed", "clicks") == 2
    assert "found no ledger, expected `ledger:` in repo.yaml or FEEDCTL_LEDGER" in capsys.readouterr().err
    assert repo.tree() == before
    assert run_here(repo, "--feed", "clicks", "--dry-run", "--output", "json") == 0
    result = _result(capsys)
    assert (result["ledger"], outcomes(json.dumps(result))) == (None, ["planned", "planned"])
    assert result["notes"] == [
        "no ledger is named in repo.yaml or FEEDCTL_LEDGER: ledger holds, safe mode and suspensions were not read"
    ]


def test_without_the_ledger_by_choice_the_audit_file_says_who_chose_that(
    repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    _suspend(ledger, "clicks")
    _safe_mode(ledger)
    rows = runs_of(sqlite_url(repo))
    before = len(repo.audit)
    capsys.readouterr()
    assert run_here(repo, "--feed", "clicks", "--no-ledger", "--output", "json") == 0
    result = _result(capsys)
    assert (result["ledger"], _feeds(result)["clicks"]["run"]) == (None, None)
    assert result["notes"] == ["--no-ledger: ledger holds, safe mode and suspensions were not read"]
    first, *others = repo.audit[before:]
    assert first["no_ledger"] == f"{current_user()} chose to act without the ledger (--no-ledger)"
    assert [line["state"] for line in others].count("done") == 6
    assert runs_of(sqlite_url(repo)) == rows
    assert not (repo.data / "clicks" / "2026").exists()


def test_a_dry_run_makes_no_ledger_and_no_audit_file(repo: Repo) -> None:
    assert run_here(repo, "--all", "--dry-run") == 0
    assert [each.name for each in repo.ledger.parent.iterdir() if "ledger" in each.name] == []


def test_a_dry_run_writes_nothing_to_a_ledger_that_is_there(repo: Repo, ledger: Ledger) -> None:
    _suspend(ledger, "clicks")
    ledger.close()
    before, audit = repo.ledger.read_bytes(), repo.audit
    assert run_here(repo, "--all", "--dry-run") == 0
    assert (repo.ledger.read_bytes(), repo.audit) == (before, audit)


def test_a_hold_in_the_ledger_keeps_beside_those_of_the_file(
    repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("holds.yaml", "holds: [{feed: views, reason: audit}]\n")
    hold = NewHold(feed="clicks", start_key="2026-03-01T00:00Z", end_key="2026-03-01T00:01Z", reason="case 12")
    ledger.write(lambda tx: holds.add(tx, hold, "bob"))
    for option in ("--dry-run", "--allow-dirty"):
        capsys.readouterr()
        assert run_here(repo, "--all", option, "--output", "json") == 0
        feeds = _feeds(_result(capsys))
        kept = {name: [(each["instance"], each["message"]) for each in feed["kept"]] for name, feed in feeds.items()}  # type: ignore[attr-defined]
        assert kept["clicks"] == [("2026-03-01T00:00Z", "case 12")]
        assert len(kept["views"]) == 2
    assert (repo.data / "clicks/2026/03/01/00/00").is_dir()
    assert not (repo.data / "clicks/2026/03/01/00/01").exists()
    assert (repo.data / "views/2026/03/01/00/01").is_dir()


def test_a_hold_file_is_remembered_by_runs_until_one_misses_it(
    repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    file = repo.data / "clicks" / ".feedctl-hold"
    file.write_text("case 12")

    def run(option: str) -> list[str]:
        capsys.readouterr()
        assert run_here(repo, "--feed", "clicks", option) == 0
        assert "2 instances would go but are held by file hold" in capsys.readouterr().out
        return [each.reason for each in ledger.read(holds.seen_files)]

    assert run("--dry-run") == []
    assert run("--allow-dirty") == ["case 12"]
    file.unlink()
    assert run_here(repo, "--feed", "clicks", "--dry-run") == 0
    assert len(ledger.read(holds.seen_files)) == 1
    assert run_here(repo, "--feed", "clicks", "--allow-dirty") == 0
    assert ledger.read(holds.seen_files) == []


def test_a_suspended_feed_is_skipped_by_name_and_the_others_go_on(
    repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    _suspend(ledger, "clicks", cluster="primary")
    capsys.readouterr()
    assert run_here(repo, "--all", "--output", "json") == 0
    printed = capsys.readouterr()
    feeds = _feeds(json.loads(printed.out))
    reason = feeds["clicks"]["skipped"]
    assert isinstance(reason, dict)
    assert (reason["code"], feeds["views"]["skipped"]) == ("entity_suspended", None)
    assert "clicks is suspended on primary by bob" in reason["message"]
    assert f"feedctl: clicks on primary was skipped: {reason['message']}" in printed.err
    assert (repo.data / "clicks/2026/03/01/00/01").is_dir()
    assert not (repo.data / "views/2026").exists()
    assert [(run.status, run.reason) for run in runs_of(sqlite_url(repo))][1:] == [
        (RunStatus.SKIPPED, reason["message"])
    ]


def test_a_run_whose_feeds_are_all_skipped_exits_5(
    repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    for feed in FEEDS:
        _suspend(ledger, feed)
    before = repo.tree()
    assert run_here(repo, "--all") == 5
    assert "clicks on primary: skipped" in capsys.readouterr().out
    assert repo.tree() == before


def test_safe_mode_skips_the_whole_run(repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    _safe_mode(ledger)
    before = repo.tree()
    capsys.readouterr()
    assert run_here(repo, "--all", "--output", "json") == 5
    result = _result(capsys)
    assert (result["status"], result["exit_code"]) == ("skipped", 5)
    assert {feed["skipped"]["code"] for feed in _feeds(result).values()} == {"safe_mode"}  # type: ignore[index]
    assert repo.tree() == before


def test_a_dry_run_says_what_would_be_skipped_and_shows_the_plan(
    repo: Repo, ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    _suspend(ledger, "clicks")
    capsys.readouterr()
    assert run_here(repo, "--all", "--dry-run", "--output", "json") == 0
    result = _result(capsys)
    assert outcomes(json.dumps(result)) == ["planned"] * 4
    notes = _feeds(result)["clicks"]["notes"]
    assert isinstance(notes, list)
    assert notes[0].startswith("would be skipped: clicks is suspended on every cluster by bob")
    assert _feeds(result)["views"]["notes"] == []


def test_a_run_does_not_start_without_its_ledger(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    before = repo.tree()
    repo.ledger.mkdir()
    for arguments in ([], ["--dry-run"]):
        assert run_here(repo, "--all", *arguments) == 1
        assert "--no-ledger" in capsys.readouterr().err
    assert repo.tree() == before
    assert run_here(repo, "--all", "--no-ledger") == 0
    assert repo.tree() == ["clicks", "views"]


@pytest.mark.parametrize("option", ["--allow-dirty", "--dry-run"])
def test_a_ledger_that_cannot_be_read_stops_the_run(
    repo: Repo, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.ledger.write_text("this is no database, and long enough to be seen as none" * 10)
    before = repo.tree()
    assert run_here(repo, "--all", option) == 1
    assert "give --no-ledger to act without" in capsys.readouterr().err
    assert repo.tree() == before


def test_an_audit_file_that_cannot_be_written_stops_the_run(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.ledger.with_name("ledger.audit.jsonl").mkdir()
    before = repo.tree()
    for options in ([], ["--no-ledger"]):
        assert run_here(repo, "--all", *options) == 1
        assert "ledger.audit.jsonl cannot be written" in capsys.readouterr().err
    assert repo.tree() == before
    assert runs_of(sqlite_url(repo)) == []


def test_a_refused_run_is_a_failed_row(repo: Repo) -> None:
    with (repo.path / "repo.yaml").open("a") as file:
        file.write("max_delete: {instances: 1}\n")
    assert run_here(repo, "--feed", "clicks") == 3
    (run,) = runs_of(sqlite_url(repo))
    assert (run.status, run.exit_code) == (RunStatus.FAILED, 3)
    assert run.reason is not None
    assert "max_delete.instances" in run.reason


def test_a_rerun_for_the_same_time_is_the_next_attempt(repo: Repo) -> None:
    for _ in range(2):
        assert run_here(repo, "--feed", "clicks") == 0
    assert [(run.attempt, run.status) for run in runs_of(sqlite_url(repo))] == [
        (1, RunStatus.SUCCEEDED),
        (2, RunStatus.SUCCEEDED),
    ]
