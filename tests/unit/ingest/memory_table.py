"""A table in memory with atomic commits, as a hand-written `IngestTable` and `IngestCatalog`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import pyarrow as pa

from toolkit.ingest.errors import CatalogUnreachable, CommitConflict, NoSuchIngestTable, StoreFailed
from toolkit.ingest.port import (
    DataFile,
    FileMerge,
    IngestColumn,
    Partition,
    TableCommit,
    TableSpec,
    TableState,
    UnreferencedFile,
)
from toolkit.ingest.record_writer import BadRecord, ConvertedRecords

COLUMNS = (IngestColumn(name="word", type="string"),)


@dataclass(kw_only=True)
class MemoryTable:
    """A table.

    Attributes:
        before: called before a commit; what it raises is raised.
        after: called after a commit; what it raises is raised although it was committed.
        is_full: no data file can be written.
        is_away: nothing can be looked up.
    """

    name: str = "memory.web.clicks"
    columns: tuple[IngestColumn, ...] = COLUMNS
    partition_columns: tuple[str, ...] = ()
    before: Callable[[TableCommit], None] = lambda _: None
    after: Callable[[TableCommit], None] = lambda _: None
    commits: list[TableCommit] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    written: dict[str, DataFile] = field(default_factory=dict)
    expired: int = 0
    is_full: bool = False
    is_away: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def words(self) -> list[str]:
        """Return the visible words."""
        return sorted(word for each in self.commits for file in each.files for word in file.token)

    @property
    def left_over(self) -> list[str]:
        """Return the files that were written and are neither visible nor discarded."""
        return sorted(set(self.written) - {file.uri for file in self.files()})

    def state(self) -> TableState:
        with self.lock:
            return TableState(
                snapshot_id=len(self.commits),
                schema_id=0,
                columns=self.columns,
                partition_columns=self.partition_columns,
                properties=dict(self.properties),
                snapshots=len(self.commits),
            )

    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        if self.is_full:
            raise StoreFailed(table=self.name, cause="No space left on device")
        assert name not in self.written
        file = DataFile(uri=name, partition=(), rows=rows.num_rows, bytes=rows.nbytes, token=rows["word"].to_pylist())
        self.written[name] = file
        return (file,)

    def file_writer(self) -> MemoryTable:
        return self

    def commit(self, commit: TableCommit, base: TableState) -> None:
        self.before(commit)
        with self.lock:
            if base.snapshot_id != len(self.commits):
                raise CommitConflict(table=self.name)
            assert all(each.uri in self.written for each in commit.files)
            self.commits.append(commit)
            self.properties.update(commit.properties)
        self.after(commit)

    def committed(self, transactions: Collection[int]) -> frozenset[int]:
        if self.is_away:
            raise CatalogUnreachable(place="memory", cause="gone")
        with self.lock:
            return frozenset(transactions) & {one for each in self.commits for one in each.transactions}

    def discard(self, files: Sequence[DataFile]) -> None:
        for each in files:
            self.written.pop(each.uri, None)

    def files(self, partitions: Collection[Partition] | None = None) -> Sequence[DataFile]:
        return [
            file for each in self.commits for file in each.files if partitions is None or file.partition in partitions
        ]

    def merges(self, groups: Sequence[Sequence[DataFile]], name: str) -> Sequence[FileMerge]:
        raise NotImplementedError

    def replace(
        self, old: Sequence[DataFile], new: Sequence[DataFile], properties: Mapping[str, str], base: TableState
    ) -> None:
        raise NotImplementedError

    def unreferenced(self) -> Sequence[UnreferencedFile]:
        raise NotImplementedError

    def remove_unreferenced(self, files: Sequence[UnreferencedFile]) -> None:
        raise NotImplementedError

    def expire(
        self,
        *,
        older_than: datetime,
        keep_since: datetime | None,
        keep_last: int,
        replaced_since: datetime | None = None,
    ) -> int:
        assert older_than.tzinfo is not None
        assert keep_last >= 1
        del keep_since, replaced_since
        self.expired += 1
        return 0


@dataclass(kw_only=True)
class MemoryCatalog:
    """A catalog with at most one table."""

    table: MemoryTable | None = None
    closed: int = 0

    def open(self, namespace: str, table: str) -> MemoryTable:
        if self.table is None:
            raise NoSuchIngestTable(table=f"memory.{namespace}.{table}")
        return self.table

    def create(self, namespace: str, table: str, spec: TableSpec) -> MemoryTable:
        self.table = self.table or MemoryTable(name=f"memory.{namespace}.{table}", columns=spec.columns)
        return self.table

    def close(self) -> None:
        self.closed += 1


class WordWriter:
    """Records are words; ``?`` is none."""

    def convert(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> ConvertedRecords:
        assert [each.name for each in columns] == ["word"]
        kept = [index for index, each in enumerate(records) if each != b"?"]
        bad = tuple(BadRecord(index=index, reason="no word") for index, each in enumerate(records) if each == b"?")
        rows = pa.table({"word": pa.array([records[index].decode() for index in kept], pa.string())})
        return ConvertedRecords(rows=rows, kept=kept, bad=bad)


def other_engine(table: MemoryTable) -> None:
    """Commit as Spark would, between a look and a commit."""
    with table.lock:
        table.commits.append(replace(TableCommit(), properties={}))
