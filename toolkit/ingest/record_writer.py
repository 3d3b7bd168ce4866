"""The protocol of record writers: records as bytes in, rows of the table out (Hive Streaming API, RecordWriter)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from toolkit.ingest.port import IngestColumn


@dataclass(frozen=True, kw_only=True, slots=True)
class BadRecord:
    """A record that is no row of the table.

    Attributes:
        index: of the record in the sequence that was converted, from 0.
        reason: what was found and what was expected, with the column where there is one; one line, and of the
            record's text at most 100 characters.
    """

    index: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ConvertedRecords:
    """Rows of records.

    Attributes:
        rows: the rows of the good records, in their order; the columns that the writer fills.
        kept: index of the record of each row, in the order of `rows`; None: every record is good, row i is record i.
        bad: the other records, in their order.
    """

    rows: pa.Table
    kept: Sequence[int] | None = None
    bad: tuple[BadRecord, ...] = ()


class RecordWriter(Protocol):
    """Converts records of one format into rows; safe between threads, since it keeps nothing between calls."""

    def convert(self, records: Sequence[bytes], columns: Sequence[IngestColumn]) -> ConvertedRecords:
        """Convert records; what is no row of the table is told, and never changed into something that is.

        Args:
            records: without the ends of lines.
            columns: of the table, without those that the ingest fills itself (partition columns).

        Raises:
            InvalidInput: the settings of the writer do not fit the columns at all.
        """
        ...
