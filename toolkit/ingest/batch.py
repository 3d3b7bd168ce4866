"""A batch of transactions of a connection: begin, write and commit or abort, in sequence."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from types import TracebackType
from typing import Self, TypeAlias

import pyarrow as pa

from toolkit.errors import FeedctlError
from toolkit.ingest.call_errors import BatchIsClosed, BatchLapsed, BatchUsedUp, NoOpenTransaction, TransactionIsOpen
from toolkit.ingest.committer import CommitRequest, Committer
from toolkit.ingest.errors import BadRecords
from toolkit.ingest.port import DataFile, IngestColumn
from toolkit.ingest.record_writer import BadRecord, RecordWriter
from toolkit.ingest.remote_transaction import FillRows, RemoteTransaction, converted_rows
from toolkit.ingest.writer_progress import WriterProgress, sequence_of
from toolkit.ledger import ingest
from toolkit.ledger.ingest import OpenedBatch

RejectRecord: TypeAlias = Callable[[BadRecord, bytes], None]
"""Gets a record that is no row of the table; what it raises ends the transaction."""
_SHOWN = 5


@dataclass(kw_only=True)
class TransactionBatch:
    """Transactions that are used one after the other, by one thread; another may send heartbeats.

    Attributes:
        committer: of the table.
        opened: the ids that the ledger gave.
        columns: of the table that the writer fills.
        sequences: of the last commit of each named writer of the connection.
        writer: converts records.
        fill: adds the columns that the writer does not fill.
        timeout: the batch lapses so long after a heartbeat; a commit is tried for as long.
        flush_bytes: a transaction with more bytes in memory writes a data file.
        rejects: takes bad records; None: they are an error.
    """

    committer: Committer
    opened: OpenedBatch
    columns: tuple[IngestColumn, ...]
    sequences: dict[str, int]
    writer: RecordWriter
    fill: FillRows
    timeout: timedelta
    flush_bytes: int
    rejects: RejectRecord | None = None
    is_closed: bool = field(default=False, init=False)
    _used: int = field(default=0, init=False)
    _is_open: bool = field(default=False, init=False)
    _rows: list[pa.Table] = field(default_factory=list, init=False)
    _bytes: int = field(default=0, init=False)
    _files: list[DataFile] = field(default_factory=list, init=False)
    _flushes: int = field(default=0, init=False)

    @property
    def remaining(self) -> int:
        """Return the number of transactions that were not begun."""
        return len(self.opened.transactions) - self._used

    @property
    def current_id(self) -> int | None:
        """Return the id of the open transaction."""
        return self.opened.transactions[self._used - 1] if self._is_open else None

    @property
    def state(self) -> str:
        """Return ``closed``, ``open`` (a transaction is) or ``idle``."""
        return "closed" if self.is_closed else "open" if self._is_open else "idle"

    def begin(self) -> None:
        """Begin the next transaction."""
        self._require_batch("begin")
        if (current := self.current_id) is not None:
            raise TransactionIsOpen(transaction=current)
        if not self.remaining:
            raise BatchUsedUp(count=len(self.opened.transactions))
        self._used, self._is_open = self._used + 1, True

    def write(self, records: bytes | Sequence[bytes]) -> None:
        """Write one or more records in the open transaction.

        Raises:
            BadRecords: a record is no row of the table, and `rejects` is None; none of the records was written.
            StoreFailed: rows could not be written to a data file early; the transaction was aborted.
        """
        self._require_transaction("write")
        given = [records] if isinstance(records, bytes) else records
        rows, bad = converted_rows(given, self.columns, self.writer, self.fill)
        self._reject(bad, given)
        self._rows.append(rows)
        self._bytes += rows.nbytes
        if self._bytes >= self.flush_bytes:
            self._flush_or_abort()

    def remote(self) -> RemoteTransaction:
        """Return the open transaction for other machines, whose data files `add` takes."""
        return RemoteTransaction(
            transaction=self._require_transaction("remote"),
            files=self.committer.table.file_writer(),
            columns=self.columns,
            writer=self.writer,
            fill=self.fill,
            flush_bytes=self.flush_bytes,
        )

    def add(self, files: Sequence[DataFile]) -> None:
        """Add data files that other machines wrote for the open transaction."""
        self._require_transaction("add")
        self._files.extend(files)

    def _reject(self, bad: Sequence[BadRecord], given: Sequence[bytes]) -> None:
        if bad and self.rejects is None:
            reasons = tuple(f"record {each.index}: {each.reason}" for each in bad[:_SHOWN])
            raise BadRecords(table=self.committer.table.name, reasons=reasons, count=len(bad))
        if self.rejects is not None and bad:
            with ExitStack() as unless_taken:  # the good rows of the call would be lost, and the bad ones told twice
                unless_taken.callback(self.abort)
                for each in bad:
                    self.rejects(each, given[each.index])
                unless_taken.pop_all()

    def _flush_or_abort(self) -> None:
        """Write the rows in memory to data files; after an error the transaction is over, since rows are lost."""
        with ExitStack() as unless_written:
            unless_written.callback(self.abort)
            self._flush()
            unless_written.pop_all()

    def _flush(self) -> None:
        rows, self._rows, self._bytes = pa.concat_tables(self._rows), [], 0
        if rows.num_rows:
            self._flushes += 1
            self._files.extend(self.committer.table.write(rows, f"feedctl-{self.current_id}-{self._flushes}"))

    def commit(self, *, progress: WriterProgress | None = None) -> None:
        """Commit the open transaction; after an error it is over too.

        Raises:
            CommitRefused: the batch lapsed or was aborted.
            ProgressMoved: another writer of the same name committed.
            CommitUnknown: nobody knows within the timeout whether it was committed; the next commit looks it up.
        """
        transaction = self._require_transaction("commit")
        if self._rows:
            self._flush_or_abort()
        sequence = 0 if progress is None else self._sequence(progress.name)
        request = CommitRequest(
            transaction=transaction,
            files=tuple(self._files),
            progress=progress,
            sequence=sequence,
            deadline=time.monotonic() + self.timeout.total_seconds(),
        )
        self._is_open = False
        try:
            self.committer.commit(request)
        except FeedctlError:
            if not request.is_undecided:
                self._discard(transaction)
            self._forget()
            raise
        self._forget()
        if progress is not None:
            self.sequences[progress.name] = sequence + 1

    def _sequence(self, name: str) -> int:
        if name not in self.sequences:
            self.sequences[name] = sequence_of(self.committer.table.state(), name)
        return self.sequences[name]

    def abort(self) -> None:
        """Abort the open transaction; its data files are removed."""
        transaction = self._require_transaction("abort")
        self._is_open = False
        self._discard(transaction)
        self._forget()

    def _discard(self, transaction: int) -> None:
        with suppress(FeedctlError):  # without an answer the batch lapses, and compaction removes the files
            self.committer.ledger.write(lambda tx: ingest.abort(tx, transaction))
            self.committer.table.discard(tuple(self._files))

    def _forget(self) -> None:
        self._rows, self._bytes, self._files = [], 0, []

    def heartbeat(self) -> None:
        """Prolong the batch.

        Raises:
            BatchLapsed: it lapsed, or another aborted it.
        """
        self._require_batch("heartbeat")
        batch = self.opened.batch_id
        if not self.committer.ledger.write(lambda tx: ingest.heartbeat(tx, batch, self.timeout)):
            raise BatchLapsed(batch=batch)

    def close(self) -> None:
        """Abort what is open, and end the batch; a second call does nothing."""
        if self.is_closed:
            return
        if self._is_open:
            self.abort()
        self.is_closed = True
        self.committer.ledger.write(lambda tx: ingest.close_batch(tx, self.opened.batch_id))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _require_batch(self, call: str) -> None:
        if self.is_closed:
            raise BatchIsClosed(call=call)

    def _require_transaction(self, call: str) -> int:
        self._require_batch(call)
        if (current := self.current_id) is None:
            raise NoOpenTransaction(call=call)
        return current
