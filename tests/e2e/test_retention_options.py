"""Every option and every bad input of the retention entrypoint, in this process for speed."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import CLUSTER, Repo, outcomes


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo.make(tmp_path)
    made.fill("2026/03/01", 2)
    made.fill("2026/03/19", 1)
    return made


def _ahead(minutes: int) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%MZ")


BAD_OPTIONS = [
    pytest.param(["--feed", "clicks", "--time", "2026-03-20T12:00"], "2026-03-20T12:00", id="naive time"),
    pytest.param(["--feed", "clicks", "--time", ""], '--time "": at character 1', id="empty time"),
    pytest.param(["--feed", "clicks", "--config-repo", ""], "--config-repo '': is empty", id="empty config repo"),
    pytest.param(["--feed", "clicks", "--result-file", ""], "it is a directory", id="empty result file"),
    pytest.param(["--feed", "clicks", "--time", "2026-02-30T12:00Z"], "2026-02-30T12:00Z", id="no such day"),
    pytest.param(["--feed", "clicks", "--time", _ahead(600)], "is in the future", id="future time"),
    pytest.param(["--feed", "clicks", "--time", _ahead(600), "--dry-run"], "is in the future", id="future dry run"),
    pytest.param(["--feed", "clik"], "no feed named 'clik'; did you mean clicks?", id="unknown feed"),
    pytest.param(["--feed", "clicks", "--cluster", "primry"], "did you mean primary?", id="unknown cluster"),
    pytest.param(["--feed", "clicks", "--env", "prd"], "environment", id="unknown environment"),
    pytest.param([], "found nothing that chooses feeds", id="no choice"),
    pytest.param(["--feed", "clicks", "--all"], "found --feed and --all", id="two choices"),
    pytest.param(["--all", "--cluster", "a", "--all-clusters"], "found --cluster and --all-clusters", id="clusters"),
    pytest.param(["--group", "offline"], "no feed has group offline", id="unknown group"),
    pytest.param(["--tag", "classification"], "expected KEY=VALUE", id="tag without value"),
    pytest.param(["--tag", "classification=none"], "no feed has tag classification=none", id="unknown tag"),
    pytest.param(["--fed", "clicks"], "No such option", id="unknown option"),
    pytest.param(["--feed", "clicks", "--output", "xml"], "xml", id="unknown output"),
    pytest.param(["--feed", "clicks", "--quiet", "--verbose"], "expected one of them", id="two amounts of text"),
    pytest.param(["--feed", "clicks", "--result-file", "ofs://b/r.json"], "ofs://b", id="result file elsewhere"),
    pytest.param(["--feed", "clicks", "--result-file", "/none/r.json"], "/none", id="result file nowhere"),
    pytest.param(["--feed", "clicks", "--config-repo", "/none"], "/none", id="no config repo"),
    pytest.param(["--feed", "clicks", "--config-repo", "/"], "repo.yaml", id="no repo.yaml"),
]


@pytest.mark.parametrize(("arguments", "part"), BAD_OPTIONS)
def test_a_bad_option_is_one_message_and_2_and_touches_nothing(
    repo: Repo, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = repo.tree()
    assert run_here(repo, *arguments) == 2
    printed = capsys.readouterr()
    assert not printed.out or printed.out.startswith("invalid: ")
    assert printed.err.startswith("feedctl: ")
    assert part in printed.err
    assert "Traceback" not in printed.err
    assert repo.tree() == before


def test_the_result_repeats_why_a_run_did_not_begin(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    why = "the config repo has no feed named 'nope'; known: clicks"
    assert run_here(repo, "--feed", "nope", "--quiet") == 2
    assert capsys.readouterr() == (f"invalid: {why}\nstatus: invalid\n", f"feedctl: {why}\n")


def test_the_further_lines_of_a_reason_are_indented(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.path / "feeds" / "clicks.yaml").write_text("kind: feed\nname: clicks\nstatus: succeeded\nx: 1\n")
    assert run_here(repo, "--feed", "clicks") == 2
    first, *rest, last = capsys.readouterr().out.splitlines()
    assert (first[:9], last) == ("invalid: ", "status: invalid")
    assert len(rest) > 1
    assert all(line.startswith("  ") for line in rest)


def test_quiet_prints_nothing_of_a_run_that_went_well(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    for more in (["--dry-run"], []):
        assert run_here(repo, "--feed", "clicks", "--quiet", *more) == 0
        assert capsys.readouterr() == ("", "")


BAD_FILES = [
    pytest.param("feeds/clicks.yaml", "kind: feed\nname: clicks\nname: clicks\n", "clicks.yaml:3:1", id="duplicate"),
    pytest.param("feeds/clicks.yaml", "", "feeds/clicks.yaml", id="empty file"),
    pytest.param("feeds/clicks.yaml", "a: &a [x]\nb: [*a", "feeds/clicks.yaml", id="not YAML"),
    pytest.param("clusters/primary.yaml", CLUSTER.format(name="other", data="/x"), "primary", id="other name"),
    pytest.param("holds.yaml", "holds: [{feed: clik, reason: audit}]", "clik", id="hold of an unknown feed"),
    pytest.param("repo.yaml", "max_delete: {instances: many}", "repo.yaml:1", id="limit of another type"),
    pytest.param("repo.yaml", "max_delete: {bytes: 5 GB}", "repo.yaml:1", id="limit in bytes"),
    pytest.param("repo.yaml", "max_age: days(1)", "days(1)", id="snapshot of unknown age"),
]


@pytest.mark.parametrize(("name", "text", "part"), BAD_FILES)
def test_a_bad_file_is_named_and_touches_nothing(
    repo: Repo, name: str, text: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = repo.tree()
    repo.write(name, text)
    assert run_here(repo, "--feed", "clicks") == 2
    err = capsys.readouterr().err
    assert part in err
    assert "Traceback" not in err
    assert repo.tree() == before


def _elsewhere(repo: Repo) -> None:
    """Move the feed views to a store that nothing opens."""
    text = (repo.path / "feeds/views.yaml").read_text()
    repo.write("feeds/views.yaml", text.replace('"/views/', '"viewfs://all/views/'))


def test_what_does_not_exist_yet_is_refused_by_name_and_skipped_among_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    retention = "{limit: days(10)}"
    repo = Repo.make(tmp_path, {"clicks": retention, "views": retention}, "accept: [not-implemented]\n")
    _elsewhere(repo)
    repo.fill("2026/03/01", 1)
    repo.fill("2026/03/01", 1, feed="views")
    before = repo.tree()
    assert run_here(repo, "--feed", "clicks", "--feed", "views") == 2
    assert "feed views on primary" in capsys.readouterr().err
    assert repo.tree() == before
    assert run_here(repo, "--all", "--output", "json") == 0
    result = json.loads(capsys.readouterr().out)
    assert {each["feed"]: (each["skipped"] or {}).get("code") for each in result["feeds"]} == {
        "clicks": None,
        "views": "not_implemented",
    }
    assert (result["status"], result["exit_code"], outcomes(json.dumps(result))) == ("succeeded", 0, ["done"])
    assert [each for each in repo.tree() if each.startswith("views/")] == [
        each for each in before if each.startswith("views/")
    ]


def test_all_of_which_nothing_can_be_done_yet_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scheduler that evicts everything every night must not report what nobody can mend."""
    repo = Repo.make(tmp_path, {"views": "{limit: days(10)}"}, "accept: [not-implemented]\n")
    _elsewhere(repo)
    assert run_here(repo, "--all") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "views on primary: skipped\n  not_implemented: feed views on primary: storage viewfs://all is not im" in out


def test_a_time_just_ahead_of_the_clock_is_taken(repo: Repo) -> None:
    assert run_here(repo, "--feed", "clicks", "--dry-run", time=_ahead(3)) == 0


@pytest.mark.parametrize(
    "choice", [["--feed", "clicks"], ["--all"], ["--group", "online"], ["--tag", "classification=pii"]]
)
def test_each_way_of_choosing_finds_the_feed(repo: Repo, choice: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(repo, *choice, "--dry-run", "--output", "json") == 0
    assert outcomes(capsys.readouterr().out) == ["planned", "planned"]


def test_text_lines_name_items_feeds_and_status(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(repo, "--feed", "clicks", "--verbose") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("retention at 2026-03-20T12:00Z; config repo: directory sha256:")
    assert lines[1].split() == (
        f"done clicks on primary data 2026-03-01T00:00Z file://{repo.data}/clicks/2026/03/01/00/00".split()
    )
    assert lines[-2] == "clicks on primary: 2 done; limit days(10), horizon 2026-03-10T12:00Z; run 1, attempt 1"
    assert lines[-1].startswith("status: succeeded; plan ")


def test_json_lines_are_the_items_and_then_the_whole(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here(repo, "--feed", "clicks", "--output", "jsonl", "--dry-run") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("instance") for line in lines] == ["2026-03-01T00:00Z", "2026-03-01T00:01Z", None]
    assert (lines[-1]["status"], lines[-1]["schema_version"]) == ("succeeded", 1)


def test_the_json_document_has_these_keys(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """A contract: a scheduler reads them; a key that changes its meaning or goes raises the schema version."""
    assert run_here(repo, "--feed", "clicks", "--output", "json", "--dry-run") == 0
    result = json.loads(capsys.readouterr().out)
    assert sorted(result) == [
        "action", "dry_run", "environment", "error", "exit_code", "feeds", "items", "ledger", "nominal_time", "notes",
        "plan_digest", "schema_version", "snapshot", "status", "tzdata",
    ]  # fmt: skip
    assert sorted(result["feeds"][0]) == [
        "bases", "cluster", "counts", "effective_time", "failure", "feed", "horizon", "kept", "limit", "not_conforming",
        "notes", "run", "skipped", "whole_directories",
    ]  # fmt: skip
    assert sorted(result["items"][0]) == [
        "cluster", "code", "feed", "instance", "kind", "location", "message", "outcome", "path",
    ]  # fmt: skip
    assert sorted(result["snapshot"]) == ["dirty", "id", "kind"]


def test_a_run_that_never_began_still_has_a_result_file(
    repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "result.json"
    assert run_here(repo, "--feed", "clik", "--output", "json", "--result-file", f"file://{place}") == 2
    result = json.loads(place.read_text())
    assert (result["status"], result["exit_code"], result["error"]["type"]) == ("invalid", 2, "UnknownName")
    assert json.loads(capsys.readouterr().out) == result


def _git(repo: Repo, *arguments: str) -> None:
    identity = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
    committer = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
    subprocess.run(
        ["git", *arguments], cwd=repo.path, env={**os.environ, **identity, **committer}, check=True, capture_output=True
    )


def test_a_run_refuses_a_dirty_checkout_unless_allowed_and_a_dry_run_does_not(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    _git(repo, "init", "--quiet")
    _git(repo, "add", ".")
    _git(repo, "commit", "--quiet", "-m", "all")
    (repo.path / "repo.yaml").write_text((repo.path / "repo.yaml").read_text() + "description: changed\n")
    assert run_here(repo, "--feed", "clicks") == 2
    assert "repo.yaml" in capsys.readouterr().err
    assert run_here(repo, "--feed", "clicks", "--dry-run", "--output", "json") == 0
    assert json.loads(capsys.readouterr().out)["snapshot"]["dirty"] is True
    assert run_here(repo, "--feed", "clicks", "--allow-dirty") == 0


def test_names_with_spaces_unicode_and_bytes_that_are_no_unicode_are_told(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    repo = Repo.make(tmp_path / "a repo, ünï")
    repo.fill("2026/03/01", 1)
    os.mkdir(os.fsencode(repo.data / "clicks") + b"/\xff")  # noqa: PTH102 - the name is bytes
    assert run_here(repo, "--feed", "clicks", "--output", "json") == 0
    result = json.loads(capsysbinary.readouterr().out)
    assert outcomes(json.dumps(result)) == ["done"]
    assert result["feeds"][0]["not_conforming"]["sample"][0]["path"].endswith("/clicks/\udcff")


def test_a_hold_file_is_honoured_on_a_real_disk(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.data / "clicks" / ".feedctl-hold").write_text("case 12")
    before = repo.tree()
    assert run_here(repo, "--feed", "clicks") == 0
    assert "case 12" in capsys.readouterr().out
    assert repo.tree() == before


def test_links_below_the_base_are_not_followed_on_a_real_disk(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "precious" / "01" / "00" / "00").mkdir(parents=True)
    (repo.data / "clicks" / "2026" / "02").symlink_to(tmp_path / "precious")
    assert run_here(repo, "--feed", "clicks") == 0
    assert (tmp_path / "precious" / "01" / "00" / "00").is_dir()
    assert (repo.data / "clicks" / "2026" / "02").is_symlink()


LIMITS = [
    pytest.param("feeds/clicks.yaml", "retention: {limit: days(10), max_delete: {instances: 1}}", "10", id="cluster"),
    pytest.param("feeds/clicks.yaml", "retention: {limit: days(10)}\nmax_delete: {instances: 1}", "11", id="feed"),
    pytest.param("defaults.yaml", "feed:\n  max_delete: {instances: 1}\n", "2", id="defaults"),
]


@pytest.mark.parametrize(("file", "text", "line"), LIMITS)
def test_a_feed_over_its_own_limit_is_refused_alone_with_the_line_of_the_limit_and_the_way_out(
    tmp_path: Path, file: str, text: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = Repo.make(tmp_path, {"clicks": "{limit: days(10)}", "views": "{limit: days(10)}"})
    repo.fill("2026/03/01", 2)
    repo.fill("2026/03/01", 1, feed="views")
    feed = (repo.path / "feeds" / "clicks.yaml").read_text()
    in_feed = feed.replace("retention: {limit: days(10)}", text)
    repo.write(file, text if file == "defaults.yaml" else in_feed)
    assert run_here(repo, "--all", "--output", "json") == 4
    printed = capsys.readouterr()
    clicks, views = json.loads(printed.out)["feeds"]
    assert clicks["failure"]["code"] == "refused"
    assert f"2 instances, but max_delete.instances ({file}:{line}) allows 1;" in clicks["failure"]["message"]
    assert clicks["failure"]["message"] in printed.err
    assert (clicks["counts"]["skipped"], views["counts"]["done"], views["failure"]) == (2, 1, None)
    way_out = clicks["failure"]["message"].partition("run again with --feed")[2].partition(" (")[0]
    assert run_here(repo, *f"--feed{way_out}".split()) == 0
    assert "done    clicks on primary: 2 instances" in capsys.readouterr().out


def test_a_lone_feed_over_its_own_limit_is_a_refusal(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write("defaults.yaml", "feed: {max_delete: {instances: 1}}\n")
    assert run_here(repo, "--feed", "clicks") == 3
    assert "max_delete.instances (defaults.yaml:1) allows 1" in capsys.readouterr().err


def _on_two_clusters(repo: Repo) -> None:
    """The feed is on a second cluster, too, whose data is beside that of the first."""
    repo.write("clusters/backup.yaml", CLUSTER.format(name="backup", data=f"{repo.data}/backup"))
    feed = (repo.path / "feeds" / "clicks.yaml").read_text()
    repo.write("feeds/clicks.yaml", feed + "".join(feed.splitlines(keepends=True)[-3:]).replace("primary", "backup"))
    repo.fill("2026/03/02", 1, feed="backup/clicks")


@pytest.mark.parametrize("clusters", [["--all-clusters"], ["--cluster", "primary", "--cluster", "backup"]])
def test_one_run_evicts_on_several_clusters_and_tells_each_by_itself(
    repo: Repo, clusters: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _on_two_clusters(repo)
    assert run_here(repo, "--all", *clusters, "--output", "json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [(each["cluster"], each["counts"]["done"]) for each in result["feeds"]] == [("backup", 1), ("primary", 2)]
    assert len({each["run"]["id"] for each in result["feeds"]}) == 2
    assert {item["cluster"] for item in result["items"]} == {"primary", "backup"}


def test_a_cluster_that_fails_keeps_no_other_from_its_work(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    _on_two_clusters(repo)
    (repo.data / "backup" / "clicks").rename(repo.data / "backup" / "away")
    (repo.data / "backup" / "clicks").write_text("a file where a directory is expected")
    assert run_here(repo, "--all", "--all-clusters", "--output", "json") == 4
    backup, primary = json.loads(capsys.readouterr().out)["feeds"]
    assert (backup["failure"]["code"], primary["counts"]["done"]) == ("wrong_kind", 2)
