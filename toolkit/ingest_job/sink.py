"""The protocol of the table of a feed, as an ingest writes to it; `toolkit.bootstrap.ingest` has it on PyIceberg."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from toolkit.ingest_job.source import Progress

if TYPE_CHECKING:
    from toolkit.ingest.batch import RejectRecord
    from toolkit.ingest.port import DataFile, IngestTable, TableState
    from toolkit.ingest.remote_transaction import FillRows, RemoteTransaction
    from toolkit.ingest.settlement import IngestEvents


class TableWriter(Protocol):
    """Writes records in transactions, each atomic with the progress of the source; used by one thread."""

    def progress(self) -> Progress:
        """Look at the table, and return how far the source was read; empty: never."""
        ...

    def begin(self) -> None:
        """Begin a transaction."""
        ...

    def write(self, records: Sequence[bytes]) -> None:
        """Write records in the transaction; bad ones go to the reject of the writer."""
        ...

    def remote(self) -> RemoteTransaction:
        """Return the open transaction for other machines, whose data files `add` takes."""
        ...

    def add(self, files: Sequence[DataFile]) -> None:
        """Add data files that other machines wrote for the open transaction."""
        ...

    def commit(self, progress: Progress | None) -> None:
        """Commit the transaction together with the progress; without one when the source keeps none."""
        ...

    def abort(self) -> None:
        """End the transaction without its records; nothing when there is none."""
        ...

    def close(self) -> None:
        """End the connection; a transaction that is open is aborted."""
        ...


class IngestedTable(Protocol):
    """The table of a feed on a cluster."""

    @property
    def name(self) -> str:
        """``catalog.namespace.table``."""
        ...

    def state(self) -> TableState | None:
        """Look at the table without changing anything; None: it does not exist yet."""
        ...

    def last_fence(self) -> int:
        """Return the fence of the last commit to it that the ledger knows; 0: there was none."""
        ...

    def set_watermark(self, watermark: Mapping[str, str], events: IngestEvents) -> None:
        """Commit that the table has all that the source had at an instant.

        Args:
            watermark: its properties; see `WatermarkChange`.
            events: see `IngestEvents`; of commits that killed writers left undecided.
        """
        ...

    def opened(self) -> AbstractContextManager[IngestTable]:
        """Open the table for looks and for maintenance.

        Raises:
            NoSuchIngestTable: it does not exist; when the context is entered.
        """
        ...

    def writer(self, progress_name: str, reject: RejectRecord, fill: FillRows, events: IngestEvents) -> TableWriter:
        """Open a connection that writes; creates the table when it is missing.

        Args:
            progress_name: under which the progress is kept.
            reject: see `RejectRecord`.
            fill: see `FillRows`.
            events: see `IngestEvents`.
        """
        ...
