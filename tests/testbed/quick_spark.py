"""A Spark that starts with a third of the work; most that tests start live for seconds, which a compiler would take."""

from __future__ import annotations

import sys
from pathlib import Path

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ARCHIVE = Path(sys.prefix) / "spark.jsa"


def quick_spark() -> dict[str, str]:
    """Return what the environment of spark-submit says.

    `.ci/spark-archive` makes the archive of classes. Java does without one that is not there, or is not of its Spark.
    """
    archive = f"-XX:SharedArchiveFile={_ARCHIVE} -Xlog:cds=off -Xlog:cds+dynamic=off"
    return {"SPARK_LAUNCHER_OPTS": QUICK_JAVA, "SPARK_SUBMIT_OPTS": f"{QUICK_JAVA} {archive}"}
