"""`feedctl retention`: the plan of the entrypoint without Spark, and why one instance goes or stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.databases.ledgers import open_ledger
from tests.e2e.in_process import run_here
from tests.e2e.retention_process import CLUSTER, NOMINAL_TIME, Repo, submit
from tests.e2e.retention_runs import sqlite_url
from toolkit.cli.main import main
from toolkit.ledger.state import start_check

LIMIT = "less the limit days(10) (feeds/clicks.yaml:10)"
OLD = f"is before the horizon 2026-03-10T12:00Z, which is 2026-03-20T12:00Z {LIMIT}"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path)
    made.fill("2026/03/01", 2)
    made.fill("2026/03/19", 1)
    return made


def _feedctl(repo: Repo, command: str, *arguments: str) -> int:
    return main(["retention", command, *arguments, "--config-repo", str(repo.path), "--time", NOMINAL_TIME])


def _explained(repo: Repo, capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert _feedctl(repo, "explain", *arguments, "--output", "json") == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["explanations"]
    return found


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_the_plan_is_what_a_dry_run_prints_and_touches_nothing(
    repo: Repo, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = repo.tree()
    assert run_here(repo, "--feed", "clicks", "--dry-run", "--output", form) == 0
    dry = capsys.readouterr().out
    assert _feedctl(repo, "plan", "--feed", "clicks", "--output", form) == 0
    assert capsys.readouterr().out == dry
    assert "planned" in dry
    assert (repo.tree(), repo.ledger.exists()) == (before, False)


def test_the_plan_has_the_exit_codes_of_a_dry_run(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write("defaults.yaml", "feed: {max_delete: {instances: 1}}\n")
    assert _feedctl(repo, "plan", "--feed", "clicks") == 3
    assert "--approve " in capsys.readouterr().err
    assert _feedctl(repo, "plan") == 2


def test_the_plan_cannot_be_told_to_delete(repo: Repo) -> None:
    before = repo.tree()
    for option in ("--approve", "--allow-dirty", "--dry-run"):
        assert _feedctl(repo, "plan", "--feed", "clicks", option, "0" * 64) == 2
    assert repo.tree() == before


@pytest.mark.slow
@pytest.mark.extended
def test_the_plan_is_what_spark_submit_prints(repo: Repo, java_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _feedctl(repo, "plan", "--all") == 0
    assert capsys.readouterr().out == submit(java_home, repo, "--all", "--dry-run").stdout


def test_a_path_is_explained_with_the_line_of_its_rule(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{repo.data}/clicks/2026/03/01/00/01"
    assert _feedctl(repo, "explain", f"{path}/part-0") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"goes: clicks on primary 2026-03-01T00:01Z  file://{path}",
        f"  old: its time 2026-03-01T00:01Z {OLD}",
    ]


def test_an_instance_of_a_feed_is_explained(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (young,) = _explained(repo, capsys, "clicks", "--instance", "2026-03-19T00:00Z")
    assert (young["verdict"], young["reason"], young["path"]) == ("stays", "too_young", None)
    assert young["why"].endswith(LIMIT)
    (old,) = _explained(repo, capsys, "clicks", "--instance", "2026-03-01T00:00Z")
    assert (old["verdict"], old["path"]) == ("goes", f"file://{repo.data}/clicks/2026/03/01/00/00")


def test_shared_data_is_explained_by_each_feed_and_held_by_any(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    text = (repo.path / "feeds" / "clicks.yaml").read_text()
    repo.write("feeds/clicks.yaml", f"{text}\nshares_data_with: [twin]\n")
    twin_text = text.replace("name: clicks\n", "name: twin\n").replace("days(10)", "days(90)")
    repo.write("feeds/twin.yaml", f"{twin_text}\nshares_data_with: [clicks]\n")
    clicks, twin = _explained(repo, capsys, f"{repo.data}/clicks/2026/03/01/00/01")
    assert [(each["feed"], each["verdict"]) for each in (clicks, twin)] == [("clicks", "goes"), ("twin", "stays")]
    assert "feed clicks shares this data and loses what goes here" in twin["notes"][0]
    (of_twin,) = _explained(repo, capsys, "twin", "--instance", "2026-03-01T00:01Z")
    assert of_twin["verdict"] == "stays"
    assert "retention of clicks, which shares this data, may remove it all the same" in of_twin["notes"][1]
    repo.write("holds.yaml", "holds: [{feed: twin, reason: audit 7}]\n")
    clicks, _ = _explained(repo, capsys, f"{repo.data}/clicks/2026/03/01/00/01")
    assert (clicks["verdict"], clicks["reason"]) == ("stays", "hold")
    assert "audit 7" in clicks["why"]


def test_what_is_suspended_or_over_its_limit_goes_and_is_told_what_is_in_the_way(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_here(repo, "--feed", "clicks") == 0
    repo.fill("2026/03/02", 2)
    ledger = open_ledger(sqlite_url(repo))
    ledger.write(lambda tx: start_check.suspend(tx, "clicks", None, "bob", "migration"))
    ledger.close()
    repo.write("defaults.yaml", "feed: {max_delete: {instances: 1}}\n")
    capsys.readouterr()
    (found,) = _explained(repo, capsys, f"{repo.data}/clicks/2026/03/02/00/01")
    assert found["verdict"] == "goes"
    refused, suspended = found["notes"]
    assert "max_delete.instances (defaults.yaml:1) allows 1" in refused
    assert suspended.startswith("would be skipped: ")


def test_a_feed_on_several_clusters_is_explained_on_each(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write("clusters/backup.yaml", CLUSTER.format(name="backup", data=f"{repo.data}/backup"))
    feed = (repo.path / "feeds" / "clicks.yaml").read_text()
    own = "".join(feed.splitlines(keepends=True)[-3:]).replace("primary", "backup").replace("days(10)", "days(90)")
    repo.write("feeds/clicks.yaml", feed + own)
    repo.fill("2026/03/01", 1, feed="backup/clicks")
    instance = ("clicks", "--instance", "2026-03-01T00:00Z")
    backup, primary = _explained(repo, capsys, *instance)
    assert [(each["cluster"], each["verdict"]) for each in (backup, primary)] == [
        ("backup", "stays"),
        ("primary", "goes"),
    ]
    assert "(feeds/clicks.yaml:13)" in backup["why"]
    assert len(_explained(repo, capsys, *instance, "--cluster", "backup")) == 1
    (by_path,) = _explained(repo, capsys, f"{repo.data}/backup/clicks/2026/03/01/00/00")
    assert by_path["cluster"] == "backup"


def test_what_is_near_a_feeds_instances_and_is_none_is_told_why(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.data / "clicks" / "2026" / "notes").touch()
    (found,) = _explained(repo, capsys, f"{repo.data}/clicks/2026/notes")
    assert (found["verdict"], found["reason"]) == ("stays", "not_conforming")
    assert "name 3 is 'notes', expected '${MONTH}'" in found["why"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["/elsewhere/x"], "no feed has a location at or around /elsewhere/x; looked on primary"),
        (["clicks/2026"], "clicks/2026"),
        (["clicks"], "Missing option '--instance'; see feedctl retention explain --help"),
        (["/x", "--instance", "2026-03-01T00:00Z"], "--instance: found '2026-03-01T00:00Z', expected nothing"),
        (["clik", "--instance", "2026-03-01T00:00Z"], "did you mean clicks?"),
        (["clicks", "--instance", "2026-03-01"], "--instance: found '2026-03-01'"),
        (["clicks", "--instance", "2026-03-01T00:00:30Z"], "2026-03-01T00:00:30"),
        (["clicks", "--instance", "2026-03-01T00:00Z", "--cluster", "primry"], "did you mean primary?"),
        (["/x", "--cluster", "primry"], "did you mean primary?"),
    ],
)
def test_what_cannot_be_explained_is_one_message_and_2(
    repo: Repo, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _feedctl(repo, "explain", *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert part in printed.err


def test_a_feed_that_cannot_be_looked_at_is_unknown_and_1(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.data / "clicks").rename(repo.data / "away")
    (repo.data / "clicks").write_text("a file where a directory is expected")
    assert _feedctl(repo, "explain", f"{repo.data}/clicks/2026/03/01/00/01") == 1
    assert capsys.readouterr().out.startswith("unknown: clicks on primary  file://")
