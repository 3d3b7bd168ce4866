"""`.ci/java-home` against made-up Javas."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

SCRIPT = Path(__file__).resolve().parents[3] / ".ci" / "java-home"


def make_java(home: Path, version: str) -> Path:
    """A home whose `java` answers as one of that version does."""
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    properties = f"    java.home = {home}\\n    java.specification.version = {version}\\n"
    java.write_text(f"#!/bin/sh\nprintf '{properties}' >&2\n")
    java.chmod(0o755)
    return home


def java_home(jvm_dir: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The script's answer where no Java is on PATH."""
    tools = jvm_dir.parent / "tools"
    tools.mkdir()
    for tool in ("sh", "sed", "awk", "sort", "head"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    known = {"PATH": str(tools), "JVM_DIR": str(jvm_dir), **environment}
    return subprocess.run([SCRIPT], env=known, capture_output=True, text=True, check=False)


def test_the_lowest_version_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    for version in ("25", "1.8", "11", "17", "21"):
        make_java(tmp_path / "jvm" / f"java {version}", version)
    assert java_home(tmp_path / "jvm").stdout == f"{tmp_path}/jvm/java 17\n"


def test_java_home_comes_first_when_it_is_new_enough(tmp_path: Path) -> None:
    make_java(tmp_path / "jvm" / "java 17", "17")
    mine = make_java(tmp_path / "mine", "21")
    assert java_home(tmp_path / "jvm", JAVA_HOME=str(mine)).stdout == f"{mine}\n"


def test_an_old_java_home_is_passed_over(tmp_path: Path) -> None:
    good = make_java(tmp_path / "jvm" / "java 17", "17")
    old = make_java(tmp_path / "old", "1.8")
    assert java_home(tmp_path / "jvm", JAVA_HOME=str(old)).stdout == f"{good}\n"


def test_the_java_on_path_comes_before_the_jvm_directory(tmp_path: Path) -> None:
    make_java(tmp_path / "jvm" / "java 17", "17")
    on_path = make_java(tmp_path / "path", "21")
    path = os.pathsep.join([str(tmp_path / "tools"), str(on_path / "bin")])
    assert java_home(tmp_path / "jvm", PATH=path).stdout == f"{on_path}\n"


def test_without_a_usable_java_one_message_says_what_was_found_and_what_to_install(tmp_path: Path) -> None:
    old = make_java(tmp_path / "old", "1.8")
    answer = java_home(tmp_path / "jvm", JAVA_HOME=str(old))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.count("\n") == 1
    assert f"Java 8 in {old} is too old" in answer.stderr
    assert "apt-get install openjdk-17-jre-headless" in answer.stderr
