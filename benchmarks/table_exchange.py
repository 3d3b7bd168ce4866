"""Export of a table with very many partitions and its import into another metastore, beside what users do by hand.

By hand: copy the directory file by file, then let Spark SQL register the partitions (`MSCK REPAIR TABLE`), in a session
that is up. feedctl also writes its ledger, syncs and makes a digest of each file, and compares both ends afterwards.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession
from typer import Typer

from entrypoints import hive_export, hive_import
from tests.databases.postgresql import PostgresServer
from tests.integration.replications import End
from tests.integration.table_copies import NOMINAL, Side, TableCopies
from tests.tables.databases import create_database, make_privileges
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore_on_postgres import multiply_partition
from toolkit.catalog.partition_name import joined_name
from toolkit.catalog.port import CatalogSpec
from toolkit.cli.boundary import run_app

EXPORTED, IMPORTED = "export", "import"
COPIED, REPAIRED = "copy of the directory by hand", "MSCK REPAIR TABLE"


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A table on one metastore, and a second metastore without it.

    Attributes:
        copies: of the table.
        partitions: how many it has.
        directory: of everything.
    """

    copies: TableCopies
    partitions: int
    directory: Path

    @classmethod
    def make(cls, uris: tuple[str, str], directory: Path, postgres: PostgresServer, partitions: int) -> Exchange:
        """Fill a table on the first metastore, with one small file in each partition."""
        sides = [_side(uri, directory / name) for uri, name in zip(uris, ("from", "to"), strict=True)]
        copies = TableCopies(directory=directory, source=sides[0], target=sides[1])
        _fill(copies.source, postgres, partitions)
        return cls(copies=copies, partitions=partitions, directory=directory)

    def measured(self, session: SparkSession) -> Mapping[str, float]:
        """Return the seconds of each contestant; the peer's session is on the second metastore."""
        exports, by_hand = self.directory / "exports", self.directory / "to" / "by_hand"
        target = self.copies.target
        made = table_of(target.name("by_hand"), f"file:{by_hand}", ds="string", region="string")
        target.metastore.create_table(made)
        make_privileges(target.spec, made.name)
        session.sql(f"SHOW PARTITIONS {made.name}").collect()
        found = {
            EXPORTED: _seconds(lambda: self._run(hive_export.app, "primary", "--to", f"file:{exports}")),
            COPIED: _seconds(lambda: shutil.copytree(self.directory / "from" / "clicks", by_hand, dirs_exist_ok=True)),
            IMPORTED: _seconds(lambda: self._run(hive_import.app, "backup", "--from", f"file:{exports}")),
            REPAIRED: _seconds(lambda: session.sql(f"MSCK REPAIR TABLE {made.name}")),
        }
        for name in (target.name(), made.name):
            assert len(target.metastore.partition_names(name)) == self.partitions
        return found

    def _run(self, app: Typer, cluster: str, *place: str) -> None:
        chosen = ("--feed", "clicks", "--cluster", cluster, "--config-repo", str(self.copies.repo))
        arguments = [*chosen, *place, "--time", NOMINAL, "--whole-table", "--quiet"]
        assert run_app(app, arguments) == 0


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _side(uri: str, directory: Path) -> Side:
    directory.mkdir()
    database = f"many_{directory.name}"
    create_database(CatalogSpec(uris=uri), database, f"file:{directory}")
    return Side(registry=uri, end=End(uri=f"file://{directory}"), database=database)


def _fill(side: Side, postgres: PostgresServer, partitions: int) -> None:
    metastore, name = side.metastore, side.name()
    table = table_of(name, f"{side.end.uri}/clicks", ds="string", region="string")
    metastore.create_table(table)
    metastore.add_partitions(name, [partition_of(table, "first", "r")])
    multiply_partition(postgres, partitions)
    first = joined_name(table.key_names, ("first", "r"))
    metastore.drop_partitions(name, [first])
    shutil.rmtree(Path(side.end.uri.removeprefix("file://"), "clicks", first).parent)  # a repair would add it again
    for each in metastore.partition_names(name):
        place = Path(side.end.uri.removeprefix("file://"), "clicks", each)
        place.mkdir(parents=True)
        (place / "part-0").write_text(f"{each}\n")
