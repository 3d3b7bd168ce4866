"""What `feedctl export oozie` writes is valid by Oozie's own schemas."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.commands import ROOT
from tests.testbed import java
from tests.testbed.fixtures import needing_programs
from tests.testbed.jars import OOZIE
from toolkit.cli.main import main

SCHEMAS = (
    "oozie-bundle-0.2.xsd",
    "oozie-coordinator-0.4.xsd",
    "oozie-workflow-0.5.xsd",
    "shell-action-0.3.xsd",
)
VALIDATE = ROOT / "tests" / "testbed" / "oozie" / "Validate.java"

pytestmark = pytest.mark.extended


def validated(folder: Path) -> list[str]:
    """What Java's validator says of all XML files below a folder."""
    with needing_programs():
        (jar,) = OOZIE.fetched().glob("oozie-client-*.jar")
        program = java.java_home() / "bin" / "java"
    ran = subprocess.run([program, VALIDATE, jar, folder, *SCHEMAS], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_all_files_of_the_template_are_valid(tmp_path: Path) -> None:
    repo = ROOT / "config_repo_template"
    assert main(["export", "oozie", "--config-repo", str(repo), "--env", "prod", "--into", str(tmp_path)]) == 0
    assert validated(tmp_path) == [f"{len(list(tmp_path.rglob('*.xml')))} files"]


def test_what_is_not_valid_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "workflow.xml").write_text('<workflow-app xmlns="uri:oozie:workflow:0.5" name="x"/>')
    fault, count = validated(tmp_path)
    assert "The content of element 'workflow-app' is not complete" in fault
    assert count == "1 files"
