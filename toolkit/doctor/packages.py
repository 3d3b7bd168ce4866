"""Which packages this Python has, and which extra would bring those that it lacks."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from toolkit import __version__
from toolkit.doctor.findings import Finding, failed, ok, skipped

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
    Package(name="obstore", purpose="Google's and Azure's object stores", extras=("gcs", "azure")),
)

COMPARED = ("feedctl", "hdfs-native", "botocore", "tzdata")
"""Those that must be alike on the driver and on the executors, beside Python."""


def installed_version(name: str) -> str | None:
    """The version of an installed distribution; None: there is none."""
    if name == "feedctl":
        return __version__
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def package_findings(version_of: Versions = installed_version) -> Iterator[Finding]:
    """One finding for each package that feedctl can use."""
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
    """What must be alike on the driver and on the executors."""
    packages = {name: version_of(name) or "missing" for name in COMPARED}
    return {"Python": platform.python_version(), **packages}


def _bundled_hadoop() -> str:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        return "unknown"
    names = sorted((Path(spec.origin).parent / "jars").glob("hadoop-client-api-*.jar"))
    return names[0].stem.removeprefix("hadoop-client-api-") if names else "unknown"
