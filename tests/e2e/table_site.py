"""Table feeds on a real metastore: a config repo, tables that Spark made, and what is left of them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from tests.tables.databases import create_database, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore import HiveMetastoreServer
from toolkit.catalog.model import Table, TableName
from toolkit.catalog.port import Metastore

CLUSTER = """\
kind: cluster
name: {name}
locations: {{tables: ["{default_fs}"]}}
interfaces:
  write: {{endpoint: "{default_fs}"}}
  registry: {{endpoint: "{registry}"}}
"""
FEED = """\
kind: feed
name: {name}
frequency: days(1)
table: "catalog:{database}:{table}#{keys}"
clusters:
  - name: {cluster}
    validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}
    retention: {{limit: days(10)}}
"""
DS = "ds=${YEAR}-${MONTH}-${DAY}"
OLD, YOUNG = ("2026-03-01", "2026-03-02"), ("2026-03-19", "2026-03-20")


@dataclass(kw_only=True)
class TableRepo:
    """A config repo on one metastore and one database of its own.

    Attributes:
        path: of the repo.
        database: in the metastore.
        warehouse: the directory of the database.
        data: a directory for what is outside of it.
    """

    path: Path
    ledger: Path
    server: HiveMetastoreServer
    database: str
    warehouse: Path
    data: Path
    metastore: Metastore = field(init=False)

    def __post_init__(self) -> None:
        self.metastore = plain_metastore(self.server.spec)

    @classmethod
    def make(cls, directory: Path, server: HiveMetastoreServer) -> TableRepo:
        """With the cluster `primary` on local disks."""
        database, warehouse = f"t_{directory.name}_{os.getpid()}".replace("-", "_").lower(), directory / "warehouse"
        create_database(server.spec, database, f"file:{warehouse}")
        repo = cls(
            path=directory / "repo",
            ledger=directory / "ledger.db",
            server=server,
            database=database,
            warehouse=warehouse,
            data=directory / "data",
        )
        repo.data.mkdir()
        repo.write("repo.yaml", f"name: tables\nledger: sqlite:///{repo.ledger}\n")
        repo.add_cluster("primary", "file:///")
        return repo

    def write(self, name: str, text: str) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text)

    def add_cluster(self, name: str, default_fs: str) -> None:
        self.write(f"clusters/{name}.yaml", CLUSTER.format(name=name, default_fs=default_fs, registry=self.server.uri))

    def add_feed(self, table: str, keys: str = DS, cluster: str = "primary") -> None:
        """A feed of the table's own name."""
        text = FEED.format(name=table, table=table, database=self.database, keys=keys, cluster=cluster)
        self.write(f"feeds/{table}.yaml", text)

    def name(self, table: str) -> TableName:
        return TableName(self.database, table)

    def names(self, table: str) -> list[str]:
        """Return the names of its partitions."""
        return list(self.metastore.partition_names(self.name(table)))

    def make_table(self, table: str, days: Sequence[str], **keys: str) -> Table:
        """A table of text files that nobody wrote with Spark, with a file in each daily partition, and its feed."""
        made = table_of(self.name(table), f"file:{self.warehouse}/{table}", **(keys or {"ds": "string"}))
        self.metastore.create_table(made)
        partitions = [partition_of(made, day) for day in days]
        self.metastore.add_partitions(made.name, partitions)
        for partition in partitions:
            place = Path(partition.location.removeprefix("file:"))
            place.mkdir(parents=True, exist_ok=True)
            (place / "part-0").write_text("1\n")
        self.add_feed(table)
        return made


def tree(directory: Path) -> list[str]:
    """Everything in a directory but files that begin with a point, which Hadoop writes beside others."""
    found = (Path(at) / name for at, dirs, files in os.walk(directory) for name in [*dirs, *files])
    return sorted(str(each.relative_to(directory)) for each in found if not each.name.startswith("."))


@contextmanager
def spark_on(server: HiveMetastoreServer) -> Iterator[SparkSession]:
    """A session whose tables are the metastore's."""
    before = signal.getsignal(signal.SIGINT)  # the handler of a context that is gone fails in the tests that follow
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.hadoop.hive.metastore.uris", server.uri)
        .config("spark.hadoop.hive.exec.dynamic.partition.mode", "nonstrict")
        .config("spark.hadoop.hive.warehouse.subdir.inherit.perms", "false")  # of one process a file otherwise
        .config(
            "spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive", "true"
        )  # a partition in another one
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.catalogImplementation", "hive")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()
        signal.signal(signal.SIGINT, before)
