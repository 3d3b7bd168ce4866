"""Java on this machine, which Spark and the client of a metastore start."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

LEAST_JAVA = 17
"""Spark 4 asks for it; Spark 3.5 is content with 8."""

_LOG = logging.getLogger(__name__)


def java_command(variables: Mapping[str, str]) -> str:
    """Return the `java` that Spark starts: that of JAVA_HOME, else that of PATH; empty: there is none on PATH."""
    home = variables.get("JAVA_HOME", "")
    return str(Path(home, "bin", "java")) if home else shutil.which("java", path=variables.get("PATH")) or ""


def missing_java(variables: Mapping[str, str]) -> str:
    """Return a sentence on what is missing; empty: there is a Java where Spark looks for one."""
    command, home = java_command(variables), variables.get("JAVA_HOME", "")
    if command and os.access(command, os.X_OK):
        return ""
    where = f"JAVA_HOME is {home}, which has no bin/java" if home else "JAVA_HOME is not set and PATH has no java"
    return (
        f"no Java was found: {where}; install Java {LEAST_JAVA} or newer (Debian: openjdk-17-jre-headless), "
        "or set JAVA_HOME"
    )


def warn_of_missing_java(variables: Mapping[str, str]) -> None:
    """Log that there is no Java, before Spark fails in its own words; its own settings may still name one."""
    problem = missing_java(variables)
    if problem:
        _LOG.warning('event=no_java problem="%s"', problem)
