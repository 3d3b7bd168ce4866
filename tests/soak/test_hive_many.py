"""A table of 20,000 partitions, metastores on PostgreSQL: listed, exported, added in batches, and compared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.databases.postgresql import PostgresServer
from tests.integration.replications import End
from tests.integration.table_copies import Side, TableCopies
from tests.tables.databases import create_database
from tests.tables.tables import partition_of, table_of
from tests.testbed.metastore_on_postgres import metastore_on, multiply_partition
from toolkit.catalog.partition_name import joined_name
from toolkit.catalog.port import CatalogSpec

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
_PARTITIONS = 20_000
_DROPPED = 7


@contextmanager
def _reported(what: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - began:.1f} s", flush=True)  # noqa: T201 - the figure


def test_20000_partitions_are_listed_exported_added_and_compared(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    with metastore_on(postgres_server) as first, metastore_on(postgres_server, "metastore_of_target") as second:
        sides = [_side(uri, tmp_path / name) for uri, name in ((first, "from"), (second, "to"))]
        copies = TableCopies(directory=tmp_path, source=sides[0], target=sides[1])
        source, target = copies.source, copies.target
        _fill(source, postgres_server)
        with _reported(f"{_PARTITIONS:,} names"):
            names = source.metastore.partition_names(source.name())
        assert len(names) == _PARTITIONS
        exports = f"file://{tmp_path}/exports"
        with _reported("exported"):
            assert copies.exported(exports, "--whole-table", "--quiet")[0] == 0
        with _reported("imported, added in batches"):
            assert copies.imported(exports, "--whole-table", "--quiet")[0] == 0
        assert target.metastore.partition_names(target.name()) == names
        with _reported("imported again, nothing to do"):
            code, result = copies.imported(exports, "--whole-table", "--quiet")
        assert (code, result["items"]) == (0, [])
        with _reported("compared with all files"):
            assert copies.differences() == (0, [])
        gone = names[:: _PARTITIONS // _DROPPED]
        target.metastore.drop_partitions(target.name(), gone)
        with _reported("compared by what the metastores say"):
            assert copies.differences("--metadata-only") == (4, [("missing", name) for name in gone])
        with _reported(f"the {len(gone)} that were dropped added again"):
            assert copies.imported(exports, "--whole-table", "--quiet")[0] == 0
        assert target.metastore.partition_names(target.name()) == names


def _side(uri: str, directory: Path) -> Side:
    directory.mkdir()
    database = f"many_{directory.name}"
    create_database(CatalogSpec(uris=uri), database, f"file:{directory}")
    return Side(registry=uri, end=End(uri=f"file://{directory}"), database=database)


def _fill(side: Side, postgres: PostgresServer) -> None:
    """A table with its partitions, and a file in each."""
    metastore, name = side.metastore, side.name()
    table = table_of(name, f"{side.end.uri}/clicks", ds="string", region="string")
    metastore.create_table(table)
    metastore.add_partitions(name, [partition_of(table, "first", "r")])
    multiply_partition(postgres, _PARTITIONS)
    metastore.drop_partitions(name, [joined_name(table.key_names, ("first", "r"))])
    for each in metastore.partition_names(name):
        place = Path(side.end.uri.removeprefix("file://"), "clicks", each)
        place.mkdir(parents=True)
        (place / "part-0").write_text(f"{each}\n")
