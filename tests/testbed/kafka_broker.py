"""A Kafka broker as tests see it."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Self

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.testbed.client import Testbed

_NAME, _PROGRAM = "kafka", "broker"
_SECONDS = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class KafkaBroker:
    """A running broker.

    Attributes:
        port: on 127.0.0.1.
        secured: the port for TLS and a login.
        certificate: file of the certificate there.
        admin: a client that changes topics; answers come while it lives.
    """

    testbed: Testbed
    port: int
    secured: int
    certificate: str
    admin: AdminClient

    @classmethod
    def of(cls, testbed: Testbed) -> Self:
        """The broker, started when it was not.

        Raises:
            Missing: this machine lacks Java, or jars and Maven.
            TestbedFailed: it did not start.
        """
        facts = testbed.facts(_NAME)
        port, secured = int(facts["port"]), int(facts["secured"])
        admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
        return cls(testbed=testbed, port=port, secured=secured, certificate=str(facts["certificate"]), admin=admin)

    @property
    def settings(self) -> dict[str, str]:
        """Settings of a client."""
        return {"bootstrap.servers": f"127.0.0.1:{self.port}"}

    def make(self, topic: str, partitions: int) -> None:
        """Make a topic."""
        for made in self.admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            made.result(_SECONDS)

    def widen(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        for made in self.admin.create_partitions([NewPartitions(topic, partitions)]).values():
            made.result(_SECONDS)

    def send(self, topic: str, *values: bytes | None, partition: int = 0) -> None:
        """Send values and wait until they are there."""
        producer = Producer({**self.settings, "queue.buffering.max.messages": 300_000})
        for value in values:
            producer.produce(topic, value, partition=partition)
        assert producer.flush(_SECONDS) == 0

    def stop(self) -> None:
        """Kill it, with all that it has not written."""
        self.testbed.stop(_NAME, _PROGRAM, signal.SIGKILL)

    def start(self) -> None:
        """Start it again, with its data; clients wait until it is ready."""
        self.testbed.start(_NAME, _PROGRAM)
