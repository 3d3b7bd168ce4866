"""Tests of the search for Java: what Spark would start, and one sentence when it would find none."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from toolkit.java import java_command, missing_java, warn_of_missing_java


def _java_in(folder: Path) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\n")
    (folder / "bin" / "java").chmod(0o755)
    return folder


def test_the_java_of_java_home_counts_before_that_of_path(tmp_path: Path) -> None:
    home, other = _java_in(tmp_path / "home"), _java_in(tmp_path / "other")
    variables = {"JAVA_HOME": str(home), "PATH": str(other / "bin")}
    assert java_command(variables) == str(home / "bin" / "java")
    assert java_command({"PATH": str(other / "bin")}) == str(other / "bin" / "java")
    assert missing_java(variables) == missing_java({"PATH": str(other / "bin")}) == ""


@pytest.mark.parametrize(
    ("variables", "where"),
    [
        ({"PATH": "/nonexistent"}, "JAVA_HOME is not set and PATH has no java"),
        ({"JAVA_HOME": "/nonexistent", "PATH": "/bin"}, "JAVA_HOME is /nonexistent, which has no bin/java"),
    ],
)
def test_a_missing_java_is_one_sentence_that_says_what_to_do(
    variables: dict[str, str], where: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        warn_of_missing_java(variables)
    (line,) = caplog.messages
    assert f"no Java was found: {where}; install Java 17 or newer" in line
    assert line.endswith('or set JAVA_HOME"')
