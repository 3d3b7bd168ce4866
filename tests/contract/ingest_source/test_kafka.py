"""A topic of a real broker as a source."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.contract.ingest_source.feeder import consumed
from tests.testbed.kafka_broker import KafkaBroker
from tests.testbed.kafka_server import PASSWORD, USER
from toolkit.bootstrap.ingest_setup import client_settings
from toolkit.entities.ingest import IngestTopic, KafkaProtocol, KafkaSecurity, SaslMechanism
from toolkit.ingest.errors import DataLost
from toolkit.ingest_job.kafka import TOMBSTONE, BrokerUnreachable, KafkaSource, NoSuchTopic
from toolkit.ingest_job.source import Progress, SourceUnit

pytestmark = [pytest.mark.extended, pytest.mark.slow]


@pytest.fixture
def topic(kafka: KafkaBroker) -> str:
    """A topic of two partitions."""
    name = f"clicks-{secrets.token_hex(6)}"
    kafka.make(name, 2)
    return name


def source(kafka: KafkaBroker, topic: str, *, skips_lost: bool = False) -> KafkaSource:
    return KafkaSource(topic=topic, group="feedctl", settings=kafka.settings, timeout=60, skips_lost=skips_lost)


def read(kafka: KafkaBroker, topic: str, progress: Progress) -> tuple[list[bytes], Progress]:
    opened = source(kafka, topic)
    try:
        return consumed(opened, progress, rows=7)
    finally:
        opened.close()


def test_each_record_is_read_once_and_a_tombstone_is_no_row(kafka: KafkaBroker, topic: str) -> None:
    kafka.send(topic, *(b"%d" % each for each in range(50)))
    kafka.send(topic, b"x", None, partition=1)
    records, progress = read(kafka, topic, {})
    assert sorted(records) == sorted([*(b"%d" % each for each in range(50)), b"x", TOMBSTONE])
    assert progress["partitions"] == {"0": 50, "1": 2}
    assert read(kafka, topic, progress) == ([], progress)
    kafka.widen(topic, 3)
    kafka.send(topic, b"new", partition=2)
    assert read(kafka, topic, progress)[0] == [b"new"]


def test_aborted_transactions_are_not_read_and_open_ones_are_left(kafka: KafkaBroker, topic: str) -> None:
    producer = Producer({**kafka.settings, "transactional.id": topic})
    producer.init_transactions()
    for value, is_good in ((b"aborted", False), (b"good", True)):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush()
        (producer.commit_transaction if is_good else producer.abort_transaction)()
    producer.begin_transaction()
    producer.produce(topic, b"open", partition=1)
    producer.flush()
    records, progress = read(kafka, topic, {})
    assert records == [b"good"]
    producer.commit_transaction()
    assert read(kafka, topic, progress)[0] == [b"open"]


def test_the_source_is_complete_at_an_earlier_look_once_the_ends_have_passed_its_open_transactions(
    kafka: KafkaBroker, topic: str
) -> None:
    first, second = (Producer({**kafka.settings, "transactional.id": f"{topic}-{each}"}) for each in range(2))
    looks = [datetime(2026, 3, 20, hour, tzinfo=UTC) for hour in range(4)]
    kafka.send(topic, b"a")
    _begin(first, topic, b"b")
    opened = source(kafka, topic)
    units = opened.units({})
    assert opened.complete_at(looks[0]) is None
    progress = opened.advanced({}, units[0], 1, is_done=True)
    assert opened.units(progress) == []
    assert opened.complete_at(looks[1]) is None  # the same transaction is open
    _begin(second, topic, b"c")  # behind it
    first.commit_transaction()
    units = _until_read(opened, progress, 2)
    assert opened.complete_at(looks[2]) == looks[0]
    progress = opened.advanced(progress, units[0], 2, is_done=True)
    second.abort_transaction()
    _until_read(opened, progress, 5)
    assert opened.complete_at(looks[3]) == looks[3]
    opened.close()


def _until_read(opened: KafkaSource, progress: Progress, end: int) -> Sequence[SourceUnit]:
    """Look until a marker of a transaction is there, which the broker writes after its answer."""
    for _ in range(100):
        units = opened.units(progress)
        if units and (units[0].end or 0) >= end:
            return units
        time.sleep(0.1)
    pytest.fail("the transaction did not end")


def _begin(producer: Producer, topic: str, value: bytes) -> None:
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, value, partition=0)
    producer.flush()


def test_what_was_gone_before_the_first_look_is_not_lost(kafka: KafkaBroker, topic: str) -> None:
    kafka.send(topic, *(b"%d" % each for each in range(9)))
    kafka.send(topic, *(b"%d" % each for each in range(20)), partition=1)
    for removed in kafka.admin.delete_records([TopicPartition(topic, 1, 10)]).values():
        removed.result(60)
    opened = source(kafka, topic)
    first, second = opened.units({})
    assert [first.name, second.name] == [f"{topic}[1]", f"{topic}[0]"]  # the larger backlog
    progress = opened.advanced({}, second, 9, is_done=True)  # and a kill before the other
    assert source(kafka, topic).units(progress) == [first]
    opened.close()


def test_the_group_has_the_offsets_that_were_committed(kafka: KafkaBroker, topic: str) -> None:
    kafka.send(topic, b"a", b"b")
    opened = source(kafka, topic)
    opened.units({})
    opened.committed({"topic_id": "x", "partitions": {"0": 2}})
    opened.close()
    watcher = Consumer({**kafka.settings, "group.id": "feedctl"})
    found = watcher.committed([TopicPartition(topic, 0)], timeout=60)
    watcher.close()
    assert [each.offset for each in found] == [2]


@pytest.mark.parametrize("mechanism", list(SaslMechanism))
def test_a_topic_is_read_over_tls_with_each_login(kafka: KafkaBroker, topic: str, mechanism: SaslMechanism) -> None:
    kafka.send(topic, b"a")
    opened = secured(kafka, topic, PASSWORD, mechanism, kafka.certificate)
    assert consumed(opened, {}, rows=7)[0] == [b"a"]
    opened.close()


@pytest.mark.parametrize(
    ("password", "has_ca", "cause"),
    [("wrong", True, "Authentication failed"), (PASSWORD, False, "certificate verify failed")],
)
def test_a_refused_login_or_certificate_is_told(
    kafka: KafkaBroker, topic: str, password: str, cause: str, *, has_ca: bool
) -> None:
    opened = secured(kafka, topic, password, SaslMechanism.SCRAM_SHA_256, kafka.certificate if has_ca else None)
    opened.timeout = 1
    with pytest.raises(BrokerUnreachable, match=cause) as caught:
        opened.units({})
    assert password not in str(caught.value)
    opened.close()


def secured(kafka: KafkaBroker, topic: str, password: str, mechanism: SaslMechanism, ca: str | None) -> KafkaSource:
    """A source whose settings come from a config."""
    security = KafkaSecurity(
        protocol=KafkaProtocol.SASL_SSL, mechanism=mechanism, user=USER, env="FEEDCTL_KAFKA_PASSWORD", ca=ca
    )
    given = IngestTopic(kafka=topic, bootstrap=f"127.0.0.1:{kafka.secured}", group="feedctl", security=security)
    return KafkaSource(
        topic=topic, group="feedctl", settings=client_settings(given, {"FEEDCTL_KAFKA_PASSWORD": password}), timeout=60
    )


def test_lost_records_and_a_topic_made_anew_are_told(kafka: KafkaBroker, topic: str) -> None:
    kafka.send(topic, *(b"%d" % each for each in range(20)))
    _, progress = read(kafka, topic, {})
    topic_id = progress["topic_id"]
    for removed in kafka.admin.delete_records([TopicPartition(topic, 0, 10)]).values():
        removed.result(60)
    behind: Progress = {"topic_id": topic_id, "partitions": {"0": 5}}
    with pytest.raises(DataLost, match="offset 5"):
        source(kafka, topic).units(behind)
    skipping = source(kafka, topic, skips_lost=True)
    assert skipping.units(behind)[0].start == 10
    assert "skipped lost records" in skipping.notes[0]
    for deleted in kafka.admin.delete_topics([topic]).values():
        deleted.result(60)
    _wait_until_gone(kafka, topic, progress)
    kafka.make(topic, 1)
    kafka.send(topic, b"anew")
    with pytest.raises(DataLost, match="made anew"):
        source(kafka, topic).units(progress)


def _wait_until_gone(kafka: KafkaBroker, topic: str, progress: Progress) -> None:
    for _ in range(60):
        try:
            source(kafka, topic).units(progress)
        except NoSuchTopic:
            return
        time.sleep(0.5)
    pytest.fail("the topic is still there")


def test_a_broker_that_is_killed_in_the_middle_loses_and_doubles_nothing(kafka: KafkaBroker, topic: str) -> None:
    expected = [b"%d" % each for each in range(50_000)]
    kafka.send(topic, *expected)
    opened = source(kafka, topic)
    found: list[bytes] = []
    unit = opened.units({})[0]
    restarted = threading.Timer(1.0, kafka.start)
    for chunk in opened.read(unit, rows=1_000, max_bytes=1 << 20):
        if not found:
            kafka.stop()
            restarted.start()
        found += chunk.records
    restarted.join()
    opened.close()
    assert found == expected
