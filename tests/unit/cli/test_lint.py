"""`feedctl lint` on config repos in git."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from tests.unit.config_source.checkouts import checkout, git, write
from tests.unit.linter.repos import standard_texts

BROKEN = {"feeds/clicks.yaml": standard_texts()["feeds/clicks.yaml"].replace("hours(6)", "houres(6)")}
AUDIT = {"repo.yaml": 'name: web\naudit_file: "${env:HOME}/audit.jsonl"\n'}


@pytest.fixture
def standard(tmp_path: Path) -> Path:
    """The standard repo in git."""
    return checkout(tmp_path / "repo", standard_texts())


def found(feedctl: Feedctl, repo: Path, *arguments: str) -> list[str]:
    ran = feedctl("lint", "--repo", str(repo), "--format", "json", *arguments)
    return [f"{each['file']}:{each['rule']}" for each in ran.document["findings"]]


def test_a_clean_repo_exits_with_0(feedctl: Feedctl, standard: Path) -> None:
    ran = feedctl("lint", "--config-repo", str(standard))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "no findings (9 files; at 2026-03-01T06:40Z)\n"


def test_a_finding_exits_with_1_and_shows_its_line(feedctl: Feedctl, standard: Path) -> None:
    write(standard, BROKEN)
    ran = feedctl("lint", "--repo", str(standard))
    assert ran.code == 1
    assert "feeds/clicks.yaml:6:25: error: " in ran.out
    assert "  6 | late_arrival: {cut_off: houres(6)}\n    |                         ^^^^^^^^^\n" in ran.out


def test_two_runs_print_the_same(feedctl: Feedctl, standard: Path) -> None:
    write(standard, {**BROKEN, **AUDIT})
    for form in ("text", "json", "sarif", "github"):
        first, second = (feedctl("lint", "--repo", str(standard), "--format", form) for _ in range(2))
        assert first.out
        assert first == second


def test_rules_are_selected_and_ignored_by_name_and_glob(feedctl: Feedctl, standard: Path) -> None:
    write(standard, {**BROKEN, **AUDIT})
    assert found(feedctl, standard, "--select", "audit-*, tab") == ["repo.yaml:audit-file-outside"]
    assert found(feedctl, standard, "--select", "bad-*", "--select", "audit-*", "--ignore", "audit-file-outside") == [
        "feeds/clicks.yaml:bad-frequency"
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "not-implementd"], "--select: found 'not-implementd', expected the identifier of a rule"),
        (["--ignore", "nothing-*"], "--ignore: found 'nothing-*'"),
        (["--env", "prd"], "environment"),
        (["--env", "prod", "--all-envs"], "--env and --all-envs: found both"),
        (["--write-baseline"], "--write-baseline: found no --baseline FILE"),
        (["--baseline", "nowhere.json"], "--baseline nowhere.json: the file does not exist"),
        (["--time", "noon"], "--time: "),
        (["--against", "origin/main"], "found no origin/main to compare with"),
        (["nowhere.yaml"], "found the path nowhere.yaml, expected a file or folder of the config repo"),
        (["--format", "xml"], "xml"),
    ],
)
def test_wrong_usage_exits_with_2(feedctl: Feedctl, standard: Path, arguments: list[str], message: str) -> None:
    ran = feedctl("lint", "--repo", str(standard), *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_a_baseline_is_written_and_then_accepts_what_it_knows(feedctl: Feedctl, standard: Path, tmp_path: Path) -> None:
    write(standard, AUDIT)
    file = tmp_path / "baseline.json"
    written = feedctl("lint", "--repo", str(standard), "--baseline", str(file), "--write-baseline")
    assert (written.code, written.out.split(" (")[0]) == (0, "no findings, 1 in the baseline")
    assert [each["rule"] for each in json.loads(file.read_text())["findings"]] == ["audit-file-outside"]
    assert feedctl("lint", "--repo", str(standard), "--baseline", str(file)).code == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["baseline.json"]
    assert feedctl("lint", "--repo", str(standard)).code == 1


def test_a_baseline_that_cannot_be_written_is_a_failure(feedctl: Feedctl, standard: Path, tmp_path: Path) -> None:
    place = tmp_path / "missing" / "baseline.json"
    ran = feedctl("lint", "--repo", str(standard), "--baseline", str(place), "--write-baseline")
    assert ran.code == 1
    assert "could not be written: No such file or directory" in ran.err


def test_paths_are_meant_from_the_working_directory_or_from_the_repo(
    feedctl: Feedctl, standard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(standard, {**BROKEN, **AUDIT})
    only = ["feeds/clicks.yaml:bad-frequency"]
    assert found(feedctl, standard, "feeds") == only
    assert found(feedctl, standard, str(standard / "feeds" / "clicks.yaml")) == only
    monkeypatch.chdir(standard / "feeds")
    assert found(feedctl, standard, "clicks.yaml") == only
    assert found(feedctl, standard, ".") == only
    assert found(feedctl, standard, "..", "clicks.yaml") == [*only, "repo.yaml:audit-file-outside"]


def test_a_lint_of_some_files_ends_with_what_the_others_have(feedctl: Feedctl, standard: Path) -> None:
    write(standard, {**BROKEN, **AUDIT})
    ran = feedctl("lint", "--repo", str(standard), "clusters")
    assert (ran.code, ran.out.startswith("no findings (")) == (0, True)
    assert ran.out.endswith("); 2 errors in other files\n")
    for form in ("json", "github"):
        ran = feedctl("lint", "--repo", str(standard), "clusters", "--format", form)
        assert "2 errors in other files" in ran.out or json.loads(ran.out)["elsewhere"]["error"] == 2


def test_changed_files_come_first_and_those_elsewhere_do_not_matter(feedctl: Feedctl, standard: Path) -> None:
    write(standard, {**BROKEN, **AUDIT})
    assert found(feedctl, standard, "--changed-first", "repo.yaml", "../README.md") == [
        "repo.yaml:audit-file-outside",
        "feeds/clicks.yaml:bad-frequency",
    ]


def test_a_repo_in_a_folder_of_a_checkout_has_paths_from_its_top_for_github(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {f"config/{name}": text for name, text in {**standard_texts(), **AUDIT}.items()}
    top = checkout(tmp_path / "repo", texts)
    place = "file=config/repo.yaml,line=2"
    assert place in feedctl("lint", "--repo", str(top / "config"), "--format", "github").out
    assert feedctl("lint", "--repo", str(top / "config")).out.startswith("repo.yaml:2:")
    monkeypatch.chdir(top)
    assert feedctl("lint", "--repo", "config").out.startswith("config/repo.yaml:2:")


def test_the_time_is_that_of_the_commit_unless_another_is_given(feedctl: Feedctl, standard: Path) -> None:
    git(standard, "commit", "--allow-empty", "--message=later", at="2026-05-04T03:02:01+00:00")
    assert feedctl("lint", "--repo", str(standard), "--format", "json").document["time"] == "2026-05-04T03:02Z"
    write(standard, AUDIT)
    assert feedctl("lint", "--repo", str(standard), "--format", "json").document["time"] == "2026-05-04T03:02Z"
    given = feedctl("lint", "--repo", str(standard), "--format", "json", "--time", "2026-07-01T00:00Z")
    assert given.document["time"] == "2026-07-01T00:00Z"


def test_without_a_commit_the_time_is_the_start_of_the_day(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = write(tmp_path / "plain", standard_texts())
    document = feedctl("lint", "--repo", str(repo), "--format", "json").document
    assert document["time"].endswith("T00:00Z")


def test_a_change_is_compared_with_a_commit(feedctl: Feedctl, standard: Path) -> None:
    clicks = standard_texts()["feeds/clicks.yaml"].replace("days(10)", "days(5)")
    write(standard, {"feeds/clicks.yaml": clicks})
    assert "feeds/clicks.yaml:retention-blast-radius" not in found(feedctl, standard)
    assert "feeds/clicks.yaml:retention-blast-radius" in found(feedctl, standard, "--against", "main")


def test_the_environments_of_a_repo_are_checked_one_or_all(feedctl: Feedctl, standard: Path) -> None:
    write(
        standard,
        {
            "repo.yaml": "environments: [dev, prod]\ndefault_environment: dev\n",
            "environments/dev.yaml": "description: local\n",
            "environments/prod.yaml": 'repo: {audit_file: "${env:HOME}/audit.jsonl"}\n',
        },
    )
    assert found(feedctl, standard) == []
    for option in (["--env", "prod"], ["--all-envs"]):
        assert found(feedctl, standard, *option) == ["environments/prod.yaml:audit-file-outside"]


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize("time", ["2026-03-20T12:00Z", "2026-10-01T00:00Z", "2027-06-01T00:00Z"])
def test_the_template_is_clean_in_every_environment(feedctl: Feedctl, time: str) -> None:
    ran = feedctl("lint", "--all-envs", "--time", time, "--format", "json")
    assert (ran.code, ran.document["findings"]) == (0, [])
