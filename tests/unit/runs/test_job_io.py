"""Tests of what an instance of a process reads and makes, as the ledger's calls take it."""

from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import CLUSTER, PROCESS, repository
from toolkit.el import ElError
from toolkit.entities import UnknownName
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.runs.job_calls import JobIo

NOON = "2026-03-01T12:00Z"

SUMS = """\
kind: feed
name: sums
frequency: hours(1)
table: "catalog:web:sums#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"
clusters: [{name: primary, validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}]
"""


def io(process: str = PROCESS, cluster: str = CLUSTER, key: str = NOON) -> JobIo:
    files = {"clusters/primary.yaml": cluster, "processes/clicks_hourly.yaml": process, "feeds/sums.yaml": SUMS}
    return JobIo.of(repository(files), "clicks_hourly", "primary", key)


def clicks(hour: int) -> FeedInstance:
    return FeedInstance(
        feed="clicks",
        cluster="primary",
        instance_key=f"2026-03-01T{hour:02}:00Z",
        uri=f"hdfs://ns1/data/clicks/2026/03/01/{hour:02}",
    )


def test_inputs_are_instances_with_their_place_oldest_first() -> None:
    found = io(cluster=CLUSTER.replace("file:///", "hdfs://ns1"), key="2026-03-01T02:00Z").inputs()
    assert found.instances == tuple(clicks(hour) for hour in range(3))
    assert found.unresolved == ()


def test_two_inputs_that_share_instances_name_them_once() -> None:
    twice = PROCESS.replace(
        'end: "now(0,0)"}\n', 'end: "now(0,0)"}\n  again: {feed: clicks, start: "now(-1,0)", end: "now(0,0)"}\n'
    )
    assert len(io(twice, key="2026-03-01T02:00Z").inputs().instances) == 3


def test_an_optional_input_is_taken_for_there() -> None:
    optional = PROCESS.replace('end: "now(0,0)"}', 'end: "now(0,0)", optional: true}')
    assert len(io(optional).inputs().instances) == 13


def test_an_input_that_counts_available_instances_is_left_to_the_run() -> None:
    latest = PROCESS.replace('start: "today(0,0)", end: "now(0,0)"', 'start: "latest(-1)", end: "latest(0)"')
    found = io(latest).inputs()
    assert (found.instances, found.unresolved) == ((), ("clicks",))


def test_an_output_in_a_table_is_named_by_its_partition() -> None:
    makes = PROCESS + 'outputs: {sums: {feed: sums, instance: "now(0,0)"}}\n'
    registry = CLUSTER.replace("}}", '}, registry: {endpoint: "thrift://hms:9083"}}')
    (made,) = io(makes, registry).outputs()
    assert (made.feed, made.instance_key, made.uri) == ("sums", NOON, "hcat://hms:9083/web/sums/ds=2026-03-01-12")


def test_an_instance_that_the_process_does_not_have_is_refused() -> None:
    with pytest.raises(ElError, match="expected an instance of"):
        io(key="2026-03-01T12:30Z")
    with pytest.raises(UnknownName):
        JobIo.of(repository(), "clicks_hourli", "primary", NOON)
