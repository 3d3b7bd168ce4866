"""The pre-commit hook, by the real pre-commit on a real git repository; nothing is fetched."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.e2e.commands import BIN, ROOT

pytestmark = [pytest.mark.slow, pytest.mark.extended]

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
FEED = "feeds/web/clicks.yaml"


def _do(repo: Path, *command: str) -> tuple[int, str]:
    """Runs a command in the repo; its exit code and all it printed."""
    known = {
        **os.environ,
        "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
        "PRE_COMMIT_HOME": str(repo.parent / "pre-commit"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{
            f"GIT_{who}_{what}": f"{what.lower()}@example.com"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    done = subprocess.run(command, cwd=repo, env=known, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _committed(repo: Path, message: str) -> tuple[int, str]:
    assert _do(repo, "git", "add", "--all") == (0, "")
    return _do(repo, "git", "commit", "--quiet", "--message", message)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """The template as a git repository, with its own hook installed after the first commit."""
    made = tmp_path / "repo"
    shutil.copytree(ROOT / "config_repo_template", made, ignore=shutil.ignore_patterns("__pycache__"))
    assert _do(made, "git", "init", "--quiet", "--initial-branch=main")[0] == 0
    assert _committed(made, "first")[0] == 0
    code, output = _do(made, "pre-commit", "install")
    assert code == 0, output
    return made


def _edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_a_good_commit_passes(repo: Path) -> None:
    _edit(repo / FEED, "description: ", "description: all of it, ")
    code, output = _committed(repo, "good")
    assert code == 0, output
    assert "Passed" in output


def test_a_bad_commit_is_refused_with_the_place_and_the_rule(repo: Path) -> None:
    before = _do(repo, "git", "rev-parse", "HEAD")
    _edit(repo / FEED, "frequency:", "frequncy:")
    code, output = _committed(repo, "bad")
    assert code == 1
    assert "unknown-key" in output
    assert f"{FEED}:" in output
    assert "did you mean frequency?" in output
    assert "Traceback" not in output
    assert _do(repo, "git", "rev-parse", "HEAD") == before


def test_the_findings_of_changed_files_come_first_and_the_others_after(repo: Path) -> None:
    _edit(repo / "clusters" / "primary.yaml", "colo:", "kolo:")
    assert _do(repo, "git", "commit", "--all", "--quiet", "--no-verify", "--message", "unchecked")[0] == 0
    _edit(repo / FEED, "frequency:", "frequncy:")
    code, output = _committed(repo, "bad")
    assert code == 1
    assert 0 < output.index(f"{FEED}:") < output.index("clusters/primary.yaml:")


def test_a_commit_that_removes_what_others_use_is_refused(repo: Path) -> None:
    (repo / "clusters" / "primary.yaml").unlink()
    code, output = _committed(repo, "removed")
    assert code == 1
    assert "unknown-cluster" in output


def test_the_published_hook_is_valid_and_refuses_the_same(repo: Path) -> None:
    assert _do(ROOT, "pre-commit", "validate-manifest", str(MANIFEST))[0] == 0
    (hook,) = yaml.safe_load(MANIFEST.read_text())
    assert hook["language"] == "python"
    # What installs it would fetch packages; here it runs the feedctl that is installed.
    config = {"repos": [{"repo": "local", "hooks": [{**hook, "language": "system"}]}]}
    (repo / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    assert _committed(repo, "the published hook")[0] == 0
    _edit(repo / FEED, "frequency:", "frequncy:")
    code, output = _committed(repo, "bad")
    assert code == 1
    assert "unknown-key" in output


def test_the_template_and_the_manifest_run_the_same_command() -> None:
    (hook,) = yaml.safe_load(MANIFEST.read_text())
    config = yaml.safe_load((ROOT / "config_repo_template" / ".pre-commit-config.yaml").read_text())
    (local,) = config["repos"][0]["hooks"]
    same = ("id", "name", "entry", "always_run", "require_serial")
    assert {key: local[key] for key in same} == {key: hook[key] for key in same}
