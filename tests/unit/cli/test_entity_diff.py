"""`feedctl entity diff` on real git checkouts of the template's config repo."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.config_source.checkouts import git

PLACE = "feeds/web/clicks.yaml"


@pytest.fixture
def checkout(template_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a commit on `main`, and `change` checked out."""
    repo = tmp_path / "repo"
    shutil.copytree(template_repo, repo)
    shutil.rmtree(repo / ".git", ignore_errors=True)
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=first")
    git(repo, "checkout", "--quiet", "-b", "change")
    monkeypatch.setenv("FEEDCTL_REPO", str(repo))
    return repo


def shorten(repo: Path) -> None:
    """Shorten a limit."""
    text = (repo / PLACE).read_text()
    assert "days(10)" in text
    (repo / PLACE).write_text(text.replace("days(10)", "days(5)", 1))


def commit(repo: Path, at: str = "2026-03-20T10:11:12+00:00") -> None:
    git(repo, "commit", "--quiet", "--all", "--message=second", at=at)


def test_a_commit_is_compared_at_its_own_time(checkout: Path, feedctl: Feedctl) -> None:
    shorten(checkout)
    commit(checkout)
    ran = feedctl("entity", "diff", "main")
    assert (ran.code, ran.err) == (0, "")
    assert "environment dev, at 2026-03-20T10:11Z" in ran.out
    assert "~ feed clicks (feeds/web/clicks.yaml)" in ran.out
    assert "10d -> 5d: 120 more instances (2026-03-10T11:00Z to 2026-03-15T11:00Z) become evictable" in ran.out
    assert feedctl("entity", "diff", "main").out == ran.out


def test_the_time_can_be_given(checkout: Path, feedctl: Feedctl) -> None:
    shorten(checkout)
    ran = feedctl("entity", "diff", "main", "--time", "2026-03-20T00:00Z", "--format", "json")
    document = ran.document
    assert (document["time"], document["blast_radius"]["more_evictable"]) == ("2026-03-20T00:00Z", 120)
    assert document["snapshot"]["dirty"] is True


def test_markdown_is_for_a_pull_request(checkout: Path, feedctl: Feedctl) -> None:
    shorten(checkout)
    commit(checkout)
    ran = feedctl("entity", "diff", "main", "--format", "markdown", "--env", "prod")
    assert ran.out.startswith("### feedctl: 1 entity changed, 5 downstream\n\n**120 more instances become evictable")
    assert ran.out.endswith("environment prod, at 2026-03-20T10:11Z</sub>\n")


def test_nothing_different_is_no_failure(checkout: Path, feedctl: Feedctl) -> None:
    assert checkout.is_dir()
    ran = feedctl("entity", "diff", "HEAD")
    assert (ran.code, ran.out.splitlines()[1]) == (0, "no difference")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere",), "found no nowhere to compare with"),
        (("main", "--env", "prd"), "prd"),
        (("main", "--time", "today"), "--time: found 'today', expected a date such as 2026-03-01"),
        (("main", "--time", "2026-13-20T00:00Z"), "'2026-13-20T00:00Z', expected a month from 01 to 12"),
    ],
)
@pytest.mark.usefixtures("checkout")
def test_what_cannot_be_compared_is_refused(feedctl: Feedctl, arguments: tuple[str, ...], message: str) -> None:
    ran = feedctl("entity", "diff", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_config_repo_that_is_no_checkout_is_refused(checkout: Path, feedctl: Feedctl) -> None:
    shutil.rmtree(checkout / ".git")
    ran = feedctl("entity", "diff", "main")
    assert (ran.code, ran.out) == (2, "")
    assert "is no git checkout" in ran.err
