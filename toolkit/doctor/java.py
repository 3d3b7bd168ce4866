"""The Java that Spark would take, found as `spark-submit` does, and where else there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from toolkit.doctor.findings import Finding, ok, warning

LEAST_JAVA = 17
"""Spark 4 asks for it; Spark 3.5 is content with 8."""

_SECONDS = 10
_VERSION = re.compile(r"^ *java\.version = (.+)$", re.MULTILINE)
_RELEASE = re.compile(r"^ *java\.specification\.version = (?:1\.)?(\d+)", re.MULTILINE)
_MACHINES = Path("/usr/lib/jvm")

JavaSettings = Callable[[str], str]
"""What a java command says of itself, empty when it does not run."""


def java_settings(command: str) -> str:
    """What ``java -XshowSettings:properties -version`` says."""
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own Java
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def java_findings(
    variables: Mapping[str, str], settings_of: JavaSettings = java_settings, machines: Path = _MACHINES
) -> Iterator[Finding]:
    """The Java of JAVA_HOME, else that of PATH, which are the two that Spark looks at.

    Args:
        variables: of the environment.
        settings_of: asks a java command.
        machines: where the system installs its Javas, for advice.
    """
    home = variables.get("JAVA_HOME", "")
    command = str(Path(home, "bin", "java")) if home else shutil.which("java", path=variables.get("PATH")) or ""
    settings = settings_of(command) if command else ""
    release = _RELEASE.search(settings)
    if release is None:
        where = f"JAVA_HOME={home} has none that runs" if home else "none in JAVA_HOME or on PATH"
        yield warning(where, todo=f"Spark needs Java {LEAST_JAVA} or newer: {_advice(settings_of, machines)}")
        return
    named = _VERSION.search(settings)
    found = f"{named[1] if named else release[1]} ({command})"
    if int(release[1]) < LEAST_JAVA:
        yield warning(found, todo=f"Spark 4 needs Java {LEAST_JAVA} or newer: {_advice(settings_of, machines)}")
    else:
        yield ok(found)


def _advice(settings_of: JavaSettings, machines: Path) -> str:
    for command in sorted(machines.glob("*/bin/java")):
        release = _RELEASE.search(settings_of(str(command)))
        if release is not None and int(release[1]) >= LEAST_JAVA:
            return f"set JAVA_HOME={command.parent.parent}"
    return "install one (Debian: openjdk-17-jre-headless), or set JAVA_HOME"
