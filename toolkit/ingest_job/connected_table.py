"""The table of a feed over the API of streaming ingest: one connection, and one batch of transactions after another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from typing_extensions import override

from toolkit.errors import FeedctlError
from toolkit.ingest.batch import RejectRecord
from toolkit.ingest.errors import NoSuchIngestTable
from toolkit.ingest.exclusive import ExclusiveCommits
from toolkit.ingest.port import TableCommit
from toolkit.ingest.remote_transaction import FillRows
from toolkit.ingest.settlement import IngestEvents
from toolkit.ingest.slot import CommitSlots
from toolkit.ingest_job.sink import TableWriter

if TYPE_CHECKING:
    from toolkit.ingest.port import DataFile, IngestCatalog, IngestTable, TableState
    from toolkit.ingest.record_writer import RecordWriter
    from toolkit.ingest.remote_transaction import RemoteTransaction
    from toolkit.ingest_job.source import Progress
    from toolkit.ledger.database import Ledger

TRANSACTIONS = 10
"""So many transactions one batch has; the ledger has a row for each, also for those that are not used."""
TIMEOUT = timedelta(minutes=5)
"""A batch without a heartbeat for so long may be aborted by anybody."""

P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)


class OpenBatch(Protocol[P_contra]):
    """A batch of transactions of the API; `P_contra` is its type of a writer's progress."""

    @property
    def remaining(self) -> int:
        """So many transactions are left."""
        ...

    def begin(self) -> None:
        """Begin the next transaction."""
        ...

    def write(self, records: Sequence[bytes], /) -> None:
        """Write records."""
        ...

    def remote(self) -> RemoteTransaction:
        """Return the transaction for other machines."""
        ...

    def add(self, files: Sequence[DataFile], /) -> None:
        """Add data files of other machines."""
        ...

    def commit(self, *, progress: P_contra | None) -> None:
        """Commit the transaction."""
        ...

    def abort(self) -> None:
        """Abort the transaction."""
        ...

    def heartbeat(self) -> None:
        """Say that the writer lives."""
        ...

    def close(self) -> None:
        """End the batch; transactions that are left are aborted."""
        ...


class OpenConnection(Protocol[P_contra]):
    """A connection of the API."""

    def transaction_batch(
        self, count: int, writer: RecordWriter, *, timeout: timedelta, flush_bytes: int, rejects: RejectRecord | None
    ) -> OpenBatch[P_contra]:
        """Open a batch."""
        ...

    def progress(self, name: str) -> Mapping[str, object] | None:
        """Return the progress of a named writer."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


@dataclass(frozen=True, kw_only=True)
class ConnectedTable(Generic[P]):
    """Table of a feed: an `IngestedTable`.

    Attributes:
        name: ``catalog.namespace.table``.
        catalog: opens the catalog, for looks.
        namespace: of the table.
        table: its name in the namespace.
        connect: opens a connection that creates the table when it is missing.
        record_writer: converts records.
        progress_of: makes the API's progress of a name and a document.
        ledger: of the run.
        last_fence: of the last commit, see `IngestedTable`; looked up when it is called.
        flush_bytes: so many bytes of a transaction are in memory before a data file is written.
    """

    name: str
    catalog: Callable[[], IngestCatalog]
    namespace: str
    table: str
    connect: Callable[[FillRows, IngestEvents], OpenConnection[P]]
    record_writer: RecordWriter
    progress_of: Callable[[str, Progress], P]
    ledger: Callable[[], Ledger]
    last_fence: Callable[[], int]
    flush_bytes: int = 64 << 20

    def state(self) -> TableState | None:
        """Look at the catalog; None: the table does not exist."""
        with suppress(NoSuchIngestTable), closing(self.catalog()) as catalog:
            return catalog.open(self.namespace, self.table).state()
        return None

    def set_watermark(self, watermark: Mapping[str, str], events: IngestEvents) -> None:
        """Commit the watermark; see `IngestedTable`."""
        with self.opened() as table:

            def change(base: TableState, properties: Mapping[str, str]) -> None:
                table.commit(TableCommit(properties={**properties, **watermark}), base)

            commits = ExclusiveCommits(slots=CommitSlots(table=table, ledger=self.ledger()), events=events)
            commits.commit(change, lambda: watermark.items() <= table.state().properties.items())

    @contextmanager
    def opened(self) -> Iterator[IngestTable]:
        """Open the table; see `IngestedTable`."""
        with closing(self.catalog()) as catalog:
            yield catalog.open(self.namespace, self.table)

    def writer(self, progress_name: str, reject: RejectRecord, fill: FillRows, events: IngestEvents) -> TableWriter:
        """Connect; arguments are those of `IngestedTable.writer`."""
        connection = self.connect(fill, events)
        return ConnectedWriter(table=self, connection=connection, progress_name=progress_name, reject=reject)


@dataclass(kw_only=True)
class ConnectedWriter(TableWriter, Generic[P]):
    """Writer over a connection; used by one thread.

    Attributes:
        table: of the feed.
        connection: to it.
        progress_name: under which the progress is kept.
        reject: told of bad records.
        beat_seconds: so long between two heartbeats.
    """

    table: ConnectedTable[P]
    connection: OpenConnection[P]
    progress_name: str
    reject: RejectRecord
    beat_seconds: float = 60.0
    _batch: OpenBatch[P] | None = field(default=None, init=False)
    _alive: threading.Thread | None = field(default=None, init=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False)
    _is_open: bool = field(default=False, init=False)

    @override
    def progress(self) -> Progress:
        return cast("Progress", self.connection.progress(self.progress_name) or {})

    @override
    def begin(self) -> None:
        if self._batch is not None and not self._batch.remaining:
            self._batch.close()
            self._batch = None
        if self._batch is None:
            self._batch = self.connection.transaction_batch(
                TRANSACTIONS,
                self.table.record_writer,
                timeout=TIMEOUT,
                flush_bytes=self.table.flush_bytes,
                rejects=self.reject,
            )
            self._keep_alive()
        self._batch.begin()
        self._is_open = True

    def _keep_alive(self) -> None:
        """Send heartbeats from a thread, since a source may be silent for longer than the timeout of a batch."""
        if self._alive is None:
            self._alive = threading.Thread(target=self._beat, name="feedctl-ingest-heartbeat", daemon=True)
            self._alive.start()

    def _beat(self) -> None:
        while not self._ended.wait(self.beat_seconds):
            batch = self._batch
            if batch is not None:
                with suppress(FeedctlError):  # the next commit says so
                    batch.heartbeat()

    @override
    def write(self, records: Sequence[bytes]) -> None:
        self._opened.write(records)

    @override
    def remote(self) -> RemoteTransaction:
        return self._opened.remote()

    @override
    def add(self, files: Sequence[DataFile]) -> None:
        self._opened.add(files)

    @override
    def commit(self, progress: Progress | None) -> None:
        self._is_open = False
        made = None if progress is None else self.table.progress_of(self.progress_name, progress)
        self._opened.commit(progress=made)

    @override
    def abort(self) -> None:
        if self._is_open:
            self._is_open = False
            with suppress(FeedctlError):  # without an abort the batch lapses
                self._opened.abort()

    @override
    def close(self) -> None:
        self._ended.set()
        if self._alive is not None:
            self._alive.join()
        try:
            self.abort()
            if self._batch is not None:
                self._batch.close()
        finally:
            self.connection.close()

    @property
    def _opened(self) -> OpenBatch[P]:
        if self._batch is None:
            raise ValueError(self.progress_name)
        return self._batch
