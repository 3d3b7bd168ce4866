"""`first_run: plan`: the first eviction of a feed is applied once a person has approved it, and later ones freely."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo

ONE = ("--feed", "clicks")
LATER = "2026-03-20T13:00Z"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path, repo_yaml="name: e2e\nfirst_run: plan\n")
    made.fill("2026/03/01", 2)
    made.fill("2026/03/19", 1)
    return made


@pytest.fixture
def digest(repo: Repo, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def of_refused(*options: str, time: str = LATER) -> str:
        before = repo.tree()
        capsys.readouterr()
        assert run_here(repo, *ONE, *options, "--output", "json", time=time) == 3
        assert repo.tree() == before
        found = json.loads(capsys.readouterr().out)
        assert found["error"]["type"] == "FirstEvictionPlanned"
        return str(found["plan_digest"])

    return of_refused


def _marks(repo: Repo) -> list[Path]:
    return sorted((repo.data / "clicks").glob(".feedctl-approved-*"))


def test_a_first_eviction_waits_for_its_approval_and_later_ones_do_not(repo: Repo, digest: Callable[..., str]) -> None:
    assert digest() == digest("--dry-run")
    approved = digest()
    repo.fill("2026/03/02", 1)
    assert run_here(repo, *ONE, "--approve", approved, time=LATER) == 3
    assert _marks(repo) == []
    assert run_here(repo, *ONE, "--approve", digest(), time=LATER) == 0
    assert (repo.data / "clicks/2026/03").exists()
    assert not (repo.data / "clicks/2026/03/01").exists()
    repo.fill("2026/03/01", 2)
    assert run_here(repo, *ONE, time="2026-03-20T14:00Z") == 0
    assert not (repo.data / "clicks/2026/03/01").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("days(10)", "days(9)"),
        ("${MINUTE}", "${MINUTE}/x"),
        ("days(10)", "days(10), protect: [{name: unread_batches, max_age: days(30)}]"),
    ],
)
def test_after_a_change_of_limit_path_or_protection_it_is_a_first_one_again(
    repo: Repo, digest: Callable[..., str], before: str, after: str
) -> None:
    assert run_here(repo, *ONE, "--approve", digest(), time=LATER) == 0
    feed = repo.path / "feeds/clicks.yaml"
    feed.write_text(feed.read_text().replace(before, after))
    for minute in range(2):
        (repo.data / f"clicks/2026/03/01/00/{minute:02d}/x").mkdir(parents=True)
    digest(time="2026-03-20T14:00Z")


def test_what_nothing_goes_of_needs_no_approval_and_gets_none(repo: Repo) -> None:
    assert run_here(repo, *ONE, time="2026-03-10T00:00Z") == 0
    assert _marks(repo) == []


def test_an_edited_approval_approves_nothing(repo: Repo, digest: Callable[..., str]) -> None:
    assert run_here(repo, *ONE, "--approve", digest(), time=LATER) == 0
    (mark,) = _marks(repo)
    repo.fill("2026/03/01", 2)
    for text in ("", "{}", mark.read_text().replace("clicks", "views"), "x" * 10_000):
        mark.write_text(text)
        digest(time="2026-03-20T14:00Z")


def test_other_feeds_go_beside_one_that_waits(repo: Repo) -> None:
    text = (repo.path / "feeds/clicks.yaml").read_text()
    repo.write("feeds/views.yaml", text.replace("clicks", "views"))
    repo.fill("2026/03/01", 1, feed="views")
    assert run_here(repo, "--all", time=LATER) == 3
    file = repo.path.parent / "plan.json"
    assert run_here(repo, "--feed", "views", "--plan-out", str(file), time=LATER) == 3
    found = json.loads(file.read_text())
    options = ("--feed", "views", "--apply-plan", str(file))
    assert run_here(repo, *options, time=LATER) == 3
    assert run_here(repo, *options, "--approve", found["plan_digest"], time=LATER) == 0
    repo.fill("2026/03/01", 1, feed="views")
    assert run_here(repo, "--all", time="2026-03-20T14:00Z") == 4
    assert not (repo.data / "views/2026/03/01").exists()
    assert (repo.data / "clicks/2026/03/01").exists()
