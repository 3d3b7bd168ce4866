"""The jars of servers: got by Maven once, checked against the committed sums, kept outside the tree.

`python -m tests.testbed.jars` gets all of them, or says why it cannot.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.testbed import java
from tests.testbed.missing import Missing, NoMaven

_HERE = Path(__file__).resolve().parent
_SECONDS = 900
_DIGEST_CHARACTERS = 16
_MOST_CHARACTERS = 4000


class WrongJars(Exception):  # noqa: N818 - named for what was found
    """Maven brought something else than `jars.sha256` pins; `names` are the jars."""

    def __init__(self, *, names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__(
            f"these jars are missing, differ from jars.sha256 or are not in it: {', '.join(names)}; after a change of "
            "pom.xml, `python -m tests.testbed.pinning` writes jars.sha256 anew"
        )


class MavenFailed(Exception):  # noqa: N818
    """Maven could not get the jars of a pom; `output` is what it wrote."""

    def __init__(self, *, pom: Path, output: str) -> None:
        self.pom, self.output = pom, output
        super().__init__(f"Maven could not get the jars of {pom}; it said:\n{output}")


def default_cache() -> Path:
    """Return the folder of the downloads: under XDG_CACHE_HOME, else ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "feedctl" / "testbed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Jars:
    """The jars of one pom.

    Args:
        pom: Maven's description of them; its packaging is `pom`.
        sums: lines of `SHA-256  NAME`, one for every jar.
        cache: each version of the two files has a directory in it.
    """

    pom: Path = _HERE / "pom.xml"
    sums: Path = _HERE / "jars.sha256"
    cache: Path = field(default_factory=default_cache)

    @property
    def directory(self) -> Path:
        """Folder of exactly these jars; it exists only when they are complete and checked."""
        digest = hashlib.sha256(self.pom.read_bytes() + self.sums.read_bytes()).hexdigest()
        return self.cache / digest[:_DIGEST_CHARACTERS]

    def check_available(self) -> None:
        """Find out, without getting anything, whether `fetched` can work.

        Raises:
            Missing: the jars are not there yet and there is no Maven.
        """
        if not self.directory.is_dir() and not shutil.which("mvn"):
            raise NoMaven(directory=self.directory)

    def fetched(self) -> Path:
        """Their directory; Maven gets them when it is not there yet.

        Raises:
            Missing: there is no Maven, or no Java.
            MavenFailed: it could not get them.
            WrongJars: it brought others.
        """
        self.check_available()
        self.cache.mkdir(parents=True, exist_ok=True)
        with one_at_a_time(self.cache / "lock"):
            if not self.directory.is_dir():
                self._fetch()
        return self.directory

    def _fetch(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="new-") as new:
            made = Path(new, "jars")
            copy_dependencies(self.pom, made)
            compare(sums_of(made), read_sums(self.sums))
            made.rename(self.directory)


ACTIVEMQ = Jars(pom=_HERE / "activemq" / "pom.xml", sums=_HERE / "activemq" / "jars.sha256")
"""Those of the message broker; without a choice they are Hadoop's."""
ICEBERG = Jars(pom=_HERE / "iceberg" / "pom.xml", sums=_HERE / "iceberg" / "jars.sha256")
"""Iceberg in Spark, with the driver of an SQL catalog on SQLite."""
JDBC = Jars(pom=_HERE / "jdbc" / "pom.xml", sums=_HERE / "jdbc" / "jars.sha256")
"""JDBC drivers of PostgreSQL and MariaDB."""
KAFKA = Jars(pom=_HERE / "kafka" / "pom.xml", sums=_HERE / "kafka" / "jars.sha256")
"""The jars of a Kafka broker."""
METASTORE = Jars(pom=_HERE / "metastore" / "pom.xml", sums=_HERE / "metastore" / "jars.sha256")
"""What a metastore needs beside pyspark's own."""
METASTORE_EVENTS = Jars(pom=_HERE / "metastore_events" / "pom.xml", sums=_HERE / "metastore_events" / "jars.sha256")
"""The listener with which a metastore of Hive 2 keeps notification events."""
METASTORE_4 = Jars(pom=_HERE / "metastore_4" / "pom.xml", sums=_HERE / "metastore_4" / "jars.sha256")
"""A metastore of Hive 4; it needs Hadoop's too."""

OOZIE = Jars(pom=_HERE / "oozie" / "pom.xml", sums=_HERE / "oozie" / "jars.sha256")
"""Oozie's client, which has the schemas of its XML."""


def copy_dependencies(pom: Path, target: Path) -> None:
    """Have Maven copy all jars of a pom; which repository they come from is the affair of its own settings.

    Raises:
        MavenFailed: with what Maven said.
    """
    copied = subprocess.run(
        ["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={target}"],
        env={**os.environ, **java.environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
    )
    if copied.returncode:
        raise MavenFailed(pom=pom, output=f"{copied.stdout}{copied.stderr}"[-_MOST_CHARACTERS:])


def sums_of(directory: Path) -> dict[str, str]:
    """Name and SHA-256 of each jar."""
    return {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in sorted(directory.glob("*.jar"))}


def read_sums(sums: Path) -> dict[str, str]:
    """The names and sums in a file as `sha256sum` writes it."""
    lines = (line.split() for line in sums.read_text().splitlines())
    return {name: digest for digest, name in lines}


def compare(found: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """Check that exactly the expected jars were found.

    Raises:
        WrongJars: naming each that is missing, other or unknown.
    """
    wrong = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
    if wrong:
        raise WrongJars(names=wrong)


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Run a block in one process at a time."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        for each in (Jars(), METASTORE, JDBC, KAFKA, ICEBERG, ACTIVEMQ, METASTORE_4, METASTORE_EVENTS, OOZIE):
            each.fetched()
    except (Missing, MavenFailed, WrongJars, subprocess.SubprocessError) as failure:
        sys.exit(f"feedctl: {failure}")
