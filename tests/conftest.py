"""What all tests share: a Java for those that start Spark, and how property tests run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no fault of the code: how long an example takes is nowhere a test.
settings.register_profile("feedctl", deadline=None, print_blob=True)
settings.load_profile("feedctl")

LOWEST_JAVA = 17


def _candidates() -> Iterator[Path]:
    """JAVA_HOME, the java on PATH, then what the system has installed; the same order as `.ci/java-home`."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parents[1]
    yield from sorted(Path("/usr/lib/jvm").glob("*/"))


def _version(home: Path) -> int:
    """The major version of a Java; 0 when it does not run."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return 0
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr)
    return int(found[1]) if found and done.returncode == 0 else 0


@pytest.fixture(scope="session")
def java_home() -> Path:
    """The home of a Java that Spark can use; a machine without one skips the tests that ask for it."""
    for home in _candidates():
        if _version(home) >= LOWEST_JAVA:
            return home
    pytest.skip(f"no Java {LOWEST_JAVA} or newer found (Debian: apt-get install openjdk-17-jre-headless)")
