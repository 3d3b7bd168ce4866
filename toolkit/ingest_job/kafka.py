"""A Kafka topic as a source: partitions are read from the offsets in the table to ends fixed at the look.

The progress is ``{"topic_id": ..., "partitions": {"0": next, ...}}``, with ``"open": {"at": ..., "ends": {...}}`` while
records wait behind open transactions. The offsets of the consumer group are written for those who watch its lag, and
never read.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka import admin as kafka_admin
from confluent_kafka.admin import AdminClient
from typing_extensions import override

from toolkit.el import format_instant, parse_instant
from toolkit.errors import InvalidInput, Unavailable
from toolkit.ingest.errors import DataLost, RecordTooLong, UnitChanged
from toolkit.ingest_job.source import Chunk, IngestSource, JsonValue, Progress, SourceUnit, Stores

if TYPE_CHECKING:
    from datetime import datetime

    from confluent_kafka import Message

_T = TypeVar("_T")
TOMBSTONE = b"\xff null value (tombstone)"
"""Stands for a null value: it is no UTF-8, so that each built-in writer refuses it as a bad record."""
_OFFSETS: Any = vars(kafka_admin)["OffsetSpec"]  # the library's types leave it out
_SILENT = logging.getLogger(f"{__name__}.silent")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False  # the library's lines may name settings
_QUESTION_SECONDS = 5.0
_POLL_SECONDS = 0.5
_PAUSE_SECONDS = 0.2
_OUT_OF_RANGE = (KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._AUTO_OFFSET_RESET)  # noqa: SLF001 - its public name
_REFUSALS = (KafkaError._AUTHENTICATION, KafkaError._SSL)  # noqa: SLF001
_NO_TOPIC = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)  # noqa: SLF001


class BrokerUnreachable(Unavailable):
    """The brokers of a topic did not answer in time.

    Args:
        topic: its name.
        seconds: how long it was tried.
        cause: the last error in the library's words.
    """

    code = "broker_unreachable"

    def __init__(self, *, topic: str, seconds: float, cause: str) -> None:
        self.topic, self.seconds, self.cause = topic, seconds, cause
        super().__init__(
            f"topic {topic}: no answer within {seconds:g} s: {cause}; run it again when they are up and take the login"
        )


class NoSuchTopic(InvalidInput):
    """The brokers have no topic of this name, or do not show it to this user.

    Args:
        topic: its name.
    """

    code = "no_such_topic"

    def __init__(self, *, topic: str) -> None:
        self.topic = topic
        super().__init__(f"the brokers have no topic {topic!r}; check its name, and that the user may describe it")


@dataclass(kw_only=True)
class KafkaSource(IngestSource):
    """A topic, read with isolation level read_committed; used by one thread at a time.

    Attributes:
        topic: its name.
        group: gets the offsets that were committed to the table, for monitoring only.
        settings: properties of librdkafka: ``bootstrap.servers``, and those of security; never shown.
        skips_lost: records that are gone are left out with a note; else they are an error.
        timeout: seconds without any answer until the brokers are away.
        most_bytes: of one record.
    """

    topic: str
    group: str
    settings: Mapping[str, str] = field(repr=False)
    skips_lost: bool = False
    timeout: float = 30.0
    most_bytes: int = 64 << 20
    _notes: list[str] = field(default_factory=list, init=False)
    _begins: dict[int, int] = field(default_factory=dict, init=False)
    _ends: dict[int, int] = field(default_factory=dict, init=False)
    _held: dict[int, int] = field(default_factory=dict, init=False)
    _refusal: str = field(default="", init=False)
    _open: JsonValue = field(default=None, init=False)
    _admin: AdminClient | None = field(default=None, init=False, repr=False)
    _consumer: Consumer | None = field(default=None, init=False, repr=False)

    @property
    @override
    def notes(self) -> Sequence[str]:
        return self._notes

    @override
    def units(self, progress: Progress) -> Sequence[SourceUnit]:
        self._notes = []
        topic_id, partitions = self._described()
        known, reached = progress.get("topic_id"), _offsets(progress)
        if known and known != topic_id:
            self._lose(self.topic, f"an offset of topic id {known}", f"a topic made anew with id {topic_id}")
            reached, known = {}, None
        tails = self._limits(partitions, _OFFSETS.latest(), IsolationLevel.READ_UNCOMMITTED)
        # After the tails: then nothing but an open transaction keeps an end behind its tail.
        self._ends = ends = self._limits(partitions, _OFFSETS.latest())
        self._held = {number: tail for number, tail in tails.items() if tail > ends[number]}
        self._open = progress.get("open") if known else None
        firsts = self._limits(partitions, _OFFSETS.earliest())
        self._begins = {} if known else firsts
        units = []
        for number in partitions:
            first, end, name = firsts[number], ends[number], f"{self.topic}[{number}]"
            start = reached.get(number, 0) if known else first
            if start < first or start > end:
                self._lose(name, f"offset {start}", f"a log of the offsets {first} to {end}")
                start = first
            if start < end or reached.get(number) != start:
                units.append(SourceUnit(name=name, start=start, end=end, identity=topic_id))
        # The largest backlog first, or it would be left over whenever the time is over.
        return sorted(units, key=lambda unit: unit.start - (unit.end or 0))

    @override
    def complete_at(self, looked: datetime) -> datetime | None:
        """Return the instant; a record behind an open transaction is read later, when the ends have passed it."""
        if not self._held:
            self._open = None
            return looked
        self._notes.append(
            f"{len(self._held)} partitions have records behind an open transaction: a later run reads them"
        )
        before, self._open = self._open, {"at": format_instant(looked), "ends": _by_text(self._held)}
        if not isinstance(before, dict):
            return None
        if any(self._ends.get(number, 0) < end for number, end in _by_number(before.get("ends")).items()):
            self._open = before
            return None
        return parse_instant(str(before.get("at")))

    @override
    def read(self, unit: SourceUnit, *, rows: int, max_bytes: int) -> Iterator[Chunk]:
        end, records, positions, size = unit.end or 0, list[bytes](), list[int](), 0
        for offset, value in self._messages(unit, end):
            records.append(value)
            positions.append(offset)
            size += len(value)
            if len(records) >= rows or size >= max_bytes:
                self._check_identity(unit)
                yield Chunk(records=records, positions=positions, next=offset + 1)
                records, positions, size = [], [], 0
        if records:
            self._check_identity(unit)
            yield Chunk(records=records, positions=positions, next=end)

    @override
    def advanced(self, progress: Progress, unit: SourceUnit, reached: int, *, is_done: bool) -> Progress:
        offsets = _offsets(progress) if progress.get("topic_id") == unit.identity else dict(self._begins)
        offsets[_partition(unit)] = unit.end if is_done and unit.end is not None else reached
        made: dict[str, JsonValue] = {"topic_id": unit.identity, "partitions": _by_text(offsets)}
        return made if self._open is None else {**made, "open": self._open}

    @override
    def is_finished(self, name: str, progress: Progress) -> bool:
        return False  # the end of a partition was that of another look

    @override
    def committed(self, progress: Progress) -> None:
        """Show the offsets of the table to the group, without waiting for an answer: they are for monitoring only."""
        offsets = [TopicPartition(self.topic, number, offset) for number, offset in _offsets(progress).items()]
        with contextlib.suppress(KafkaException):
            self._connected().commit(offsets=offsets, asynchronous=True)

    @override
    def finished(self, progress: Progress) -> Sequence[SourceUnit]:
        return ()  # a topic keeps its records

    @override
    def put_away(self, unit: SourceUnit, stores: Stores) -> str:
        raise ValueError(unit.name)

    @override
    def close(self) -> None:
        consumer, self._consumer, self._admin = self._consumer, None, None
        if consumer is not None:
            consumer.close()

    def _messages(self, unit: SourceUnit, end: int) -> Iterator[tuple[int, bytes]]:
        """Yield offsets and values until the position is at the end; markers and compaction leave gaps before it."""
        if unit.start >= end:
            return
        self._check_identity(unit)
        consumer = self._connected()
        consumer.assign([TopicPartition(self.topic, _partition(unit), unit.start)])
        last_answer, cause, position = time.monotonic(), "no message came", unit.start
        while True:
            messages = consumer.consume(1000, timeout=_POLL_SECONDS)
            for message in messages:
                offset, error = message.offset(), message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001
                    cause = self._tolerated(unit, error)
                    continue
                last_answer = time.monotonic()
                if offset is not None and offset >= end:
                    return
                if error is None and offset is not None and offset >= position:
                    yield offset, self._value(unit, message, offset)
                    last_answer, position = time.monotonic(), offset + 1
                    if position >= end:
                        return
            if time.monotonic() - last_answer > self.timeout:
                raise BrokerUnreachable(topic=self.topic, seconds=self.timeout, cause=cause)

    def _value(self, unit: SourceUnit, message: Message, offset: int) -> bytes:
        value = message.value()
        if value is None:
            return TOMBSTONE
        if len(value) > self.most_bytes:
            raise RecordTooLong(unit=unit.name, position=offset, limit=self.most_bytes)
        return bytes(value)

    @staticmethod
    def _tolerated(unit: SourceUnit, error: KafkaError) -> str:
        if error.code() in _OUT_OF_RANGE:
            raise DataLost(source=unit.name, expected=f"offset {unit.start}", found="a log that begins later")
        return str(error.str())

    def _check_identity(self, unit: SourceUnit) -> None:
        topic_id, _ = self._described()
        if topic_id != unit.identity:
            raise UnitChanged(unit=unit.name, change=f"the topic was made anew: its id is {topic_id}")

    def _described(self) -> tuple[str, list[int]]:
        """Return the id of the topic, and the numbers of its partitions."""

        def describe() -> tuple[str, list[int]]:
            futures = self._administered().describe_topics(
                TopicCollection([self.topic]), request_timeout=min(self.timeout, _QUESTION_SECONDS)
            )
            found = futures[self.topic].result()
            return str(found.topic_id), sorted(each.id for each in found.partitions)

        return self._retried(describe)

    def _limits(
        self, partitions: Sequence[int], which: object, level: IsolationLevel = IsolationLevel.READ_COMMITTED
    ) -> dict[int, int]:
        requests: dict[TopicPartition, Any] = {TopicPartition(self.topic, number): which for number in partitions}

        def look() -> dict[int, int]:
            futures = self._administered().list_offsets(
                requests, isolation_level=level, request_timeout=min(self.timeout, _QUESTION_SECONDS)
            )
            return {each.partition: future.result().offset for each, future in futures.items()}

        return self._retried(look)

    def _retried(self, question: Callable[[], _T]) -> _T:
        """Ask the brokers, and again until the timeout."""
        began = time.monotonic()
        while True:
            try:
                return question()
            except KafkaException as failed:
                error = failed.args[0]
                if error.code() in _NO_TOPIC:
                    raise NoSuchTopic(topic=self.topic) from None
                if time.monotonic() - began >= self.timeout:
                    self._administered().poll(0)  # which hands over refused logins and certificates
                    cause = self._refusal or str(error.str())
                    raise BrokerUnreachable(topic=self.topic, seconds=self.timeout, cause=cause) from None
                time.sleep(_PAUSE_SECONDS)

    def _lose(self, name: str, expected: str, found: str) -> None:
        if not self.skips_lost:
            raise DataLost(source=name, expected=expected, found=found)
        self._notes.append(f"{name}: skipped lost records: expected {expected}, found {found}")

    def _note_refusal(self, error: KafkaError) -> None:
        if error.code() in _REFUSALS:
            self._refusal = str(error.str())

    def _administered(self) -> AdminClient:
        if self._admin is None:
            own: dict[str, Any] = {"logger": _SILENT, "error_cb": self._note_refusal}
            self._admin = AdminClient({**self.settings, **own})
        return self._admin

    def _connected(self) -> Consumer:
        if self._consumer is None:
            own: dict[str, Any] = {
                "group.id": self.group,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "logger": _SILENT,
            }
            self._consumer = Consumer({**self.settings, **own})
        return self._consumer


def _offsets(progress: Progress) -> dict[int, int]:
    return _by_number(progress.get("partitions"))


def _by_number(offsets: JsonValue) -> dict[int, int]:
    found = offsets if isinstance(offsets, dict) else {}
    return {int(number): int(str(offset)) for number, offset in found.items()}


def _by_text(offsets: Mapping[int, int]) -> dict[str, JsonValue]:
    return {str(number): offsets[number] for number in sorted(offsets)}


def _partition(unit: SourceUnit) -> int:
    return int(unit.name.rpartition("[")[2].rstrip("]"))
