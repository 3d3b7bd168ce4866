"""Two HDFS with a metastore on PostgreSQL each, the table on one of them, and config repos with a feed of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.hive_replication.shapes import TABLE, TableShape
from benchmarks.replication.clusters import Clusters, running_clusters
from benchmarks.replication.shapes import START, Source, WrongCopy
from benchmarks.whole_process import PROGRAMS
from tests.databases.postgresql import running_postgres
from tests.tables.databases import create_database, make_privileges, plain_metastore
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore_on_postgres import metastore_on
from toolkit.catalog.model import TableName
from toolkit.catalog.port import BATCH, CatalogSpec, Metastore

DATABASE, LIKE, WAREHOUSE = "bench", "like_clicks", "/warehouse"
_REPO = """\
name: benchmark
owners: [data@example.com]
ledger: sqlite:///{ledger}
max_copy: {{instances: 100000}}
"""
_CLUSTER = """\
kind: cluster
name: {name}
interfaces: {{write: {{endpoint: "{store}"}}, registry: {{endpoint: "{metastore}"}}}}
"""
_FEED = """\
kind: feed
name: clicks
frequency: days(1)
table: "catalog:{database}:{source}#ds=${{YEAR}}-${{MONTH}}-${{DAY}}"
clusters:
  - {{name: primary, type: source, validity: {validity}}}
  - {{name: backup, type: target, validity: {validity},
     table: "catalog:{database}:{target}#ds=${{YEAR}}-${{MONTH}}-${{DAY}}"}}
"""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Source and target of the copied tables.

    Attributes:
        clusters: of the files.
        source: end point of the metastore that has the table.
        target: end point of the other.
    """

    clusters: Clusters
    source: str
    target: str

    def make_databases(self) -> None:
        """One in each metastore, and at the target a table without partitions that is like the source's."""
        for uri, store in ((self.source, self.clusters.source), (self.target, self.clusters.target)):
            create_database(CatalogSpec(uris=uri), DATABASE, f"{store}{WAREHOUSE}")
        like = table_of(TableName(DATABASE, LIKE), f"{self.clusters.target}/like", ds="string", region="string")
        self.at_target.create_table(like)
        make_privileges(CatalogSpec(uris=self.target), like.name)

    @property
    def at_target(self) -> Metastore:
        """The metastore that tables come to."""
        return plain_metastore(CatalogSpec(uris=self.target))

    def fill(self, table: str, shape: TableShape) -> Source:
        """Make the table with its partitions and files."""
        files = Source(client=self.clusters.at_source, shape=shape)
        files.make()
        metastore = plain_metastore(CatalogSpec(uris=self.source))
        made = table_of(TableName(DATABASE, table), f"{self.clusters.source}{TABLE}", ds="string", region="string")
        metastore.create_table(made)
        partitions = [partition_of(made, *values) for values in shape.values]
        for first in range(0, len(partitions), BATCH):
            metastore.add_partitions(made.name, partitions[first : first + BATCH])
        return files

    def compare(self, files: Source, shape: TableShape, table: str) -> None:
        """Look at a copy, and take its files away.

        Raises:
            WrongCopy: it lacks a partition or has one too many, or its files are not those of the source.
        """
        client, root = self.clusters.at_target, f"/seen/{table}"
        found = len(self.at_target.partition_names(TableName(DATABASE, table)))
        if found != shape.partitions:
            message = f"{table} has {found} partitions, not {shape.partitions}"
            raise WrongCopy(message)
        client.mkdirs(root, permission=0o755, create_parent=True)
        client.rename(f"{WAREHOUSE}/{table}", f"{root}/clicks")
        files.compare(client, root)
        client.delete(root, recursive=True)

    def make_repo(self, folder: Path, source: str, target: str) -> Path:
        """A config repo with a feed of a table and its copy, and an empty ledger beside it."""
        repo, validity = folder / "repo", f"{{start: {START:%Y-%m-%dT%H:%MZ}, end: 2099-01-01T00:00Z}}"
        ends = {"primary": (self.clusters.source, self.source), "backup": (self.clusters.target, self.target)}
        texts = {
            "repo.yaml": _REPO.format(ledger=folder / "ledger.db"),
            "feeds/clicks.yaml": _FEED.format(database=DATABASE, source=source, target=target, validity=validity),
        }
        for name, (store, metastore) in ends.items():
            texts[f"clusters/{name}.yaml"] = _CLUSTER.format(name=name, store=store, metastore=metastore)
        for name, text in texts.items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        upgrade = [str(PROGRAMS / "feedctl"), "ledger", "upgrade", "--config-repo", str(repo)]
        subprocess.run(upgrade, check=True, stdout=subprocess.DEVNULL)
        return repo


@contextmanager
def running_site() -> Iterator[Site]:
    """Yield the whole site, ended and removed afterwards.

    Raises:
        Missing: no Java, or neither the jars nor Maven.
        DidNotStart: with the end of its log.
    """
    with (
        running_clusters() as clusters,
        running_postgres() as postgres,
        metastore_on(postgres) as source,
        metastore_on(postgres, "metastore_of_target") as target,
    ):
        site = Site(clusters=clusters, source=source, target=target)
        site.make_databases()
        yield site
