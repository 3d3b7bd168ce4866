"""An ingest into an Iceberg table, for processes that signal themselves at a named point."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import StagedTable
from typing_extensions import override

from tests.databases.ledgers import open_ledger
from tests.unit.ingest.memory_table import WordWriter
from toolkit.ingest.connection import Connection, connect
from toolkit.ingest.endpoint import CatalogAddress, Endpoint
from toolkit.ingest.hive_catalog import LockedHiveCatalog
from toolkit.ingest.iceberg import IcebergCatalog, open_catalog
from toolkit.ingest.iceberg_table import IcebergTable
from toolkit.ingest.port import DataFile, IngestColumn, TableCommit, TableSpec, TableState
from toolkit.ingest.slot import SlotLost
from toolkit.ingest.writer_progress import WriterProgress
from toolkit.ledger.database import Ledger

SPEC = TableSpec(columns=(IngestColumn(name="word", type="string"),))
POINTS = ("before data", "after data", "after intention", "during commit", "after commit")
LOST_ITS_SLOT = 3
"""Exit code."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Directory of a table and URL of its ledger.

    Attributes:
        root: directory of the catalog and of the table.
        ledger: URL of the ledger.
        metastore: that has the catalog; empty: it is on SQLite.
    """

    root: Path
    ledger: str
    metastore: str = ""

    @property
    def endpoint(self) -> Endpoint:
        """Return the address of the table."""
        type_, uri = ("hive", self.metastore) if self.metastore else ("sql", f"sqlite:///{self.root}/catalog.db")
        catalog = CatalogAddress(type=type_, uri=uri, warehouse=f"file://{self.root}/warehouse")
        return Endpoint(catalog=catalog, namespace="web", table="clicks")

    def connect(self, ledger: Ledger, point: Callable[[str], None] = lambda _: None) -> Connection:
        """Connect, and create the table when it is missing."""

        def opened(address: CatalogAddress) -> PointedCatalog:
            catalog = open_catalog(address).catalog
            if isinstance(catalog, LockedHiveCatalog):
                catalog = PointedHive(catalog.name, **catalog.properties)
                catalog.point = point
            return PointedCatalog(address=address, catalog=catalog, point=point)

        return connect(self.endpoint, ledger=ledger, agent="a", open_catalog=opened, create=SPEC)

    def words(self) -> list[str]:
        """Return the visible words."""
        catalog = open_catalog(self.endpoint.catalog)
        try:
            found = catalog.catalog.load_table(("web", "clicks")).scan().to_arrow()["word"].to_pylist()
        finally:
            catalog.close()
        return sorted(found)


@dataclass(frozen=True, kw_only=True)
class PointedTable(IcebergTable):
    """A table that tells where its caller is."""

    point: Callable[[str], None] = field(repr=False)

    @override
    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        self.point("before data")
        found = super().write(rows, name)
        self.point("after data")
        return found

    @override
    def commit(self, commit: TableCommit, base: TableState) -> None:
        if commit.files:
            self.point("after intention")
        super().commit(commit, base)
        if commit.files:
            self.point("after commit")


class PointedHive(LockedHiveCatalog):
    """A catalog that tells when a commit has its lock."""

    point: Callable[[str], None] = staticmethod(lambda _: None)

    @override
    def _update_and_stage_table(self, *given: Any) -> StagedTable:
        self.point("during commit")
        return super()._update_and_stage_table(*given)


@dataclass(frozen=True, kw_only=True)
class PointedCatalog(IcebergCatalog):
    """A catalog whose table tells where its caller is."""

    point: Callable[[str], None] = field(repr=False)

    @override
    def open(self, namespace: str, table: str) -> PointedTable:
        def executed(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            if statement.startswith("UPDATE iceberg_tables"):
                self.point("during commit")

        found = super().open(namespace, table)
        if isinstance(self.catalog, SqlCatalog):
            sa.event.listen(self.catalog.engine, "before_cursor_execute", executed)
        return PointedTable(place=found.place, catalog=self.catalog, identifier=found.identifier, point=self.point)


@dataclass(kw_only=True)
class Signal:
    """A signal that a process sends itself.

    Attributes:
        number: of the signal.
        point: where.
        time: how often it comes there first.
    """

    number: int
    point: str
    time: int = 1

    def __call__(self, point: str) -> None:
        """Send it when the point is there for that time."""
        if point == self.point:
            self.time -= 1
            if self.time == 0:
                os.kill(os.getpid(), self.number)


@dataclass(frozen=True, kw_only=True)
class Work:
    """Work of one process.

    Attributes:
        name: of the writer.
        transactions: the records of each.
        signal: that it sends itself.
        barrier: where it waits for others before it connects.
    """

    name: str
    transactions: Sequence[Sequence[bytes]]
    signal: Signal | None = None
    barrier: Barrier | None = None


def ingest_words(place: Place, work: Work) -> None:
    """Commit the transactions that the writer's progress has not."""
    if work.barrier is not None:
        work.barrier.wait(30)
    ledger = open_ledger(sa.make_url(place.ledger))
    try:
        with place.connect(ledger, work.signal or (lambda _: None)) as connection:
            found = connection.progress(work.name) or {"at": 0}
            with connection.transaction_batch(9, WordWriter(), timeout=timedelta(seconds=20)) as batch:
                for number, records in enumerate(work.transactions):
                    if number >= int(str(found["at"])):
                        batch.begin()
                        batch.write(records)
                        batch.commit(progress=WriterProgress(name=work.name, document={"at": number + 1}))
    except SlotLost:
        raise SystemExit(LOST_ITS_SLOT) from None
    finally:
        ledger.close()
