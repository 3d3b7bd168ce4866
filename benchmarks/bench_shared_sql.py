"""24 hourly instances of a `spark_sql` process that are due: on one shared application, on one each, and by hand.

The whole process counts: `process.py --due`, and beside it a PySpark job that runs the same statements for the same
hours, one after the other, by one spark-submit. All take turns within one run. Four instances with an application each
stand for all: the seconds of an instance are compared.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.timing import spark_environment
from benchmarks.whole_process import PROGRAMS, ROOT
from tests.integration.process_runs import KEYS, Runs

GOAL_OWN, GOAL_PEER = 6.0, 1.3
OWN = 4
SETTINGS = "master: 'local[2]', conf: {spark.ui.enabled: false, spark.sql.shuffle.partitions: 2}"
SQL = """CREATE TEMPORARY VIEW clicks USING text OPTIONS (path '${clicks}');
INSERT OVERWRITE DIRECTORY '${counts}' USING json SELECT value, count(*) AS lines FROM clicks GROUP BY value;
"""
BY_HAND = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
for hour in sys.argv[3:]:
    session = spark.newSession()
    session.sql(f"CREATE TEMPORARY VIEW clicks USING text OPTIONS (path '{sys.argv[1]}/clicks/{hour}')")
    session.sql(f"INSERT OVERWRITE DIRECTORY '{sys.argv[2]}/{hour}' USING json "
                "SELECT value, count(*) AS lines FROM clicks GROUP BY value")
spark.stop()
"""


def ours(folder: Path, session: str, instances: int) -> float:
    """Return the seconds of `process.py --due`."""
    runs = Runs(directory=folder)
    workflow = f"workflow: {{engine: spark_sql, path: workflows/count.sql, spark: {{session: {session}, {SETTINGS}}}}}"
    runs.write(workflow, flag="")
    (folder / "repo/workflows/count.sql").write_text(SQL)
    runs.fill(*KEYS[:instances])
    command = [sys.executable, str(ROOT / "entrypoints/process.py")]
    command += runs.arguments("--due", time=KEYS[instances - 1])
    return seconds(command, {"FEEDCTL_LOG_DIR": str(folder / "logs")})


def by_hand(folder: Path, instances: int) -> float:
    """Return the seconds of the job that does the same."""
    runs = Runs(directory=folder)
    runs.fill(*KEYS[:instances])
    job = folder / "job.py"
    job.write_text(BY_HAND)
    conf = ["--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=2"]
    command = [str(PROGRAMS / "spark-submit"), "--master", "local[2]", *conf, str(job), str(folder / "data")]
    return seconds([*command, str(folder / "made"), *(runs.at("clicks", key).name for key in KEYS[:instances])], {})


def seconds(command: list[str], own: dict[str, str]) -> float:
    """Return how long a command takes, which must succeed."""
    begin = time.monotonic()
    subprocess.run(command, env={**os.environ, **own}, check=True, capture_output=True)
    return time.monotonic() - begin


def main() -> None:
    """Measure, print, and end with 1 when a goal is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--instances", type=int, default=24, choices=range(1, 25))
    given = options.parse_args()
    os.environ.update(spark_environment())
    found: dict[str, list[float]] = {"shared": [], "own": [], "by hand": []}
    counts = {"shared": given.instances, "own": min(given.instances, OWN), "by hand": given.instances}
    for number in range(given.rounds):
        for name, count in counts.items():
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder)
                taken = by_hand(place, count) if name == "by hand" else ours(place, name, count)
            found[name].append(taken / count)
            print(f"round {number + 1}: {name:8} {count:3} instances {taken:7.1f} s", flush=True)
    shared, own, peer = (median(found[name]) for name in ("shared", "own", "by hand"))
    print(f"{own / shared:.2f}x faster than an application each (goal {GOAL_OWN:g}x)")
    print(f"{shared / peer:.2f}x of the job by hand (goal {GOAL_PEER:g}x)")
    sys.exit(0 if own / shared >= GOAL_OWN and shared / peer <= GOAL_PEER else 1)


if __name__ == "__main__":
    main()
