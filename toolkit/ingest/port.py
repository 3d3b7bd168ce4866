"""The port to a table that transactions are committed to; checked by `tests/contract/ingest_table`.

One commit is atomic: its data files and its table properties become visible together, or neither does. Nothing here
knows the ledger; who may commit and when is decided by `toolkit.ingest.committer`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

WRITER_PROPERTY = "feedctl.writer."
"""Prefix of the table properties that keep the progress of a named writer."""
CLOSED_PROPERTY = "feedctl.closed-before"
"""Table property: the instances of nominal times before this instant are closed (``2026-03-01T06:00Z``)."""
WATERMARK_PROPERTY = "feedctl.watermark"
"""Table property: all that the source had at this instant is in the table; set by an ingest that read to the end."""
TRANSACTIONS_KEY = "feedctl.transactions"
"""Key of a snapshot's summary: the ids of its transactions, as ranges: ``3-7,12``."""

Partition = tuple[str, ...]
"""Values of the partition columns, in the order of the table's partition columns; () of a table without any."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestColumn:
    """Column of a table.

    Attributes:
        name: as it is spelt in the table.
        type: Spark's name of a primitive type: string, boolean, int, bigint, float, double, decimal(P,S), date,
            timestamp (an instant, UTC), timestamp_ntz, binary.
        is_required: a null is an error.
    """

    name: str
    type: str
    is_required: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TableSpec:
    """Definition of a table that does not exist yet.

    Attributes:
        columns: all columns, the partition columns included.
        partition_columns: names of the columns with identity partitions, in their order.
        location: URI of its directory; None: below the catalog's warehouse.
        properties: further table properties.
    """

    columns: tuple[IngestColumn, ...]
    partition_columns: tuple[str, ...] = ()
    location: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class DataFile:
    """A data file that was written and that no snapshot has yet, or one of the current snapshot.

    Attributes:
        uri: where it is.
        partition: the partition of all its rows.
        rows: in it.
        bytes: its size.
        token: what the adapter needs to commit it.
    """

    uri: str
    partition: Partition
    rows: int
    bytes: int
    token: Any = field(default=None, hash=False, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreferencedFile:
    """A file below a table's location that no snapshot refers to.

    Attributes:
        uri: where it is.
        bytes: its size.
        modified: its last change.
        is_data: it is a data file; else it is one of the table's metadata.
    """

    uri: str
    bytes: int
    modified: datetime
    is_data: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class TableState:
    """State of a table, as of one look at the catalog.

    Attributes:
        snapshot_id: the current snapshot; None: the table has none yet.
        schema_id: changes with each change of columns.
        columns: the current columns.
        partition_columns: see `TableSpec`.
        properties: the table properties whose names begin with ``feedctl.``.
        snapshots: number of snapshots that are kept.
        location: URI of its directory.
        oldest_until: until then the oldest snapshot was the current one; None: there is no older one, or it has a name.
    """

    snapshot_id: int | None
    schema_id: int
    columns: tuple[IngestColumn, ...]
    partition_columns: tuple[str, ...]
    properties: Mapping[str, str] = field(hash=False)
    snapshots: int = 0
    location: str = ""
    oldest_until: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TableCommit:
    """Content of one atomic commit.

    Attributes:
        transactions: ids of the transactions whose data it has; recorded in the summary of the snapshot.
        files: their data files, written by `IngestTable.write` or a `FileWriter`; without files only properties change.
        properties: table properties to set.
    """

    transactions: tuple[int, ...] = ()
    files: tuple[DataFile, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)


class FileWriter(Protocol):
    """Writes data files of a table from any machine; it can be pickled, and needs the store alone, no catalog."""

    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        """Write rows as `IngestTable.write` does, for the columns that the table had when the writer was made.

        Raises:
            SchemaChanged, StoreFailed: as there.
        """
        ...

    def discard(self, files: Sequence[DataFile]) -> None:
        """Remove data files that will never be committed; those that are gone are no error. Raises OSError."""
        ...


class FileMerge(Protocol):
    """Writes the rows of data files to one file that nobody sees yet; can be pickled, and needs the store alone."""

    def written(self) -> DataFile:
        """Write the file.

        Raises:
            StoreFailed: the store refuses, or another engine has marked rows of one of the files as deleted.
        """
        ...


class IngestTable(Protocol):
    """A table of a catalog; one object may be used by several threads, and `commit` by one at a time.

    Every call raises `toolkit.ingest.errors.CatalogUnreachable` when the catalog or the store does not answer,
    `NoSuchIngestTable` when the table is gone, `StoreFailed` when the store refuses (full disk, permission). `write`
    and `discard` may go by the last look at the catalog; the commit finds out.
    """

    @property
    def name(self) -> str:
        """``catalog.namespace.table``: the same for all processes that write to the table."""
        ...

    def state(self) -> TableState:
        """Look at the catalog, and return the state of the table now."""
        ...

    def write(self, rows: pa.Table, name: str) -> tuple[DataFile, ...]:
        """Write rows to data files that nobody sees yet, one or more for each partition.

        Args:
            rows: columns by name, in any order, of the types of the table; absent ones are null.
            name: the file names begin with it; unique for each call.

        Raises:
            SchemaChanged: the rows do not fit the columns that the table had at the last look.
        """
        ...

    def file_writer(self) -> FileWriter:
        """Return a writer of data files, for other machines."""
        ...

    def commit(self, commit: TableCommit, base: TableState) -> None:
        """Make files and properties visible in one atomic commit on top of a state; also when only properties change.

        Raises:
            CommitConflict: the table is not in that state any more; nothing was committed.
            SchemaChanged: the files do not fit the columns of the table any more; nothing was committed.
            CommitUnknown: no answer came; whether it was committed has to be looked up by `committed`.
        """
        ...

    def committed(self, transactions: Collection[int]) -> frozenset[int]:
        """Look at the catalog, and return which of the transactions the snapshots of the table have.

        Right for a transaction only while no snapshot that is newer than its intention was expired.
        """
        ...

    def discard(self, files: Sequence[DataFile]) -> None:
        """Remove data files that were written and will never be committed; those that are gone already are no error."""
        ...

    def files(self, partitions: Collection[Partition] | None = None) -> Sequence[DataFile]:
        """The data files of the current snapshot, of some partitions or of all; metadata alone is read."""
        ...

    def merges(self, groups: Sequence[Sequence[DataFile]], name: str) -> Sequence[FileMerge]:
        """Return a merge for each group of data files of one partition.

        Args:
            groups: files of the current snapshot.
            name: the name of each new file begins with it; unique for each call.

        Raises:
            CommitConflict: the table has not all of the files any more.
        """
        ...

    def replace(
        self, old: Sequence[DataFile], new: Sequence[DataFile], properties: Mapping[str, str], base: TableState
    ) -> None:
        """Replace data files in one atomic commit on top of a state; without new ones their rows are deleted.

        Args:
            old: of the snapshot of `base`.
            new: of `FileMerge`, with the rows of the old ones; or none.
            properties: table properties to set in the same commit.
            base: the state.

        Raises:
            CommitConflict: the table is not in that state any more, or it has not all of the old files.
            CommitUnknown: no answer came; look at `files`.
        """
        ...

    def unreferenced(self) -> Sequence[UnreferencedFile]:
        """List the files below the table's location to which no snapshot that is kept refers, nor the catalog.

        A file that a commit under way has already written, and has not committed yet, is one of them.

        Raises:
            LocationIsShared: another table is at the location, or below it.
        """
        ...

    def remove_unreferenced(self, files: Sequence[UnreferencedFile]) -> None:
        """Remove such files after another look that nothing refers to them; those that are gone are no error.

        Raises:
            CommitConflict: a snapshot refers to one of them by now; nothing was removed.
        """
        ...

    def expire(
        self,
        *,
        older_than: datetime,
        keep_since: datetime | None,
        keep_last: int,
        replaced_since: datetime | None = None,
    ) -> int:
        """Forget snapshots; those of the last `keep_last` commits and those since `keep_since` stay.

        Args:
            older_than: younger snapshots stay, for readers that began with them.
            replaced_since: the last snapshot before a commit of `replace` stays when that commit is younger: readers
                that began with it still read the replaced files. None: no commit does that. Snapshots that were not
                current since then go, also among the last ones: nobody reads them, and the files that they alone have.
            keep_since: an unresolved transaction may be in a snapshot since then; None: there is none.
            keep_last: at least 1.

        Returns:
            The number of snapshots that were expired.

        Raises:
            CommitConflict, CommitUnknown: as `commit`; the next call goes on.
        """
        ...


class IngestCatalog(Protocol):
    """A catalog of tables; raises as `IngestTable`."""

    def open(self, namespace: str, table: str) -> IngestTable:
        """Open a table.

        Raises:
            NoSuchIngestTable: it is not there.
        """
        ...

    def create(self, namespace: str, table: str, spec: TableSpec) -> IngestTable:
        """Create a table, and its namespace when it is missing; when another created it first, open that one."""
        ...

    def close(self) -> None:
        """End the connections."""
        ...
