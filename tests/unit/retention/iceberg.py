"""An Iceberg table in memory, and one call that evicts the feed which is ingested to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tests.unit.ingest.memory_table import MemoryTable
from tests.unit.retention.tables import BASE, TableSite
from toolkit.entities import Cluster, Feed, Hold
from toolkit.entities.ingest import Ingest, RecordFormat, RecordType
from toolkit.ingest.errors import CommitConflict, NoSuchIngestTable
from toolkit.ingest.port import DataFile, IngestTable, Partition, TableCommit, TableState
from toolkit.ledger.database import Ledger
from toolkit.retention import RetentionResolver
from toolkit.retention.targets import IcebergAccess

NAME = "memory.logs.clicks"
INGEST = Ingest(format=RecordFormat(type=RecordType.JSON), columns=(), event_time="ts")


@dataclass(kw_only=True)
class PartitionedTable(MemoryTable):
    """A table with partitions.

    Attributes:
        there: its data files.
        keys: its partition columns.
        on_replace: called before files are replaced; what it raises is raised.
        after_replace: called after; what it raises is raised although they were replaced.
        on_look: called before the table is looked at; what it raises is raised.
        version: number of commits.
        replaced: how many commits replaced files.
    """

    name: str = NAME
    there: list[DataFile] = field(default_factory=list)
    keys: tuple[str, ...] = ("ds",)
    on_replace: Callable[[], None] = lambda: None
    after_replace: Callable[[], None] = lambda: None
    on_look: Callable[[], None] = lambda: None
    version: int = 0
    replaced: int = 0

    def add(self, *values: str, name: str = "a") -> None:
        """Commit a data file of three bytes."""
        uri = "/".join((f"file://{BASE}/data", *values, f"{name}.parquet"))
        self.there.append(DataFile(uri=uri, partition=values, rows=1, bytes=3))
        self.version += 1

    @property
    def partitions(self) -> list[str]:
        """Return the first values of the partitions that have files."""
        return sorted({each.partition[0] for each in self.there})

    def state(self) -> TableState:
        self.on_look()
        return replace(
            super().state(), snapshot_id=self.version, partition_columns=self.keys, location=f"file://{BASE}"
        )

    def files(self, partitions: Collection[Partition] | None = None) -> Sequence[DataFile]:
        return [each for each in self.there if partitions is None or each.partition in partitions]

    def commit(self, commit: TableCommit, base: TableState) -> None:
        assert base.snapshot_id == self.version
        self.properties.update(commit.properties)
        self.version += 1

    def replace(
        self, old: Sequence[DataFile], new: Sequence[DataFile], properties: Mapping[str, str], base: TableState
    ) -> None:
        self.on_replace()
        if base.snapshot_id != self.version or not set(old) <= set(self.there):
            raise CommitConflict(table=self.name)
        assert not new
        self.there = [each for each in self.there if each not in old]
        self.properties.update(properties)
        self.version += 1
        self.replaced += 1
        self.after_replace()


@dataclass(kw_only=True)
class IcebergSite(TableSite):
    """A feed that is ingested to an Iceberg table.

    Attributes:
        ledger: of the table's slots.
        iceberg: the table; None: it was never made.
    """

    ledger: Ledger
    iceberg: PartitionedTable | None = field(default_factory=PartitionedTable)

    @property
    def rows(self) -> PartitionedTable:
        """Return the table."""
        assert self.iceberg is not None
        return self.iceberg

    @property
    def feed(self) -> Feed:
        found = super().feed
        return replace(found, clusters=tuple(replace(each, ingest=INGEST) for each in found.clusters))

    def resolver(self, holds: Iterable[Hold] = ()) -> RetentionResolver:
        return replace(super().resolver(holds), iceberg=self._access)

    def _access(self, feed: Feed, cluster: Cluster) -> IcebergAccess:
        assert (feed.name, cluster.name) == ("clicks", "primary")
        return IcebergAccess(name=NAME, opened=self._opened_table, late_events=lambda *_: (), ledger=self.ledger)

    @contextmanager
    def _opened_table(self) -> Iterator[IngestTable]:
        if self.iceberg is None:
            raise NoSuchIngestTable(table=NAME)
        yield self.iceberg
