"""A table of 20,000 partitions, metastores on PostgreSQL: its names and definitions, its export and its import.

Names are what planning needs, against `SHOW PARTITIONS` through Spark SQL in a session that is up. Medians of several
rounds that take turns, on one metastore and in one Java. Goal: names no slower than `SHOW PARTITIONS`.

Export and import of the whole table (`table_exchange`), whole runs in this process, once each. Goal: 200 partitions a
second. The metastore alone decides how many partitions a second it adds; `MSCK REPAIR TABLE` shows what that is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks.table_exchange import COPIED, EXPORTED, IMPORTED, REPAIRED, Exchange
from tests.databases.postgresql import PostgresServer, running_postgres
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore_on_postgres import metastore_on, multiply_partition
from toolkit.catalog.model import TableName
from toolkit.catalog.port import BATCH, CatalogSpec, Metastore

PARTITIONS = 20_000
ROUNDS = 3
GOAL, RATE_GOAL = 1.0, 200.0
NAMES, EXCHANGE = "names", "exchange"
OURS, PEER, FETCHED = "names", "SHOW PARTITIONS", f"all of them, {BATCH} at once"
NAME = TableName("bench", "clicks")


def filled(metastore: Metastore, spec: CatalogSpec, postgres: PostgresServer, directory: str, partitions: int) -> None:
    """Have a table with its partitions, each in a directory of its own that is not there."""
    create_database(spec, NAME.database, f"file:{directory}")
    table = table_of(NAME, f"file:{directory}/clicks", ds="string", region="string")
    metastore.create_table(table)
    metastore.add_partitions(NAME, [partition_of(table, "first", "r", parameters={"numFiles": "1", "totalSize": "9"})])
    multiply_partition(postgres, partitions)
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


def medians(timed: Mapping[str, Callable[[], int]], partitions: int) -> Mapping[str, float]:
    """Seconds by name; the names take turns, so that a busy machine slows all of them alike."""
    found: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(ROUNDS):
        for name, call in timed.items():
            began = time.perf_counter()
            assert call() == partitions
            found[name].append(time.perf_counter() - began)
    return {name: median(seconds) for name, seconds in found.items()}


def names_compared(partitions: int) -> bool:
    """Print the figures of names; True if the goal is met."""
    with running_postgres() as postgres, metastore_on(postgres) as uri, tempfile.TemporaryDirectory() as directory:
        spec = CatalogSpec(uris=uri)
        metastore = plain_metastore(spec)
        with spark(uri) as session:
            filled(metastore, spec, postgres, directory, partitions)
            found = medians(contestants(metastore, session), partitions)
    print(f"{partitions:,} partitions, metastore on PostgreSQL")
    for name, seconds in found.items():
        print(f"  {name:<30} {seconds:8.2f} s")
    factor = found[PEER] / found[OURS]
    print(f"names: {factor:.1f} times as fast as {PEER}, goal {GOAL:g}")
    return factor >= GOAL


def exchange_compared(partitions: int) -> bool:
    """Print the figures of an export and an import; True if both goals are met."""
    with (
        running_postgres() as postgres,
        metastore_on(postgres) as source,
        metastore_on(postgres, "metastore_of_target") as target,
        tempfile.TemporaryDirectory() as directory,
    ):
        exchange = Exchange.make((source, target), Path(directory), postgres, partitions)
        with spark(target) as session:
            found = exchange.measured(session)
    print(f"{partitions:,} partitions with a small file each, from one metastore to another")
    for name, seconds in found.items():
        print(f"  {name:<30} {seconds:8.2f} s {partitions / seconds:8.0f} a second")
    print(f"{EXPORTED}: {found[EXPORTED] / found[COPIED]:.1f} times the seconds of a {COPIED}")
    by_hand = found[COPIED] + found[REPAIRED]
    print(f"{IMPORTED}: {by_hand / found[IMPORTED]:.2f} times as fast as by hand (copy, then {REPAIRED})")
    return all(partitions / found[name] >= RATE_GOAL for name in (EXPORTED, IMPORTED))


def main() -> int:
    """The exit code: 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=(NAMES, EXCHANGE), help="one of them alone")
    parser.add_argument("--partitions", type=int, default=PARTITIONS)
    given = parser.parse_args()
    parts = {NAMES: names_compared, EXCHANGE: exchange_compared}
    met = [compare(given.partitions) for name, compare in parts.items() if given.part in {None, name}]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
