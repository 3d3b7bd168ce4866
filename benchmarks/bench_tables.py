"""20,000 partitions of a table, metastore on PostgreSQL: their names, and all that is known of them.

What planning needs, against `SHOW PARTITIONS` through Spark SQL in a session that is up. Medians of several rounds
that take turns, on one metastore and in one Java. Goal: names no slower than `SHOW PARTITIONS`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median

from pyspark.sql import SparkSession

from tests.databases.postgresql import PostgresServer, running_postgres
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore_on_postgres import metastore_on, multiply_partition
from toolkit.catalog.model import TableName
from toolkit.catalog.port import BATCH, CatalogSpec, Metastore

PARTITIONS = 20_000
ROUNDS = 3
GOAL = 1.0
OURS, PEER, FETCHED = "names", "SHOW PARTITIONS", f"all of them, {BATCH} at once"
NAME = TableName("bench", "clicks")


def filled(metastore: Metastore, spec: CatalogSpec, postgres: PostgresServer, directory: str) -> None:
    """Have a table with its partitions, each in a directory of its own that is not there."""
    create_database(spec, NAME.database, f"file:{directory}")
    table = table_of(NAME, f"file:{directory}/clicks", ds="string", region="string")
    metastore.create_table(table)
    metastore.add_partitions(NAME, [partition_of(table, "first", "r", parameters={"numFiles": "1", "totalSize": "9"})])
    multiply_partition(postgres, PARTITIONS)
    metastore.drop_partitions(NAME, ["ds=first/region=r"])


@contextmanager
def spark(uri: str) -> Iterator[SparkSession]:
    """A session with Hive's tables."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.hadoop.hive.metastore.uris", uri).enableHiveSupport().getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def contestants(metastore: Metastore, session: SparkSession) -> Mapping[str, Callable[[], int]]:
    """What is timed; each says how many partitions it saw."""
    return {
        OURS: lambda: len(metastore.partition_names(NAME)),
        PEER: lambda: len(session.sql(f"SHOW PARTITIONS {NAME}").collect()),
        FETCHED: lambda: len(metastore.partitions(NAME, metastore.partition_names(NAME))),
    }


def medians(timed: Mapping[str, Callable[[], int]]) -> Mapping[str, float]:
    """Seconds by name; the names take turns, so that a busy machine slows all of them alike."""
    found: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(ROUNDS):
        for name, call in timed.items():
            began = time.perf_counter()
            assert call() == PARTITIONS
            found[name].append(time.perf_counter() - began)
    return {name: median(seconds) for name, seconds in found.items()}


def main() -> int:
    """The exit code: 1 when the goal was missed."""
    with running_postgres() as postgres, metastore_on(postgres) as uri, tempfile.TemporaryDirectory() as directory:
        spec = CatalogSpec(uris=uri)
        metastore = plain_metastore(spec)
        with spark(uri) as session:
            filled(metastore, spec, postgres, directory)
            found = medians(contestants(metastore, session))
    print(f"{PARTITIONS:,} partitions, metastore on PostgreSQL")
    for name, seconds in found.items():
        print(f"  {name:<30} {seconds:8.2f} s")
    factor = found[PEER] / found[OURS]
    print(f"names: {factor:.1f} times as fast as {PEER}, goal {GOAL:g}")
    return 0 if factor >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
