"""Work of an executor in an ingest: reads files, and writes data files for the transaction that the driver commits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.errors import FeedctlError, Unavailable
from toolkit.ingest.errors import BadRecords, DataLost, RecordTooLong, UnitChanged
from toolkit.ingest.remote_transaction import RemoteRows, RemoteTransaction
from toolkit.ingest_job.rejects import RejectLog
from toolkit.ingest_job.targets import IngestDetail, RejectRules, code_of
from toolkit.storage import StorageError, StorageSpec, Unreachable, open_file_system

if TYPE_CHECKING:
    from toolkit.ingest.port import DataFile
    from toolkit.ingest_job.file_read import FileRead
    from toolkit.storage import FileSystem

CHUNK_ROWS = 10_000
OF_UNITS = (BadRecords, DataLost, RecordTooLong, UnitChanged, StorageError)
"""Errors of one unit: the others are committed without it."""

ErrorText = tuple[str, str]
"""Code and message of an error: errors of their own classes do not come from machine to machine."""


@dataclass(frozen=True, kw_only=True)
class ReadJob:
    """Settings that all tasks of a job have in common; it can be pickled.

    Attributes:
        transaction: gets the rows.
        table: its name, for errors.
        store: of the source.
        rules: of bad records.
        rejected: so many the run has rejected before.
        max_bytes: of the records that are read at once.
        seconds: then a task ends behind the records that it has read.
        reject_bytes: as much of bad records ends a task too: the driver has those of all tasks in memory.
    """

    transaction: RemoteTransaction
    table: str
    store: StorageSpec
    rules: RejectRules
    rejected: int
    max_bytes: int
    seconds: float
    reject_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitRead:
    """How far a unit was read.

    Attributes:
        name: of the unit.
        reached: see `FileRead.reached`.
        rows: number of its records, bad ones included.
        size: bytes in them.
        rejects: lines for the file of bad records.
        error: why it failed; then nothing of it counts. None: it did not.
    """

    name: str
    reached: tuple[int, str] = (0, "")
    rows: int = 0
    size: int = 0
    rejects: tuple[bytes, ...] = ()
    error: ErrorText | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskRead:
    """Answer of a task.

    Attributes:
        units: that were read; there was no time for the others.
        files: with their rows.
        error: why the task failed, as it would again; then there is nothing else.
    """

    units: tuple[UnitRead, ...] = ()
    files: tuple[DataFile, ...] = ()
    error: ErrorText | None = None


def read_files(job: ReadJob, files: Sequence[FileRead], attempt: int) -> Iterator[TaskRead]:
    """Do a task.

    Raises:
        Unavailable: a store does not answer; another attempt may find it up.
    """
    del attempt
    reading = _Reading(job=job, system=open_file_system(job.store, read_only=True))
    with ExitStack() as unless_done:
        unless_done.callback(reading.discard)
        try:
            answer = reading.read_all(files)
            unless_done.pop_all()
        except (Unavailable, Unreachable):
            raise
        except FeedctlError as error:
            answer = TaskRead(error=(code_of(error), str(error)))
    yield answer


@dataclass(kw_only=True)
class _Reading:
    """State of a task."""

    job: ReadJob
    system: FileSystem
    rows: RemoteRows = field(init=False)
    rejects: RejectLog = field(init=False)
    ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        job = self.job
        self.rows = RemoteRows(of=job.transaction)
        detail = IngestDetail(rejects=job.rejected)
        self.rejects = RejectLog(table=job.table, rules=job.rules, name="", stores=lambda _: self.system, detail=detail)
        self.ends_at = time.monotonic() + job.seconds

    @property
    def is_over(self) -> bool:
        is_full = sum(map(len, self.rejects.lines)) >= self.job.reject_bytes
        return is_full or time.monotonic() >= self.ends_at

    def read_all(self, files: Sequence[FileRead]) -> TaskRead:
        units: list[UnitRead] = []
        for file in files:
            if units and self.is_over:
                break
            units.append(self._read(file))
        return TaskRead(units=tuple(units), files=self.rows.finished())

    def _read(self, file: FileRead) -> UnitRead:
        first = len(self.rejects.lines)
        try:
            unit = self._converted(file)
        except Unreachable:
            raise
        except OF_UNITS as error:
            self.rejects.drop(first)
            with suppress(OSError):  # compaction removes them
                self.rows.give_up()
            return UnitRead(name=file.unit.name, error=(code_of(error), str(error)))
        self.rows.keep()
        return replace(unit, reached=file.reached, rejects=tuple(self.rejects.lines[first:]))

    def _converted(self, file: FileRead) -> UnitRead:
        transaction, rows, size = self.job.transaction, 0, 0
        for chunk in file.chunks(self.system, rows=CHUNK_ROWS, max_bytes=self.job.max_bytes):
            self.rejects.reading(file.unit, chunk.positions)
            found, bad = transaction.converted(chunk.records)
            for each in bad:
                self.rejects.reject(each, chunk.records[each.index])
            self.rows.add(found)
            rows, size = rows + len(chunk.records), size + sum(map(len, chunk.records))
            if self.is_over:
                break
        return UnitRead(name=file.unit.name, rows=rows, size=size)

    def discard(self) -> None:
        """Remove the data files of a task that failed."""
        with suppress(OSError):  # compaction removes them
            self.rows.give_up()
            self.job.transaction.files.discard(self.rows.files)
