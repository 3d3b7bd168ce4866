"""What README and guide tell a new user to type works as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_WITHOUT_A_JVM = 'spark-submit() { python "$@"; }\n'


def session(file: str, heading: str) -> str:
    """The first lines below a heading that are to be typed, every character of them."""
    pattern = rf"^## {heading}$.*?^```sh$(.*?)^```$"
    found = re.search(pattern, (ROOT / file).read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_first_session_of_the_readme_works_line_by_line(tmp_path: Path) -> None:
    checkout = tmp_path / "feedctl"
    checkout.mkdir()
    (checkout / ".venv").symlink_to(sys.prefix)
    lines = session("README.md", "A first session")
    for each in ("feedctl init ../", "feedctl lint", "spark-submit "):
        assert each in lines
    done = subprocess.run(
        ["bash", "-e", "-c", _WITHOUT_A_JVM + lines], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "my-feeds" / "repo.yaml").is_file()
    output = done.stdout.splitlines()
    assert "2010-01-01T20:40Z" in output
    assert 'what is wrong with it: "no findings"' in lines
    assert any(line.startswith("no findings") for line in output)
    assert any(str(tmp_path / "my-feeds-data") in line for line in output)
    assert list((tmp_path / "my-feeds").glob(".feedctl/*")) == []


@pytest.mark.extended
def test_the_first_repo_of_the_guide_works_line_by_line(tmp_path: Path) -> None:
    lines = session("docs/guide.md", "A first repo in 5 minutes")
    for each in ("feedctl init my-feeds --minimal", "feedctl entity new feed", "spark-submit "):
        assert each in lines
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    identity = {f"GIT_{role}_{what}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["bash", "-e", "-c", _WITHOUT_A_JVM + lines],
        cwd=tmp_path,
        env=dict(os.environ, PATH=path, **identity),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("no findings") == 2
    assert f"wrote {tmp_path}/my-feeds/feeds/orders.yaml" in done.stdout
    assert "/data/orders/2026/03/03" in done.stdout
    assert "2026-01-01T00:00Z" in done.stdout.partition("events on local")[2]
