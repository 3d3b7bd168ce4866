"""The table of a feed over a connection of the API, here a fake one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from toolkit.ingest.errors import CatalogUnreachable, NoSuchIngestTable
from toolkit.ingest.port import DataFile, IngestTable, TableSpec
from toolkit.ingest.record_writer import BadRecord, ConvertedRecords, RecordWriter
from toolkit.ingest.remote_transaction import RemoteTransaction
from toolkit.ingest_job.connected_table import ConnectedTable, ConnectedWriter
from toolkit.ingest_job.source import JsonValue, Progress
from toolkit.ledger.database import Ledger


@dataclass
class Batch:
    """Says what is done with it."""

    calls: list[str]
    remaining: int
    fails: bool = False

    def begin(self) -> None:
        self.remaining -= 1
        self.calls.append("begin")

    def write(self, records: Sequence[bytes], /) -> None:
        self.calls.append(f"write {len(records)}")

    def remote(self) -> RemoteTransaction:
        raise NotImplementedError

    def add(self, files: Sequence[DataFile], /) -> None:
        self.calls.append(f"add {len(files)}")

    def commit(self, *, progress: tuple[str, Progress] | None) -> None:
        self.calls.append(f"commit {progress}")

    def abort(self) -> None:
        self.calls.append("abort")
        if self.fails:
            raise CatalogUnreachable(place="fake", cause="down")

    def heartbeat(self) -> None:
        if "heartbeat" not in self.calls:
            self.calls.append("heartbeat")

    def close(self) -> None:
        self.calls.append("close batch")


@dataclass
class Connection:
    """Gives batches of two transactions."""

    calls: list[str] = field(default_factory=list)
    fails: bool = False

    def transaction_batch(
        self,
        count: int,
        writer: RecordWriter,
        *,
        timeout: timedelta,
        flush_bytes: int,
        rejects: Callable[[BadRecord, bytes], None] | None,
    ) -> Batch:
        assert min(count, flush_bytes) > 1
        assert None not in (writer, timeout, rejects)
        self.calls.append("batch")
        return Batch(self.calls, 2, self.fails)

    def progress(self, name: str) -> Mapping[str, JsonValue] | None:
        return {"done": 1} if name == "known" else None

    def close(self) -> None:
        self.calls.append("close")


def no_ledger() -> Ledger:
    raise NotImplementedError


class Empty(RecordWriter):
    """Is not asked here."""

    def convert(self, records: Sequence[bytes], columns: object) -> ConvertedRecords:
        raise AssertionError(records, columns)


class NoTables:
    """A catalog without tables."""

    def open(self, namespace: str, table: str) -> IngestTable:
        raise NoSuchIngestTable(table=f"{namespace}.{table}")

    def create(self, namespace: str, table: str, spec: TableSpec) -> IngestTable:
        raise AssertionError(namespace, table, spec)

    def close(self) -> None:
        """Do nothing."""


def _writer(connection: Connection, name: str = "w", **given: float) -> ConnectedWriter[tuple[str, Progress]]:
    table = ConnectedTable(
        name="c.n.t",
        catalog=NoTables,
        namespace="n",
        table="t",
        connect=lambda *_: connection,
        record_writer=Empty(),
        progress_of=lambda name, document: (name, document),
        ledger=no_ledger,
        last_fence=lambda: 0,
    )
    assert table.state() is None
    return ConnectedWriter(table=table, connection=connection, progress_name=name, reject=lambda *_: None, **given)


def test_transactions_come_from_one_batch_after_the_other() -> None:
    connection = Connection()
    writer = _writer(connection)
    for number in range(3):
        writer.begin()
        writer.write([b"x"])
        writer.commit({"n": number} if number else None)
    writer.close()
    transaction = ["begin", "write 1"]
    assert connection.calls == [
        *("batch", *transaction, "commit None", *transaction, "commit ('w', {'n': 1})", "close batch"),
        *("batch", *transaction, "commit ('w', {'n': 2})", "close batch", "close"),
    ]


def test_an_open_transaction_is_aborted_once_even_when_the_catalog_is_down() -> None:
    connection = Connection(fails=True)
    writer = _writer(connection)
    writer.abort()
    writer.begin()
    writer.abort()
    writer.close()
    assert connection.calls == ["batch", "begin", "abort", "close batch", "close"]


def test_the_progress_of_an_unknown_name_is_empty() -> None:
    assert (_writer(Connection()).progress(), _writer(Connection(), "known").progress()) == ({}, {"done": 1})


def test_heartbeats_are_sent_while_the_source_is_silent() -> None:
    connection = Connection()
    writer = _writer(connection, beat_seconds=0.01)
    writer.begin()
    until = time.monotonic() + 60
    while "heartbeat" not in connection.calls and time.monotonic() < until:
        time.sleep(0.01)
    writer.close()
    assert "heartbeat" in connection.calls


def test_writing_before_a_transaction_is_an_error() -> None:
    with pytest.raises(ValueError, match="w"):
        _writer(Connection()).write([b"x"])
