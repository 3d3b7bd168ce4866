"""An open transaction on other machines: they convert records and write data files, and its owner commits these."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from toolkit.ingest.record_writer import BadRecord, RecordWriter

if TYPE_CHECKING:
    from toolkit.ingest.port import DataFile, FileWriter, IngestColumn

FillRows: TypeAlias = Callable[[pa.Table], tuple[pa.Table, Sequence[BadRecord]]]
"""Adds the partition columns to rows, and returns the rows that have them, and the others by their index."""


def converted_rows(
    records: Sequence[bytes], columns: Sequence[IngestColumn], writer: RecordWriter, fill: FillRows
) -> tuple[pa.Table, Sequence[BadRecord]]:
    """Return the rows of records, filled by both functions, and the bad records by their index."""
    converted = writer.convert(records, columns)
    rows, bad = fill(converted.rows)
    kept = converted.kept
    places = [BadRecord(index=each.index if kept is None else kept[each.index], reason=each.reason) for each in bad]
    return rows, sorted((*converted.bad, *places), key=lambda each: each.index)


@dataclass(frozen=True, kw_only=True)
class RemoteTransaction:
    """An open transaction for other machines; it can be pickled.

    Attributes:
        transaction: its id.
        files: writes data files.
        columns: of the table that the writer fills.
        writer: converts records.
        fill: adds the columns that the writer does not fill.
        flush_bytes: rows with more bytes in memory are written.
    """

    transaction: int
    files: FileWriter
    columns: tuple[IngestColumn, ...]
    writer: RecordWriter
    fill: FillRows
    flush_bytes: int

    def converted(self, records: Sequence[bytes]) -> tuple[pa.Table, Sequence[BadRecord]]:
        """Return the rows of records, and the bad records by their index."""
        return converted_rows(records, self.columns, self.writer, self.fill)

    def write(self, rows: Sequence[pa.Table]) -> tuple[DataFile, ...]:
        """Write rows under names that no other attempt has; compaction knows by them whose they are."""
        whole = pa.concat_tables(rows) if rows else None
        if whole is None or not whole.num_rows:
            return ()
        return self.files.write(whole, f"feedctl-{self.transaction}-{uuid.uuid4().int}")


@dataclass(kw_only=True)
class RemoteRows:
    """Rows of one machine, in bounded memory; those of the last part may be given up, without those before it.

    Attributes:
        of: the transaction.
        files: with the rows that are kept and were written.
    """

    of: RemoteTransaction
    files: list[DataFile] = field(default_factory=list)
    _kept: list[pa.Table] = field(default_factory=list, init=False)
    _new: list[pa.Table] = field(default_factory=list, init=False)
    _new_files: list[DataFile] = field(default_factory=list, init=False)

    def add(self, rows: pa.Table) -> None:
        """Add rows to the part; rows that are too many for the memory are written, of the part by themselves."""
        self._new.append(rows)
        if sum(each.nbytes for each in (*self._kept, *self._new)) >= self.of.flush_bytes:
            self._write_kept()
            self._new_files.extend(self.of.write(self._new))
            self._new.clear()

    def keep(self) -> None:
        """End the part: its rows belong to the transaction."""
        self._kept.extend(self._new)
        self.files.extend(self._new_files)
        self._new, self._new_files = [], []

    def give_up(self) -> None:
        """End the part without its rows. Raises OSError."""
        given_up, self._new, self._new_files = self._new_files, [], []
        self.of.files.discard(given_up)

    def finished(self) -> tuple[DataFile, ...]:
        """Write what is in memory, and return all files."""
        self._write_kept()
        return tuple(self.files)

    def _write_kept(self) -> None:
        self.files.extend(self.of.write(self._kept))
        self._kept.clear()
