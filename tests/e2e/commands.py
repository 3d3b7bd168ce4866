"""Starts real programs from a given virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def run(*command: str | Path, cwd: Path, programs: Path = BIN, env: Mapping[str, str] | None = None) -> str:
    """The standard output of a command that succeeds; spark-submit starts the Python that comes first in `programs`."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    known = {**os.environ, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", **(env or {})}
    done = subprocess.run(command, cwd=cwd, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build_zip(directory: Path) -> Path:
    """The zip for `--py-files`, built into the directory."""
    run(sys.executable, ROOT / ".ci" / "pyfiles.py", directory, cwd=directory)
    (archive,) = directory.glob("*-pyfiles.zip")
    return archive
