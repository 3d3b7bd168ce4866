"""`.ci/no-registry-hosts` in a tree of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "no-registry-hosts"


def check(tree: Path) -> subprocess.CompletedProcess[str]:
    """Return what the check says of a tree."""
    (tree / ".ci").mkdir()
    copied = shutil.copy(SCRIPT, tree / ".ci")
    return subprocess.run([copied], capture_output=True, text=True, check=False)


HOSTS = ["pypi_org", "registry_npmjs_org", "repo1_maven_org", "proxy_golang_org"]
"""With _ for the dots, or this file would be found."""


@pytest.mark.parametrize("host", HOSTS)
def test_a_file_that_names_a_registry_is_found(tmp_path: Path, host: str) -> None:
    (tmp_path / "settings.toml").write_text(f'url = "https://{host.replace("_", ".")}/simple"\n')
    answer = check(tmp_path)
    assert answer.returncode == 1
    assert "settings.toml:1:" in answer.stdout


def test_a_tree_that_names_none_passes_and_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('url = "https://example.com"\nmodule = "maven"\n')
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "METADATA").write_text("https://" + HOSTS[0].replace("_", "."))
    answer = check(tmp_path)
    assert (answer.returncode, answer.stdout) == (0, "")
