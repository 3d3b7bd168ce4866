"""`.ci/python` against made-up interpreters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "python"


def make_program(directory: Path, name: str, body: str) -> None:
    """An executable shell script."""
    (directory / name).write_text(f"#!/bin/sh\n{body}\n")
    (directory / name).chmod(0o755)


def find_python(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script's answer where only `path` is searched."""
    return subprocess.run(
        ["/bin/sh", SCRIPT], env={"PATH": str(path), **environment}, capture_output=True, text=True, check=False
    )


def test_a_shim_that_starts_nothing_is_passed_over(tmp_path: Path) -> None:
    make_program(tmp_path, "python3.11", "echo 'command not found' >&2; exit 127")
    make_program(tmp_path, "python3.13", f'exec "{sys.executable}" "$@"')
    answer = find_python(tmp_path)
    assert (answer.returncode, answer.stdout) == (0, f"{sys.executable}\n")


def test_a_named_python_is_the_only_candidate(tmp_path: Path) -> None:
    make_program(tmp_path, "python3.11", f'exec "{sys.executable}" "$@"')
    make_program(tmp_path, "mine", "exit 1")
    answer = find_python(tmp_path, PYTHON="mine")
    assert answer.returncode == 1
    assert "tried: mine" in answer.stderr


def test_a_python_without_venv_is_named_with_what_to_install(tmp_path: Path) -> None:
    make_program(tmp_path, "python3.11", 'case "$*" in *ensurepip*) exit 1 ;; esac')
    answer = find_python(tmp_path)
    assert answer.returncode == 1
    assert answer.stderr == (
        "feedctl: python3.11 has no venv module; install it (Debian: apt-get install python3-venv)\n"
    )


def test_without_any_python_one_line_says_what_was_tried(tmp_path: Path) -> None:
    answer = find_python(tmp_path)
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert "tried: python3.11 python3.12 python3.13 python3 python" in answer.stderr
