"""The Java that runs the servers."""

from __future__ import annotations

import os
import pwd
import subprocess
from functools import cache
from pathlib import Path

from tests.testbed.missing import Missing

_FIND = Path(__file__).resolve().parents[2] / ".ci" / "java-home"
_SECONDS = 60


@cache
def java_home() -> Path:
    """The home of a Java that Hadoop and Spark can use.

    Raises:
        Missing: there is none.
    """
    found = subprocess.run([_FIND], capture_output=True, text=True, check=False, timeout=_SECONDS)
    if found.returncode:
        raise Missing(found.stderr.strip())
    return Path(found.stdout.strip())


def environment() -> dict[str, str]:
    """Return what a server gets: nothing of HADOOP_*, SPARK_* or the locale of whoever runs the tests."""
    home = java_home()
    return {
        "JAVA_HOME": str(home),
        "PATH": f"{home / 'bin'}:{os.environ.get('PATH', os.defpath)}",
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C.UTF-8",  # file names are not ASCII
    }


def account() -> str:
    """The name of the user whom the servers run as, and so HDFS's superuser."""
    return pwd.getpwuid(os.geteuid()).pw_name
