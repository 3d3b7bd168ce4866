from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

WORKFLOW = Path(__file__).parents[3] / "config_repo_template" / ".github" / "workflows" / "feedctl.yml"


def test_the_workflow_of_the_template_is_one_that_github_reads() -> None:
    program = str(Path(sys.executable).with_name("check-jsonschema"))
    command = [program, "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_workflow_lints_against_the_base_and_shows_the_difference() -> None:
    text = WORKFLOW.read_text()
    assert 'feedctl lint --all-envs --format github --against "$BASE"' in text
    assert 'feedctl entity diff "$BASE" --env prod --format markdown' in text
