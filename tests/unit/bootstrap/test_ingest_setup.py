"""Settings of the clients of a topic."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolkit.bootstrap.ingest_setup import client_settings
from toolkit.entities.env_references import MissingVariable
from toolkit.entities.ingest import IngestTopic, KafkaProtocol, KafkaSecurity, SaslMechanism

PASSWORD = {"FEEDCTL_KAFKA_PASSWORD": "p,w=d ${x}"}
BROKERS = {"bootstrap.servers": "b1:9092"}
LOGIN = {"sasl.username": "feedctl", "sasl.password": PASSWORD["FEEDCTL_KAFKA_PASSWORD"]}


def topic(security: KafkaSecurity | None = None) -> IngestTopic:
    return IngestTopic(kafka="clicks", bootstrap="b1:9092", group="feedctl", security=security)


def login(protocol: KafkaProtocol, mechanism: SaslMechanism) -> IngestTopic:
    return topic(KafkaSecurity(protocol=protocol, mechanism=mechanism, user="feedctl", env="FEEDCTL_KAFKA_PASSWORD"))


@pytest.mark.parametrize(
    ("given", "more"),
    [
        (topic(), {}),
        (
            topic(KafkaSecurity(protocol=KafkaProtocol.SSL, ca="/etc/ca.pem")),
            {"security.protocol": "SSL", "ssl.ca.location": "/etc/ca.pem"},
        ),
        (
            login(KafkaProtocol.SASL_PLAINTEXT, SaslMechanism.SCRAM_SHA_512),
            {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", **LOGIN},
        ),
        (
            login(KafkaProtocol.SASL_SSL, SaslMechanism.PLAIN),
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", **LOGIN},
        ),
    ],
)
def test_each_setting_of_the_security_reaches_the_client(given: IngestTopic, more: dict[str, str]) -> None:
    assert client_settings(given, PASSWORD) == {**BROKERS, **more}


def test_a_password_that_is_not_in_the_environment_is_an_error() -> None:
    with pytest.raises(MissingVariable, match="FEEDCTL_KAFKA_PASSWORD"):
        client_settings(login(KafkaProtocol.SASL_SSL, SaslMechanism.PLAIN), {})


@pytest.mark.extended
@pytest.mark.slow
def test_the_client_of_kafka_is_not_loaded_without_a_topic() -> None:
    code = "import sys, toolkit.bootstrap.ingest_setup; sys.exit('confluent_kafka' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
