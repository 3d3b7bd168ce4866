"""Plan files by the retention entrypoint and `feedctl plan show`, in this process for speed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from toolkit.cli.main import main
from toolkit.runs import recorder

ONE = ("--feed", "clicks")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path)
    made.fill("2026/03/01", 3)
    made.fill("2026/03/19", 1)
    return made


@pytest.fixture
def plan(repo: Repo, capsys: pytest.CaptureFixture[str]) -> Path:
    """Return a plan file of an eviction; nothing was touched for it."""
    before, file = repo.tree(), repo.path.parent / "plan.json"
    assert run_here(repo, *ONE, "--plan-out", str(file)) == 0
    assert "dry run" in capsys.readouterr().out
    assert repo.tree() == before
    return file


def _left(repo: Repo) -> list[str]:
    """Return the instances of the day that goes."""
    return sorted(each.name for each in (repo.data / "clicks/2026/03/01/00").glob("*"))


def test_a_plan_is_shown_and_applied_once(repo: Repo, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "show", str(plan)]) == 0
    shown = capsys.readouterr().out
    assert shown.count("instance:data 2026-03-01T00:0") == 3
    assert f"plan {json.loads(plan.read_text())['plan_digest']}" in shown
    assert run_here(repo, *ONE, "--apply-plan", str(plan)) == 0
    assert _left(repo) == []
    repo.fill("2026/03/01", 3)
    capsys.readouterr()
    assert run_here(repo, *ONE, "--apply-plan", str(plan)) == 3
    assert "applied this plan file at" in capsys.readouterr().err
    assert len(_left(repo)) == 3


def test_an_instance_with_late_data_is_left(repo: Repo, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.data / "clicks/2026/03/01/00/01/late").write_text("1")
    assert run_here(repo, *ONE, "--apply-plan", str(plan), "--output", "json") == 4
    (feed,) = json.loads(capsys.readouterr().out)["feeds"]
    (note,) = (each for each in feed["notes"] if "plan file" in each)
    assert note.startswith("with other data than in the plan file: instance:data file://")
    assert "; now 3 files, 1 bytes" in note
    assert _left(repo) == ["01"]


def test_drift_is_named_and_left(repo: Repo, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = repo.data / "clicks/2026/03/01/00"
    shutil.rmtree(day / "01")
    (day / "05").mkdir()
    assert run_here(repo, *ONE, "--apply-plan", str(plan), "--output", "json") == 4
    result = json.loads(capsys.readouterr().out)
    assert [each["outcome"] for each in result["items"]] == ["done", "done"]
    assert _left(repo) == ["05"]
    notes = "\n".join(note for feed in result["feeds"] for note in feed["notes"])
    assert "2026/03/01/00/01" in notes
    assert "2026/03/01/00/05" in notes


@pytest.mark.parametrize(
    ("change", "options", "time", "part"),
    [
        ("limit", ONE, "2026-03-20T12:00Z", "clicks was changed"),
        ("cluster", ONE, "2026-03-20T12:00Z", "primary was changed"),
        ("user", ONE, "2026-03-20T12:00Z", "its user is "),
        ("", ONE, "2026-03-20T13:00Z", "its time is 2026-03-20T12:00Z"),
        ("", ("--feed", "views"), "2026-03-20T12:00Z", "clicks on primary is not chosen"),
        ("edit", ONE, "2026-03-20T12:00Z", "it was edited"),
    ],
)
def test_a_plan_for_another_run_is_refused_and_touches_nothing(
    repo: Repo,
    plan: Path,
    change: str,
    options: tuple[str, ...],
    time: str,
    part: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    feed = repo.path / "feeds/clicks.yaml"
    repo.write("feeds/views.yaml", feed.read_text().replace("clicks", "views"))
    if change == "limit":
        feed.write_text(feed.read_text().replace("days(10)", "days(9)"))
    elif change == "cluster":
        cluster = repo.path / "clusters/primary.yaml"
        cluster.write_text(f"{cluster.read_text()}properties: {{a: b}}\n")
    elif change == "user":
        monkeypatch.setattr(recorder, "current_user", lambda: "mallory")
    elif change == "edit":
        plan.write_text(plan.read_text().replace("00/01", "00/02"))
    before = repo.tree()
    assert run_here(repo, *options, "--apply-plan", str(plan), time=time) == 3
    assert part in capsys.readouterr().err
    assert repo.tree() == before


def test_a_limit_binds_a_plan_until_its_digest_is_approved(
    repo: Repo, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("repo.yaml", f"{(repo.path / 'repo.yaml').read_text()}max_delete: {{instances: 2}}\n")
    digest = json.loads(plan.read_text())["plan_digest"]
    assert run_here(repo, *ONE, "--apply-plan", str(plan)) == 3
    assert f"--approve {digest}" in capsys.readouterr().err
    assert len(_left(repo)) == 3
    assert run_here(repo, *ONE, "--apply-plan", str(plan), "--approve", digest) == 0
    assert _left(repo) == []


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        (("--plan-out", "/none/plan.json"), 2, "--plan-out /none/plan.json"),
        (("--apply-plan", "/none/plan.json"), 2, "--apply-plan"),
        (("--apply-plan", "PLAN", "--no-ledger"), 2, "--no-ledger as well"),
        (("--apply-plan", "PLAN", "--plan-out", "PLAN"), 2, "--plan-out as well"),
        (("--apply-plan", "REPO"), 3, "not a plan file"),
    ],
)
def test_options_that_cannot_be(
    repo: Repo, plan: Path, options: tuple[str, ...], code: int, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"PLAN": str(plan), "REPO": str(repo.path / "repo.yaml")}
    assert run_here(repo, *ONE, *(files.get(each, each) for each in options)) == code
    assert part in capsys.readouterr().err
    assert len(_left(repo)) == 3


def test_markdown_has_no_markup_of_others(repo: Repo, plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(plan.read_text())
    assert main(["plan", "show", str(plan), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == document
    for name in ("a|b`c", "<img src=x>", "@team](http://x)"):
        (repo.data / "clicks/2026/03/02/00/00" / name).mkdir(parents=True)
    assert run_here(repo, *ONE, "--plan-out", str(plan)) == 0
    capsys.readouterr()
    assert main(["plan", "show", str(plan), "--format", "markdown"]) == 0
    shown = capsys.readouterr().out
    assert "| item | what happens | content | why | where |" in shown
    reason = "older than days(10): before 2026-03-10T12:00Z"
    place = f"`file://{repo.data}/clicks/2026/03/01/00/00`"
    (row,) = (line for line in shown.splitlines() if place in line)
    content = row.split(" | ")[2]
    assert row == f"| `instance:data 2026-03-01T00:00Z` | deleted | {content} | {reason} | {place} |"
    assert content.startswith("2 files, 0 bytes, newest of 20")
    assert "<img" not in shown.replace("`<img", "")
