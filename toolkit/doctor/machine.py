"""The machine that this process is on: Python, Java, the library of Kerberos, room for temporary files."""

from __future__ import annotations

import ctypes.util
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator

from toolkit import __version__
from toolkit.doctor.findings import Finding, ok, skipped, warning

_LEAST_FREE = 1 << 30


def python_findings() -> Iterator[Finding]:
    """Which feedctl runs in which Python."""
    yield ok(__version__, what="feedctl")
    yield ok(f"{platform.python_version()} ({sys.executable})", what="Python")
    yield ok(f"{platform.platform()}, {platform.machine()}", what="platform")


def kerberos_library() -> Iterator[Finding]:
    """Whether the library is there that HDFS with Kerberos loads."""
    found = ctypes.util.find_library("gssapi_krb5")
    if found:
        yield ok(found)
    else:
        todo = "for clusters with Kerberos install it (Debian: libgssapi-krb5-2)"
        yield skipped("libgssapi_krb5 is not there", todo=todo)


def temporary_space(directory: str | None = None, least: int = _LEAST_FREE) -> Iterator[Finding]:
    """How much room there is for temporary files.

    Args:
        directory: None: that of the system (TMPDIR).
        least: fewer free bytes are worth a warning.
    """
    place = directory or tempfile.gettempdir()
    free = shutil.disk_usage(place).free
    found = f"{free / (1 << 30):.1f} GiB free in {place}"
    yield ok(found) if free >= least else warning(found, todo="free some room, or let TMPDIR name another directory")
