"""From event times to instances: the partition columns of rows, and which rows are too late."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from toolkit.el import Frequency, InstanceSequence, OutOfRange, TableUri, format_instant, parse_instant, shift
from toolkit.ingest.port import CLOSED_PROPERTY, Partition, TableState
from toolkit.ingest.record_writer import BadRecord
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = 60_000_000
LATE = json.dumps({"cause": "late data"})
"""The `extra` of an `updated` event for late rows: the cause."""


@dataclass(frozen=True, kw_only=True)
class IngestInstances:
    """The instances of a feed on a cluster, and their partitions.

    Attributes:
        feed: its name.
        cluster: its name.
        sequence: of the instances.
        table: the table URI of the feed, with values for its variables.
        event_time: column from which a row gets its instance.
        cut_off: so long after its nominal time an instance may get late data; None: once closed, never.
        timezone: of the feed, where days of the cut-off are counted.
    """

    feed: str
    cluster: str
    sequence: InstanceSequence
    table: TableUri
    event_time: str
    cut_off: Frequency | None = None
    timezone: str = "UTC"

    @cached_property
    def partition_columns(self) -> tuple[str, ...]:
        """Return the names of the partition columns."""
        return tuple(self.table.partition_keys)

    def of_minute(self, minute: int) -> datetime | str:
        """Return the instance of a minute since 1970, or why there is none."""
        try:
            at = _EPOCH + timedelta(minutes=minute)
        except OverflowError:
            return f"{self.event_time} is outside of the years 1 to 9999"
        instance = self.sequence.at_or_before(at)
        if instance is None:
            start = format_instant(self.sequence.start)
            return f"{self.event_time} {format_instant(at)} is before the start of the validity, {start}"
        if self.sequence.end is not None and at >= self.sequence.end:
            end = format_instant(self.sequence.end)
            return f"{self.event_time} {format_instant(at)} is not before the end of the validity, {end}"
        return instance

    def over_before(self, instant: datetime) -> datetime | None:
        """Return the time before which all instances are over at an instant; None: none is over."""
        end = self.sequence.end
        return end if end is not None and instant >= end else self.sequence.at_or_before(instant)

    def partition(self, instance: datetime) -> Partition:
        """Return the values of the partition columns of an instance."""
        return tuple(self.table.render(instance).values())

    def partition_uri(self, table: str, instance: datetime) -> str:
        """Return the name of an instance's partition: the table and the values of its partition columns."""
        pairs = zip(self.partition_columns, self.partition(instance), strict=True)
        return f"{table}/" + "/".join(f"{key}={value}" for key, value in pairs)

    def instance_of(self, partition: Partition) -> datetime | None:
        """Return the instance of a partition; None: it is of none."""
        period = self.table.period_of(dict(zip(self.partition_columns, partition, strict=True)))
        found = None if period is None else self.sequence.at_or_after(period.first)
        return found if found is not None and period is not None and found in period else None

    def refusal(self, instance: datetime, closed_before: datetime | None, now: datetime) -> str:
        """Return why an instance gets no more rows; empty: it does."""
        if closed_before is None or instance >= closed_before:
            return ""
        key = format_instant(instance)
        if self.cut_off is None:
            return f"instance {key} is closed, and the feed has no late-arrival cut-off"
        try:
            until = shift(instance, self.cut_off, 1, self.timezone)
        except OutOfRange:
            return ""
        return f"instance {key} is closed, and its late data ended at {format_instant(until)}" if now > until else ""

    def late_events(self, partitions: Sequence[Partition], state: TableState) -> Sequence[NewEvent]:
        """Return the events of a commit: one for each closed instance that got late rows."""
        closed = closed_before(state)
        instances = {self.instance_of(each) for each in partitions} - {None}
        late = sorted(each for each in instances if each is not None and closed is not None and each < closed)
        return [
            NewEvent(
                kind=EventKind.UPDATED,
                feed=self.feed,
                cluster=self.cluster,
                instance_key=format_instant(each),
                extra=LATE,
            )
            for each in late
        ]


def closed_before(state: TableState | None) -> datetime | None:
    """Return the instant before which the instances of a table are closed; None: none is."""
    text = None if state is None else state.properties.get(CLOSED_PROPERTY)
    return None if text is None else parse_instant(text)


@dataclass(kw_only=True)
class PartitionFiller:
    """Adds the partition columns to rows by their event time; a minute is resolved once.

    Attributes:
        instances: of the feed.
        closed_before: the instances before it are closed.
        now: the present instant.
    """

    instances: IngestInstances
    closed_before: datetime | None
    now: Callable[[], datetime]

    def __call__(self, rows: pa.Table) -> tuple[pa.Table, Sequence[BadRecord]]:
        """Return the good rows with their partition columns, and the others."""
        encoded = self._minutes(rows)
        found = [self._resolved(minute) for minute in encoded.dictionary.to_pylist()]
        bad = self._bad(encoded.indices, found)
        if bad:
            mask = pa.array([isinstance(each, tuple) for each in found], pa.bool_()).take(encoded.indices)
            kept = pc.fill_null(mask, False)  # noqa: FBT003 - pyarrow's function has no names
            rows, encoded = rows.filter(kept), encoded.filter(kept)
        for at, name in enumerate(self.instances.partition_columns):
            values = pa.array([each[at] if isinstance(each, tuple) else None for each in found], pa.string())
            rows = rows.append_column(name, values.take(encoded.indices))
        return rows, bad

    def _minutes(self, rows: pa.Table) -> pa.DictionaryArray:
        times = rows.column(self.instances.event_time).combine_chunks()
        if isinstance(times, pa.ChunkedArray):
            times = pa.concat_arrays(times.chunks) if times.num_chunks else pa.array([], times.type)
        minutes = pc.floor_temporal(times.cast(pa.timestamp("us"), safe=False), unit="minute").cast(pa.int64())
        return pc.divide(minutes, _MINUTE).dictionary_encode()

    def _resolved(self, minute: int) -> Partition | str:
        instance = self.instances.of_minute(minute)
        if isinstance(instance, str):
            return instance
        why = self.instances.refusal(instance, self.closed_before, self.now())
        return why or self.instances.partition(instance)

    def _bad(self, indices: pa.Array, found: Sequence[Partition | str]) -> Sequence[BadRecord]:
        """Return the rows without an instance; a scan, only when there may be one."""
        if not indices.null_count and all(isinstance(each, tuple) for each in found):
            return ()
        null = f"{self.instances.event_time} is null, expected a timestamp"
        reasons = ((row, null if at is None else found[at]) for row, at in enumerate(indices.to_pylist()))
        return [BadRecord(index=row, reason=why) for row, why in reasons if isinstance(why, str)]
