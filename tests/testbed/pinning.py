"""`python -m tests.testbed.pinning` writes jars.sha256 anew, after a change of a pom.xml."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.testbed.jars import (
    ACTIVEMQ,
    ICEBERG,
    JDBC,
    KAFKA,
    METASTORE,
    METASTORE_4,
    METASTORE_EVENTS,
    OOZIE,
    Jars,
    copy_dependencies,
    sums_of,
)


def pin(jars: Jars) -> None:
    """Write the sums of what Maven brings now; look at the difference before you commit it."""
    with tempfile.TemporaryDirectory() as directory:
        copy_dependencies(jars.pom, Path(directory))
        found = sums_of(Path(directory))
    jars.sums.write_text("".join(f"{digest}  {name}\n" for name, digest in found.items()))


if __name__ == "__main__":
    for each in (Jars(), ACTIVEMQ, ICEBERG, JDBC, KAFKA, METASTORE, METASTORE_4, METASTORE_EVENTS, OOZIE):
        pin(each)
