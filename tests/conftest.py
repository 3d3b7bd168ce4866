"""What all tests share: a Java for those that start Spark, and how property tests run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no fault of the code: how long an example takes is nowhere a test.
settings.register_profile("feedctl", deadline=None, print_blob=True)
settings.load_profile("feedctl")

FIND_JAVA = Path(__file__).resolve().parents[1] / ".ci" / "java-home"


@pytest.fixture(scope="session")
def java_home() -> Path:
    """The home of a Java that Spark can use; a machine without one skips the tests that ask for it."""
    found = subprocess.run([FIND_JAVA], capture_output=True, text=True, check=False, timeout=60)
    if found.returncode:
        pytest.skip(found.stderr.strip())
    return Path(found.stdout.strip())
