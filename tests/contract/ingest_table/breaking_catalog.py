"""An SQL catalog whose commits meet what goes wrong in production."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.update import TableRequirement, TableUpdate
from typing_extensions import override

from toolkit.ingest.iceberg import IcebergCatalog
from toolkit.ingest.iceberg_table import IcebergTable


class BreakingCatalog(SqlCatalog):
    """A catalog.

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
        found = super().commit_table(table, requirements, updates)
        self.after()
        return found


def breaking(catalog: IcebergCatalog, table: IcebergTable) -> tuple[IcebergTable, BreakingCatalog]:
    """Return the table as one of a catalog that breaks, and that catalog."""
    broken = BreakingCatalog(catalog.catalog.name, **catalog.catalog.properties)
    return replace(table, catalog=broken), broken
