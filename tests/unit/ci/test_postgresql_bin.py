"""`.ci/postgresql-bin` against made-up servers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "postgresql-bin"


def make_programs(directory: Path, *, status: int = 0) -> Path:
    """A directory with both programs; the server answers with that exit status."""
    directory.mkdir(parents=True)
    for name in ("initdb", "postgres"):
        (directory / name).write_text(f"#!/bin/sh\nexit {status}\n")
        (directory / name).chmod(0o755)
    return directory


def postgresql_bin(directory: Path, *on_path: Path) -> subprocess.CompletedProcess[str]:
    """The script's answer where only these directories are on PATH."""
    tools = directory / "tools"
    tools.mkdir()
    for tool in ("sh", "sort", "tail"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    known = {"PATH": os.pathsep.join(map(str, (*on_path, tools))), "POSTGRESQL_DIR": str(directory / "lib")}
    return subprocess.run([SCRIPT], env=known, capture_output=True, text=True, check=False)


def test_the_newest_version_is_taken(tmp_path: Path) -> None:
    for version in ("9.6", "15", "17", "16"):
        make_programs(tmp_path / "lib" / version / "bin")
    assert postgresql_bin(tmp_path).stdout == f"{tmp_path}/lib/17/bin\n"


def test_a_version_of_which_only_the_client_is_installed_is_passed_over(tmp_path: Path) -> None:
    good = make_programs(tmp_path / "lib" / "15" / "bin")
    (tmp_path / "lib" / "17" / "bin").mkdir(parents=True)
    assert postgresql_bin(tmp_path).stdout == f"{good}\n"


def test_the_one_on_path_comes_first(tmp_path: Path) -> None:
    make_programs(tmp_path / "lib" / "17" / "bin")
    mine = make_programs(tmp_path / "my programs")
    assert postgresql_bin(tmp_path, mine).stdout == f"{mine}\n"


def test_a_shim_on_path_that_starts_nothing_is_passed_over(tmp_path: Path) -> None:
    good = make_programs(tmp_path / "lib" / "15" / "bin")
    shim = make_programs(tmp_path / "shims", status=126)
    assert postgresql_bin(tmp_path, shim).stdout == f"{good}\n"


def test_without_a_server_one_line_says_where_it_was_looked_for_and_what_to_install(tmp_path: Path) -> None:
    answer = postgresql_bin(tmp_path)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.count("\n") == 1
    assert f"{tmp_path}/lib/*/bin" in answer.stderr
    assert "apt-get install postgresql" in answer.stderr
