"""A table in one JSON file, whose commits are atomic renames, so that processes and killed ones can share it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa

from toolkit.ingest.batch import RejectRecord
from toolkit.ingest.errors import CatalogUnreachable
from toolkit.ingest.port import (
    CLOSED_PROPERTY,
    WRITER_PROPERTY,
    DataFile,
    IngestColumn,
    IngestTable,
    TableState,
)
from toolkit.ingest.record_writer import BadRecord
from toolkit.ingest.remote_transaction import FillRows, RemoteTransaction
from toolkit.ingest.settlement import IngestEvents
from toolkit.ingest.writer_progress import progress_of
from toolkit.ingest_job.sink import TableWriter
from toolkit.ingest_job.source import Progress
from toolkit.ledger.events import NewEvent

COLUMNS = (IngestColumn(name="ts", type="timestamp"), IngestColumn(name="word", type="string"))


@dataclass(kw_only=True)
class Content:
    """Content of the file: rows as word and day."""

    rows: list[list[str]] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class FakeTable:
    """A `IngestedTable`: records are JSON objects with ``ts`` (microseconds or null) and ``word``.

    Attributes:
        path: the file.
        point: called with the name of each point where a process may be killed.
        fail_commits: the numbers of commits that fail.
        looked: called after each look.
    """

    path: Path
    point: Callable[[str], None] = lambda _: None
    fail_commits: frozenset[int] = frozenset()
    name: str = "feedctl.web.clicks"
    looked: Callable[[], object] = lambda: None
    events: list[NewEvent] = field(default_factory=list)

    def content(self) -> Content:
        """Return rows and properties."""
        return Content(**json.loads(self.path.read_text())) if self.path.exists() else Content()

    @property
    def words(self) -> list[str]:
        """Return the words of the table."""
        return sorted(row[0] for row in self.content().rows)

    def close_before(self, text: str) -> None:
        """Close the instances before an instant."""
        found = self.content()
        found.properties[CLOSED_PROPERTY] = text
        self.path.write_text(json.dumps(asdict(found)))

    def state(self) -> TableState | None:
        """Look."""
        is_there = self.path.exists()
        properties = self.content().properties
        self.looked()
        if not is_there:
            return None
        return TableState(snapshot_id=1, schema_id=0, columns=COLUMNS, partition_columns=("ds",), properties=properties)

    def last_fence(self) -> int:
        """Return that no ledger knows a commit."""
        return 0

    def set_watermark(self, watermark: Mapping[str, str], events: IngestEvents) -> None:
        """Set the properties."""
        del events
        found = self.content()
        found.properties.update(watermark)
        self.path.write_text(json.dumps(asdict(found)))

    def opened(self) -> AbstractContextManager[IngestTable]:
        """Refuse: maintenance has tests on real tables."""
        raise NotImplementedError

    def writer(self, progress_name: str, reject: RejectRecord, fill: FillRows, events: IngestEvents) -> TableWriter:
        """Open."""
        return FakeWriter(table=self, progress_name=progress_name, reject=reject, fill=fill, events=events)


@dataclass(kw_only=True)
class FakeWriter(TableWriter):
    """Its writer; a transaction is in memory until it is committed."""

    table: FakeTable
    progress_name: str
    reject: RejectRecord
    fill: FillRows
    events: IngestEvents
    rows: list[list[str]] | None = None
    commits: int = 0

    def progress(self) -> Progress:
        return progress_of(self.table.state(), self.progress_name)

    def begin(self) -> None:
        assert self.rows is None
        self.rows = []

    def write(self, records: Sequence[bytes]) -> None:
        assert self.rows is not None
        good: list[tuple[int, str]] = []
        times: list[int | None] = []
        for index, record in enumerate(records):
            try:
                found = json.loads(record)
                times.append(found["ts"])
                good.append((index, found["word"]))
            except (ValueError, KeyError) as error:
                self.reject(BadRecord(index=index, reason=f"no JSON: {type(error).__name__}"), record)
        table = pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "at": range(len(good))})
        filled, bad = self.fill(table)
        for each in bad:
            index = good[each.index][0]
            self.reject(BadRecord(index=index, reason=each.reason), records[index])
        for at, day in zip(filled["at"].to_pylist(), filled["ds"].to_pylist(), strict=True):
            self.rows.append([good[at][1], day])
        self.table.point("written")

    def remote(self) -> RemoteTransaction:
        raise NotImplementedError  # executors write to real tables alone

    def add(self, files: Sequence[DataFile]) -> None:
        raise NotImplementedError

    def commit(self, progress: Progress | None) -> None:
        assert self.rows is not None
        self.commits += 1
        self.table.point("before commit")
        if self.commits in self.table.fail_commits:
            raise CatalogUnreachable(place="fake", cause="down")
        found = self.table.content()
        if progress is not None:
            found.properties[WRITER_PROPERTY + self.progress_name] = json.dumps({"progress": progress})
        found.rows.extend(self.rows)
        self.table.path.with_suffix(".new").write_text(json.dumps(asdict(found)))
        self.table.point("in commit")
        self.table.path.with_suffix(".new").replace(self.table.path)
        self.table.point("after commit")
        state = self.table.state()
        assert state is not None
        self.table.events.extend(self.events([(day,) for day in sorted({row[1] for row in self.rows})], state))
        self.rows = None

    def abort(self) -> None:
        self.rows = None

    def close(self) -> None:
        self.rows = None
