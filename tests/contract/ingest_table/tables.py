"""Definition, rows, address and commits for the tests of Iceberg tables."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.iceberg import open_catalog
from toolkit.ingest.port import IngestColumn, IngestTable, TableCommit, TableSpec

SPEC = TableSpec(
    columns=(IngestColumn(name="a", type="bigint", is_required=True), IngestColumn(name="hour", type="string")),
    partition_columns=("hour",),
)
ROWS = pa.table({"a": [1, 2, 3], "hour": ["01", "02", "01"]})
ON_SQLITE_AND_HIVE = pytest.mark.parametrize(
    "place", ["sqlite", pytest.param("hive", marks=pytest.mark.extended)], indirect=True
)
"""Catalogs for tests in which no two writers compete: PostgreSQL is one more database behind the same catalog there."""


def address(tmp_path: Path) -> CatalogAddress:
    """Return the address of a catalog in a directory."""
    return CatalogAddress(type="sql", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")


def emptied(metastore: str, tmp_path: Path) -> CatalogAddress:
    """Return the address of a metastore whose tables of other tests are dropped."""
    found = CatalogAddress(type="hive", uri=metastore, warehouse=f"file://{tmp_path}/warehouse")
    with closing(open_catalog(found)) as opened:
        if ("web",) in opened.catalog.list_namespaces():
            for each in opened.catalog.list_tables("web"):
                opened.catalog.drop_table(each)
            opened.catalog.drop_namespace("web")
    return found


def commit_one(table: IngestTable, transaction: int) -> None:
    """Commit the rows as one transaction."""
    files = table.write(ROWS, f"feedctl-{transaction}")
    table.commit(TableCommit(transactions=(transaction,), files=files), table.state())
