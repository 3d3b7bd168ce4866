"""The machine that this process is on: Python and its packages, Java, the library of Kerberos, room for files."""

from __future__ import annotations

import ctypes.util
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from toolkit import __version__
from toolkit.doctor.findings import CheckResult, failed, ok, skipped, warning
from toolkit.java import LEAST_JAVA, java_command
from toolkit.variables import Variables

_LEAST_FREE = 1 << 30


def python_findings() -> Iterator[CheckResult]:
    """Yield the versions of feedctl and Python."""
    yield ok(__version__, what="feedctl")
    yield ok(f"{platform.python_version()} ({sys.executable})", what="Python")
    yield ok(f"{platform.platform()}, {platform.machine()}", what="platform")


def kerberos_library() -> Iterator[CheckResult]:
    """Return whether the library is installed that HDFS loads for Kerberos."""
    found = ctypes.util.find_library("gssapi_krb5")
    if found:
        yield ok(found)
    else:
        todo = "for clusters with Kerberos install it (Debian: libgssapi-krb5-2)"
        yield skipped("libgssapi_krb5 is not there", todo=todo)


def temporary_space(directory: str | None = None, least: int = _LEAST_FREE) -> Iterator[CheckResult]:
    """Check the room for temporary files.

    Args:
        directory: None: that of the system (TMPDIR).
        least: fewer free bytes are worth a warning.
    """
    place = directory or tempfile.gettempdir()
    free = shutil.disk_usage(place).free
    found = f"{free / (1 << 30):.1f} GiB free in {place}"
    yield ok(found) if free >= least else warning(found, todo="free some room, or let TMPDIR name another directory")


_SECONDS = 10
_VERSION = re.compile(r"^ *java\.version = (.+)$", re.MULTILINE)
_RELEASE = re.compile(r"^ *java\.specification\.version = (?:1\.)?(\d+)", re.MULTILINE)
_MACHINES = Path("/usr/lib/jvm")

JavaSettings = Callable[[str], str]
"""Function that returns the report of a java command, empty when it does not run."""


def java_settings(variables: Variables, command: str) -> str:
    """Return the output of ``java -XshowSettings:properties -version``."""
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own Java
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            env=variables,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def java_findings(variables: Variables, settings_of: JavaSettings, machines: Path = _MACHINES) -> Iterator[CheckResult]:
    """The Java of JAVA_HOME, else that of PATH, which are the two that Spark looks at.

    Args:
        variables: of the environment.
        settings_of: asks a java command.
        machines: where the system installs its Javas, for advice.
    """
    home = variables.get("JAVA_HOME", "")
    command = java_command(variables)
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


Versions = Callable[[str], str | None]
"""The version of a distribution; None: it is not installed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """A package that feedctl uses.

    Attributes:
        name: of the distribution.
        purpose: what it is for.
        extras: those that bring it; empty: it must be there.
    """

    name: str
    purpose: str
    extras: tuple[str, ...] = ()


PACKAGES = (
    Package(name="hdfs-native", purpose="HDFS"),
    Package(name="hdfs", purpose="WebHDFS"),
    Package(name="botocore", purpose="S3"),
    Package(name="sqlalchemy", purpose="the ledger"),
    Package(name="tzdata", purpose="time zones"),
    Package(name="pyspark", purpose="Spark", extras=("spark",)),
    Package(name="psycopg", purpose="a ledger on PostgreSQL", extras=("postgresql",)),
    Package(name="requests-kerberos", purpose="WebHDFS with Kerberos", extras=("kerberos",)),
    Package(name="google-auth", purpose="Google Cloud Storage", extras=("gcs",)),
    Package(name="azure-identity", purpose="Azure without the key of the account", extras=("azure",)),
)

COMPARED = ("feedctl", "hdfs-native", "botocore", "tzdata")
"""Packages that must be alike on the driver and on the executors, beside Python."""


def installed_version(name: str) -> str | None:
    """The version of an installed distribution; None: there is none."""
    if name == "feedctl":
        return __version__
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def package_findings(version_of: Versions = installed_version) -> Iterator[CheckResult]:
    """Yield one finding for each package that feedctl can use."""
    for package in PACKAGES:
        found = version_of(package.name)
        if found is not None:
            hadoop = f", with Hadoop {_bundled_hadoop()}" if package.name == "pyspark" else ""
            yield ok(f"{found}{hadoop}", what=package.name)
        elif package.extras:
            extras = " or ".join(f"feedctl[{extra}]" for extra in package.extras)
            yield skipped("not installed", todo=f"for {package.purpose} install {extras}", what=package.name)
        else:
            todo = f"{package.purpose} needs it: install feedctl again, with its dependencies"
            yield failed("not installed", todo=todo, what=package.name)


def compared_versions(version_of: Versions = installed_version) -> dict[str, str]:
    """Return the versions that must be alike on the driver and on the executors."""
    packages = {name: version_of(name) or "missing" for name in COMPARED}
    return {"Python": platform.python_version(), **packages}


def _bundled_hadoop() -> str:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return "unknown"
    names = sorted((Path(spec.origin).parent / "jars").glob("hadoop-client-api-*.jar"))
    return names[0].stem.removeprefix("hadoop-client-api-") if names else "unknown"
