"""The commands of the README work as they stand there; `tests/docs` has the other pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
_WITHOUT_A_JVM = 'spark-submit() { python "$@"; }\n'


def session(heading: str) -> str:
    """Return the first lines of the README below a heading that are to be typed, every character of them."""
    pattern = rf"^## {heading}$.*?^```sh$(.*?)^```$"
    found = re.search(pattern, (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_first_session_of_the_readme_works_line_by_line(tmp_path: Path) -> None:
    checkout = tmp_path / "feedctl"
    checkout.mkdir()
    (checkout / ".venv").symlink_to(sys.prefix)
    lines = session("A first session")
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
