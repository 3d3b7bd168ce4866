"""A table of 20,000 partitions (`--partitions`), of which 2,000 (`--evicted`) go with their data.

The metastore is on PostgreSQL, the data on this machine.

A whole run of retention (plan, ledger, metadata, data) in this process against `ALTER TABLE ... DROP PARTITION` of a
managed table through Spark SQL in a session that is up: one partition a statement, and 500. One a statement is timed
over a tenth of them. Medians of several rounds (`--rounds`) that take turns. Goals: 5 times as fast as one each, and 3
times as fast as 500 a statement.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks.bench_tables import spark
from tests.databases.postgresql import PostgresServer, running_postgres
from tests.e2e.in_process import APP
from tests.e2e.table_site import CLUSTER, FEED
from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore_on_postgres import metastore_on, multiply_partition
from toolkit.catalog.model import Partition, Table, TableKind, TableName
from toolkit.catalog.port import BATCH, CatalogSpec, Metastore
from toolkit.cli.boundary import run_app

REGIONS, SAMPLE = 10, 10
NAME = TableName("bench", "evicted")
OURS, ONE_EACH, BATCHED = "retention", "DROP PARTITION, one each", f"DROP PARTITION, {BATCH} at once"
GOALS = {ONE_EACH: 5.0, BATCHED: 3.0}
TIME, LIMIT = date(2026, 3, 20), 100


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """How much is measured.

    Attributes:
        partitions: of the table at the start of each turn.
        evicted: so many of them go.
        rounds: so many turns has each.
    """

    partitions: int
    evicted: int
    rounds: int


@dataclass(frozen=True, kw_only=True)
class Site:
    """The table, and a config repo with a feed of it."""

    metastore: Metastore
    table: Table
    repo: Path

    @classmethod
    def make(cls, uri: str, directory: Path) -> Site:
        """Both, without partitions."""
        metastore = plain_metastore(CatalogSpec(uris=uri))
        create_database(CatalogSpec(uris=uri), NAME.database, f"file:{directory}")
        made = table_of(NAME, f"file:{directory}/evicted", ds="string", region="string")
        table = replace(made, kind=TableKind.MANAGED, parameters={})
        metastore.create_table(table)
        repo = directory / "repo"
        keys = "ds=${YEAR}-${MONTH}-${DAY}"
        feed = FEED.format(name="clicks", table=NAME.table, database=NAME.database, keys=keys, cluster="primary")
        documents = {
            "repo.yaml": f"name: bench\nledger: sqlite:///{directory}/ledger.db\n",
            "clusters/primary.yaml": CLUSTER.format(name="primary", default_fs="file:///", registry=uri),
            "feeds/clicks.yaml": feed.replace("days(10)", f"days({LIMIT})"),
        }
        for name, text in documents.items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        return cls(metastore=metastore, table=table, repo=repo)

    def fill(self, postgres: PostgresServer, first: date, count: int) -> None:
        """So many partitions, one a region of each day from the first on, whose directories are not there."""
        self.metastore.add_partitions(NAME, [partition_of(self.table, "first", "r", parameters={"numFiles": "1"})])
        multiply_partition(postgres, count, first)
        self.metastore.drop_partitions(NAME, ["ds=first/region=r"])

    def add(self, partitions: Iterable[Partition]) -> None:
        """With a file in each."""
        left = iter(partitions)
        while batch := list(itertools.islice(left, BATCH)):
            self.metastore.add_partitions(NAME, batch)
            for each in batch:
                place = Path(each.location.removeprefix("file:"))
                place.mkdir(parents=True, exist_ok=True)
                (place / "part-0").write_text("1\n")

    def partitions(self, days: Iterable[date]) -> list[Partition]:
        """One a region of each day."""
        return [partition_of(self.table, str(day), f"r{number}") for day in days for number in range(REGIONS)]


def contestants(site: Site, session: SparkSession, old: Sequence[Partition]) -> Mapping[str, Callable[[], float]]:
    """What is timed; each gives the seconds for all that go, and leaves nothing of it."""

    def retention() -> None:
        options = ("--config-repo", str(site.repo), "--time", f"{TIME}T00:00Z", "--feed", "clicks", "--quiet")
        assert run_app(APP, list(options)) == 0

    def drop(partitions: Sequence[Partition], at_once: int) -> None:
        for first in range(0, len(partitions), at_once):
            specs = (
                f"PARTITION (ds='{ds}', region='{region}')"
                for ds, region in map(_values, partitions[first : first + at_once])
            )
            session.sql(f"ALTER TABLE {NAME} DROP {', '.join(specs)}")

    def one_each() -> float:
        sample = old[::SAMPLE]
        seconds = _seconds(lambda: drop(sample, 1)) * len(old) / len(sample)
        drop([each for each in old if each not in sample], BATCH)
        return seconds

    return {
        OURS: lambda: _seconds(retention),
        ONE_EACH: one_each,
        BATCHED: lambda: _seconds(lambda: drop(old, BATCH)),
    }


def _values(partition: Partition) -> tuple[str, str]:
    ds, region = partition.values
    return ds, region


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def measured(site: Site, session: SparkSession, postgres: PostgresServer, sizes: Sizes) -> Mapping[str, float]:
    """Median seconds by name."""
    horizon, left = TIME - timedelta(days=LIMIT), sizes.partitions - sizes.evicted
    old = site.partitions(horizon - timedelta(days=number + 1) for number in range(sizes.evicted // REGIONS))
    site.fill(postgres, horizon, left)
    found: dict[str, list[float]] = {}
    for _ in range(sizes.rounds):
        for name, call in contestants(site, session, old).items():
            site.add(old)
            found.setdefault(name, []).append(call())
            assert len(site.metastore.partition_names(NAME)) == left
    return {name: median(seconds) for name, seconds in found.items()}


def main() -> int:
    """The exit code: 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=20_000)
    parser.add_argument("--evicted", type=int, default=2_000, help=f"a multiple of {REGIONS}")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sizes = Sizes(partitions=options.partitions, evicted=options.evicted, rounds=options.rounds)
    with running_postgres() as postgres, metastore_on(postgres) as uri, tempfile.TemporaryDirectory() as directory:
        site = Site.make(uri, Path(directory))
        with spark(uri) as session:
            found = measured(site, session, postgres, sizes)
    print(f"{sizes.evicted:,} of {sizes.partitions:,} partitions go, with a file each:")
    for name, seconds in found.items():
        print(f"  {name:<30} {seconds:8.2f} s")
    factors = {name: found[name] / found[OURS] for name in GOALS}
    for name, factor in factors.items():
        print(f"{OURS}: {factor:.1f} times as fast as {name}, goal {GOALS[name]:g}")
    return 0 if all(factors[name] >= goal for name, goal in GOALS.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
