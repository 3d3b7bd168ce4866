"""A topic as a source, as far as no broker is needed: progress, and brokers that are away."""

from __future__ import annotations

import pytest

from toolkit.ingest_job.kafka import BrokerUnreachable, KafkaSource
from toolkit.ingest_job.source import Progress, SourceUnit

PASSWORD = "never shown"


def source() -> KafkaSource:
    settings = {"bootstrap.servers": "127.0.0.1:1", "sasl.password": PASSWORD}
    return KafkaSource(topic="clicks", group="feedctl", settings=settings, timeout=0.2)


def unit(number: int, *, topic_id: str = "A") -> SourceUnit:
    return SourceUnit(name=f"clicks[{number}]", start=0, end=9, identity=topic_id)


def test_progress_has_the_next_offset_of_each_partition_and_its_end_when_it_was_read() -> None:
    progress = source().advanced({}, unit(1), 5, is_done=False)
    assert progress == {"topic_id": "A", "partitions": {"1": 5}}
    assert source().advanced(progress, unit(0), 7, is_done=True) == {"topic_id": "A", "partitions": {"0": 9, "1": 5}}


def test_progress_of_a_topic_that_was_made_anew_has_nothing_of_the_old_one() -> None:
    old: Progress = {"topic_id": "A", "partitions": {"0": 100, "1": 5}}
    assert source().advanced(old, unit(0, topic_id="B"), 3, is_done=False) == {"topic_id": "B", "partitions": {"0": 3}}


def test_brokers_that_are_away_are_an_error_that_can_be_tried_again_and_shows_no_secret() -> None:
    with pytest.raises(BrokerUnreachable, match="topic clicks: no answer within") as caught:
        source().units({})
    assert caught.value.retriable
    assert PASSWORD not in f"{caught.value} {source()!r}"
