from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from toolkit.config_source.creation import create_repo

pytestmark = pytest.mark.extended

ROOT = Path(__file__).parents[3]
TEMPLATE = ROOT / "config_repo_template"
WORKFLOW = TEMPLATE / ".github" / "workflows" / "feedctl.yml"


def test_the_workflow_of_the_template_is_one_that_github_reads() -> None:
    program = str(Path(sys.executable).with_name("check-jsonschema"))
    command = [program, "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_workflow_lints_against_the_base_and_shows_the_difference() -> None:
    text = WORKFLOW.read_text()
    assert 'feedctl lint --all-envs --output github --against "$BASE"' in text
    assert 'feedctl entity diff "$BASE" --env prod --output markdown' in text


def _scripts() -> list[str]:
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["lint"]["steps"]
    return [step["run"] for step in steps if "run" in step]


def _run(script: str, directory: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """As the runner does: `bash -e`; what would install something says so instead."""
    command = ["bash", "-e", "-c", 'pip() { echo "pip $*"; }\n' + script]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    known = {**os.environ, "PATH": path, **variables}
    return subprocess.run(command, cwd=directory, env=known, capture_output=True, text=True, check=False)


def test_every_step_works_in_a_new_repo(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    create_repo(TEMPLATE, repo, tmp_path / "data")
    output = tmp_path / "output"
    wheel = "feedctl @ file:///srv/wheels/feedctl-1.0.0-py3-none-any.whl#sha256=0123"
    variables = {"FEEDCTL": wheel, "BASE": "HEAD", "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(output)}
    done = [_run(script, repo, variables) for script in _scripts()]
    assert [each.returncode for each in done] == [0] * len(done), [each.stdout + each.stderr for each in done]
    assert f"pip install --only-binary :all: --no-binary docopt,hdfs {wheel}\n" in [each.stdout for each in done]
    assert re.search(r"diff<<[0-9a-f]{32}\n### feedctl: no difference", output.read_text())


def test_what_is_still_a_placeholder_is_told_before_anything_is_installed(tmp_path: Path) -> None:
    placeholder = yaml.safe_load(WORKFLOW.read_text())["env"]["FEEDCTL"]
    done = _run(_scripts()[0], tmp_path, {"FEEDCTL": placeholder})
    assert (done.returncode, done.stdout.startswith("::error::FEEDCTL in .github/workflows/feedctl.yml")) == (1, True)


def test_what_is_built_from_source_has_no_wheel() -> None:
    """The lock has one digest for a package that has nothing but its source."""
    (names,) = re.findall(r"--no-binary (\S+)", WORKFLOW.read_text())
    lock = (ROOT / "requirements" / "dist.lock").read_text()
    for name in names.split(","):
        (pinned,) = re.findall(rf"^{name}==.*?(?=^\S|\Z)", lock, re.MULTILINE | re.DOTALL)
        assert pinned.count("--hash=") == 1
