"""Parts of the ingest alone: lines, instances, progress, the extra."""

from __future__ import annotations

import io
from datetime import timedelta

import pyarrow as pa
import pytest

from tests.unit.ingest_job.scene import INSTANCES, NOW, micros
from toolkit.el import Frequency, InstanceSequence, TableUri, parse_instant
from toolkit.ingest.extra import KAFKA, IngestNotInstalled, require_extra
from toolkit.ingest.port import CLOSED_PROPERTY, WRITER_PROPERTY, TableState
from toolkit.ingest.writer_progress import UnreadableProgress, progress_of
from toolkit.ingest_job.instances import IngestInstances, PartitionFiller
from toolkit.ingest_job.line_reader import LineReader


def _state(**properties: str) -> TableState:
    return TableState(snapshot_id=1, schema_id=0, columns=(), partition_columns=("ds",), properties=properties)


@pytest.mark.parametrize("block", [1, 2, 3, 7, 100])
def test_lines_are_the_same_whatever_comes_at_once(block: int) -> None:
    text = b"a\r\n\nbcd\n" + b"x" * 20 + b"\nlast"
    stream = io.BytesIO(text)
    reader = LineReader(read=lambda size: stream.read(min(size, block)), unit="u", most_bytes=50)
    groups = list(reader.lines(rows=2, max_bytes=1000))
    assert [record for each in groups for record in each.records] == [b"a", b"", b"bcd", b"x" * 20, b"last"]
    assert b"".join(each.raw for each in groups) == text
    assert groups[0].first == 1
    assert groups[-1].first + len(groups[-1].records) == 6


@pytest.mark.parametrize("block", [1, 100])
@pytest.mark.parametrize(("line", "first"), [(1, b"a"), (2, b"\xef\xbb\xbfa")])
def test_a_byte_order_mark_is_no_part_of_the_first_record_of_a_file_alone(block: int, line: int, first: bytes) -> None:
    text = b"\xef\xbb\xbfa\r\n\xef\xbb\xbfb\n"
    stream = io.BytesIO(text)
    reader = LineReader(read=lambda size: stream.read(min(size, block)), unit="u", most_bytes=50, line=line)
    groups = list(reader.lines(rows=1, max_bytes=1000))
    assert [record for each in groups for record in each.records] == [first, b"\xef\xbb\xbfb"]
    assert b"".join(each.raw for each in groups) == text


def test_hours_are_named_in_the_time_zone_of_the_paths() -> None:
    instances = IngestInstances(
        feed="clicks",
        cluster="primary",
        sequence=InstanceSequence(parse_instant("2026-03-01T00:00Z"), Frequency.parse("hours(1)")),
        table=TableUri.parse("catalog:web:clicks#h=${YEAR}-${MONTH}-${DAY}-${HOUR}", "Europe/Berlin"),
        event_time="ts",
    )
    fill = PartitionFiller(instances=instances, closed_before=None, now=lambda: NOW)
    times = [micros("2026-03-29T00:59Z") + 59_999_999, micros("2026-03-29T01:00Z")]
    rows, bad = fill(pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC"))}))
    assert (rows["h"].to_pylist(), bad) == (["2026-03-29-01", "2026-03-29-03"], ())


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_event_times_of_each_resolution_have_their_instance(unit: str) -> None:
    fill = PartitionFiller(instances=INSTANCES, closed_before=None, now=lambda: NOW)
    times = pa.array([micros("2026-03-02T23:59Z")], pa.timestamp("us", "UTC")).cast(pa.timestamp(unit, "UTC"))
    rows, _ = fill(pa.table({"ts": pa.chunked_array([times, times.slice(1)])}))
    assert rows["ds"].to_pylist() == ["2026-03-02"]


def test_no_rows_have_partition_columns_too() -> None:
    fill = PartitionFiller(instances=INSTANCES, closed_before=None, now=lambda: NOW)
    rows, bad = fill(pa.table({"ts": pa.array([], pa.timestamp("us", "UTC"))}))
    assert (rows.column_names, rows["ds"].type, bad) == (["ts", "ds"], pa.string(), ())


def test_a_closed_instance_takes_late_rows_until_its_cut_off() -> None:
    instance, closed = parse_instant("2026-03-10T00:00Z"), parse_instant("2026-03-11T00:00Z")
    until = instance + timedelta(days=2)
    assert INSTANCES.refusal(instance, None, until + timedelta(days=9)) == ""
    assert INSTANCES.refusal(instance, closed, until) == ""
    assert "late data ended at 2026-03-12T00:00Z" in INSTANCES.refusal(instance, closed, until + timedelta(seconds=1))
    assert INSTANCES.refusal(closed, closed, until + timedelta(days=9)) == ""


def test_only_closed_instances_get_an_updated_event() -> None:
    state = _state(**{CLOSED_PROPERTY: "2026-03-03T00:00Z"})
    events = INSTANCES.late_events([("2026-03-02",), ("2026-03-03",), ("no date",)], state)
    assert [each.instance_key for each in events] == ["2026-03-02T00:00Z"]


def test_a_property_that_is_no_progress_is_an_error() -> None:
    key = f"{WRITER_PROPERTY}w"
    assert progress_of(_state(**{key: '{"sequence": 3, "transaction": 7, "progress": {"a": 1}}'}), "w") == {"a": 1}
    for text in ("no json", "[]", '{"progress": 3}'):
        with pytest.raises(UnreadableProgress, match="another program"):
            progress_of(_state(**{key: text}), "w")


def test_a_missing_package_names_the_extra() -> None:
    with pytest.raises(IngestNotInstalled, match=r"pip install 'feedctl\[ingest\]'"):
        require_extra(lambda name: None if name == "pyiceberg" else name)
    with pytest.raises(IngestNotInstalled, match="confluent_kafka"):
        require_extra(lambda _: None, KAFKA)
