"""`feedctl restore --list`: what is in quarantine, of one feed or of all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entrypoints import retention
from tests.e2e.tiny_repo import make_tiny_repo, retention_arguments
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
from toolkit.result import ExitCode


def test_without_a_name_the_list_is_of_all_feeds_and_says_when_it_is_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = make_tiny_repo(tmp_path)
    feed, listed = repo.path / "feeds/clicks.yaml", ["restore", "--list", "--config-repo", str(repo.path)]
    feed.write_text(feed.read_text().replace("days(10)", "days(10), action: quarantine, quarantine: days(3)"))
    assert main(listed) == ExitCode.DONE
    assert capsys.readouterr().out == "nothing is in quarantine\n"
    assert main([*listed, "--output", "json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == {"schema_version": 1, "restorable": []}
    assert run_app(retention.app, retention_arguments(repo)) == ExitCode.DONE
    capsys.readouterr()
    assert main(listed) == ExitCode.DONE
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"clicks on local  2026-03-01T00:00Z  file://{repo.old}  run 1  until ")
    assert main([*listed, "clicks"]) == ExitCode.DONE
    assert capsys.readouterr().out.splitlines() == [line]


def test_without_a_name_nothing_is_restored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo = make_tiny_repo(tmp_path)
    assert main(["restore", "--config-repo", str(repo.path)]) == ExitCode.INVALID
    assert "RUN|FEED" in capsys.readouterr().err
