"""`feedctl init`, `schema`, `entrypoint` and `--version`."""

from __future__ import annotations

import subprocess
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
    assert "known: doctor, retention" in ran.err


def test_the_version_is_printed(feedctl: Feedctl) -> None:
    assert feedctl("--version").out == f"feedctl {__version__}\n"


@pytest.mark.parametrize("command", [(), ("entity",), ("instance",), ("el",)])
def test_help_is_printed_without_loading_what_commands_need(feedctl: Feedctl, command: tuple[str, ...]) -> None:
    ran = feedctl(*command, "--help")
    assert ran.code == 0
    assert "Usage: " in ran.out
