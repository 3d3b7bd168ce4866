"""The protocol of the table of a feed, as an ingest writes to it; `toolkit.bootstrap.ingest` has it on PyIceberg."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from toolkit.ingest_job.source import Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from toolkit.ingest.port import Partition, TableState
    from toolkit.ingest.record_writer import BadRecord
    from toolkit.ledger.events import NewEvent

Reject: TypeAlias = "Callable[[BadRecord, bytes], None]"
"""Is told of a record that is no row of the table; what it raises ends the transaction."""
Fill: TypeAlias = "Callable[[pa.Table], tuple[pa.Table, Sequence[BadRecord]]]"
"""Adds the partition columns to rows; rows that have none are left out, and told by their index."""

Events: TypeAlias = "Callable[[Sequence[Partition], TableState], Sequence[NewEvent]]"
"""Tells the events of a commit that touched partitions, when it is settled."""


class TableWriter(Protocol):
    """Writes records in transactions, each atomic with the progress of the source; used by one thread."""

    def progress(self) -> Progress:
        """Look at the table, and return how far the source was read; empty: never."""
        ...

    def begin(self) -> None:
        """Begin a transaction."""
        ...

    def write(self, records: Sequence[bytes]) -> None:
        """Write records in the transaction; bad ones go to `Reject`."""
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

    def writer(self, progress_name: str, reject: Reject, fill: Fill, events: Events) -> TableWriter:
        """Open a connection that writes; creates the table when it is missing.

        Args:
            progress_name: under which the progress is kept.
            reject: see `Reject`.
            fill: see `Fill`.
            events: see `Events`.
        """
        ...
