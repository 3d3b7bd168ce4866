"""A catalog whose commits meet what goes wrong in production."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from pyiceberg.catalog import MetastoreCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.update import TableRequirement, TableUpdate
from typing_extensions import override

from toolkit.ingest.hive_catalog import LockedHiveCatalog
from toolkit.ingest.iceberg import IcebergCatalog
from toolkit.ingest.iceberg_table import IcebergTable


class BreakingCatalog(MetastoreCatalog):
    """Commits of a catalog.

    Attributes:
        before: called before each commit; what it raises is raised.
        after: called when it was committed.
    """

    before: Callable[[], object] = staticmethod(lambda: None)
    after: Callable[[], object] = staticmethod(lambda: None)

    @override
    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        self.before()
        found: CommitTableResponse = cast("Any", super()).commit_table(table, requirements, updates)
        self.after()
        return found


class _BreakingSql(BreakingCatalog, SqlCatalog):
    """One in a database."""


class _BreakingHive(BreakingCatalog, LockedHiveCatalog):
    """One in a metastore."""


def breaking(catalog: IcebergCatalog, table: IcebergTable) -> tuple[IcebergTable, BreakingCatalog]:
    """Return the table as one of a catalog that breaks, and that catalog."""
    kind = _BreakingHive if isinstance(catalog.catalog, LockedHiveCatalog) else _BreakingSql
    broken = kind(catalog.catalog.name, **catalog.catalog.properties)
    return replace(table, catalog=broken), broken
