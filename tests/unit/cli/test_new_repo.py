"""`feedctl init`, `schema`, `entrypoint` and `--version`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import jsonschema
import pytest

from tests.unit.cli.running import Feedctl
from toolkit import __version__
from toolkit.config_source import open_snapshot
from toolkit.entities import load


def test_init_makes_a_clean_git_repository_that_loads(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = tmp_path / "new repo ü"
    ran = feedctl("init", str(repo))
    assert (ran.code, ran.err) == (0, "")
    status = subprocess.run(["git", "status", "--porcelain"], cwd=repo, capture_output=True, text=True, check=True)
    assert status.stdout == ""
    for environment in ("dev", "prod"):
        assert feedctl("entity", "list", "--config-repo", str(repo), "--env", environment).code == 0


def test_the_ledger_of_the_development_environment_leaves_the_checkout_clean(feedctl: Feedctl, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    feedctl("init", str(repo))
    assert load(open_snapshot(repo)).settings.ledger == "sqlite:///.feedctl/ledger.db"
    (repo / ".feedctl").mkdir()
    for name in ("ledger.db", "ledger.db-wal", "audit.jsonl"):
        (repo / ".feedctl" / name).write_text("x")
    assert not open_snapshot(repo, for_mutation=True).id.dirty


def test_the_local_data_lies_where_init_is_told(feedctl: Feedctl, tmp_path: Path) -> None:
    feedctl("init", str(tmp_path / "a"))
    feedctl("init", str(tmp_path / "b"), "--data-root", str(tmp_path / "elsewhere"))
    for repo, root in (("a", "a-data"), ("b", "elsewhere")):
        shown = feedctl("entity", "show", "primary", "--config-repo", str(tmp_path / repo), "--output", "json").document
        assert shown["entity"]["interfaces"]["write"]["endpoint"] == f"file://{tmp_path / root}"


@pytest.mark.parametrize("options", [(), ("--data-root", "../there/../my feeds-data")])
def test_a_repo_beside_the_current_folder_can_be_used_at_once(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    ran = feedctl("init", "../my feeds", *options)
    assert ran.out.endswith("next: cd '../my feeds' && feedctl entity list\n")
    assert f"files below {tmp_path}/my feeds-data\n" in ran.out
    shown = feedctl("entity", "show", "primary", "--config-repo", "../my feeds", "--output", "json").document
    assert shown["entity"]["interfaces"]["write"]["endpoint"] == f"file://{tmp_path}/my feeds-data"
    assert feedctl("lint", "--config-repo", "../my feeds").code == 0


@pytest.fixture
def minimal(feedctl: Feedctl, tmp_path: Path) -> Path:
    """A minimal repo, with its README's commands in mind, as a user has it."""
    ran = feedctl("init", str(tmp_path / "minimal"), "--minimal")
    assert (ran.code, ran.err) == (0, "")
    assert f"it works on local files below {tmp_path}/minimal-data\n" in ran.out
    return tmp_path / "minimal"


def test_a_minimal_repo_has_one_cluster_and_one_feed_and_lint_finds_nothing(feedctl: Feedctl, minimal: Path) -> None:
    repository = load(open_snapshot(minimal, for_mutation=True))
    assert [str(each.KIND) for each in repository.entities()] == ["feed", "cluster"]
    linted = feedctl("lint", "--all-envs", "--config-repo", str(minimal), "--format", "json")
    assert (linted.code, linted.document["findings"]) == (0, [])
    tmp, data = minimal.parent, repository.cluster("local").interfaces.write
    assert data is not None
    assert data.endpoint == f"file://{tmp}/minimal-data"


@pytest.mark.extended
def test_what_the_readme_of_a_minimal_repo_says_to_type_works(minimal: Path) -> None:
    commands = re.findall(r"^    (\S.*)$", (minimal / "README.md").read_text(), re.MULTILINE)
    assert len(commands) == 5
    done = _typed(minimal, *commands)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "events on local: nothing to do" in done.stdout
    assert "/data/events/2026-03-01" in done.stdout


@pytest.mark.extended
def test_what_the_comments_of_a_minimal_repo_say_is_so(minimal: Path) -> None:
    data = minimal.with_name("minimal-data") / "data" / "events"
    days = [data / str(date(2026, 1, 1) + timedelta(day)) for day in range(9)]
    for folder in days:
        folder.mkdir(parents=True)
    run = 'spark-submit "$(feedctl entrypoint retention)" --all --time 2026-03-20T12:00Z'
    assert _typed(minimal, run).returncode == 0
    assert [folder.exists() for folder in days] == [False] * 2 + [True] * 7, "all are old, and the newest 7 stay"
    assert (minimal / ".feedctl" / "ledger.db").exists()
    assert not open_snapshot(minimal).id.dirty, "git sees no ledger"
    assert load(open_snapshot(minimal)).settings.max_delete.instances == 100


@pytest.mark.extended
def test_a_minimal_repo_says_rightly_what_its_line_external_is_for(feedctl: Feedctl, minimal: Path) -> None:
    (minimal / "processes").mkdir()
    (minimal / "workflows").mkdir()
    (minimal / "workflows" / "reader.sh").touch()
    (minimal / "processes" / "reader.yaml").write_text(
        "{kind: process, name: reader, frequency: days(1), workflow: {engine: command, path: workflows/reader.sh}, "
        "clusters: [{name: local, validity: {start: 2026-01-02T00:00Z, end: 2099-01-01T00:00Z}}], "
        'inputs: {in: {feed: events, start: "yesterday(0,0)", end: "yesterday(0,0)"}}}'
    )
    feed = minimal / "feeds" / "events.yaml"
    found = feedctl("lint", "--config-repo", str(minimal))
    feed.write_text(re.sub(r"^external:.*\n", "", feed.read_text(), flags=re.MULTILINE))
    without = feedctl("lint", "--config-repo", str(minimal))
    assert (found.code, without.code) == (0, 1)
    assert "[feed-without-producer]" in without.out


def _typed(folder: Path, *commands: str) -> subprocess.CompletedProcess[str]:
    """The commands in a shell, whose spark-submit starts no JVM."""
    lines = "\n".join(['spark-submit() { python "$@"; }', *commands])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-c", lines],
        cwd=folder,
        env=dict(os.environ, PATH=path),
        capture_output=True,
        text=True,
        check=False,
    )


def test_init_leaves_a_folder_that_is_not_empty_alone(feedctl: Feedctl, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    ran = feedctl("init", str(tmp_path))
    assert (ran.code, sorted(path.name for path in tmp_path.iterdir())) == (2, ["mine"])
    assert "is not an empty directory" in ran.err


@pytest.mark.parametrize(
    "kind", ["cluster", "feed", "process", "datasource", "repo", "defaults", "environment", "holds"]
)
@pytest.mark.parametrize("form", [(), ("--merged",)])
def test_every_schema_is_a_valid_schema(feedctl: Feedctl, kind: str, form: tuple[str, ...]) -> None:
    jsonschema.Draft202012Validator.check_schema(feedctl("schema", kind, *form).document)


def test_the_authored_schema_asks_for_kind_and_name_only(feedctl: Feedctl) -> None:
    assert feedctl("schema", "feed").document["required"] == ["kind", "name"]
    assert "frequency" in feedctl("schema", "feed", "--merged").document["required"]


def test_an_unknown_schema_names_the_nearest(feedctl: Feedctl) -> None:
    ran = feedctl("schema", "fed")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean feed" in ran.err


def test_the_path_of_an_entrypoint_is_printed(feedctl: Feedctl) -> None:
    path = Path(feedctl("entrypoint", "retention").out.strip())
    assert path.name == "retention.py"
    assert "typer" in path.read_text()


def test_an_unknown_entrypoint_names_those_there_are(feedctl: Feedctl) -> None:
    ran = feedctl("entrypoint", "retentoin")
    assert ran.code == 2
    assert (
        "known: compact, db_export, db_import, doctor, hive_export, hive_import, hive_replication, ingest, late_check, "
        "mirror, monitor, process, replication, retention, trigger, validate" in ran.err
    )


def test_the_version_is_printed(feedctl: Feedctl) -> None:
    assert feedctl("--version").out == f"feedctl {__version__}\n"


@pytest.mark.parametrize("command", [(), ("entity",), ("instance",), ("el",)])
def test_help_is_printed_without_loading_what_commands_need(feedctl: Feedctl, command: tuple[str, ...]) -> None:
    ran = feedctl(*command, "--help")
    assert ran.code == 0
    assert "Usage: " in ran.out
