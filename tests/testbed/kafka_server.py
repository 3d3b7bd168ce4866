"""The supervisor's side of Kafka: one broker that is its own controller (KRaft); its data outlive a restart."""

from __future__ import annotations

import subprocess

from tests.testbed import java
from tests.testbed.activemq_server import BrokerServer, is_listening
from tests.testbed.jars import KAFKA
from tests.testbed.processes import Command

_SECONDS = 60
_SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller},SECURED://127.0.0.1:{secured}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},SECURED://127.0.0.1:{secured}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURED:SASL_SSL
listener.name.secured.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.secured.plain.sasl.jaas.config={security}.plain.PlainLoginModule required user_{user}="{password}";
listener.name.secured.scram-sha-256.sasl.jaas.config={security}.scram.ScramLoginModule required;
listener.name.secured.scram-sha-512.sasl.jaas.config={security}.scram.ScramLoginModule required;
ssl.keystore.location={directory}/broker.p12
ssl.keystore.password=broker
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={directory}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""


USER, PASSWORD = "feedctl", "to the topic"
_SECURITY = "org.apache.kafka.common.security"
_SCRAM = tuple(
    part
    for each in ("SCRAM-SHA-256", "SCRAM-SHA-512")
    for part in ("--add-scram", f"{each}=[name={USER},password={PASSWORD}]")
)


class KafkaServer(BrokerServer):
    """A broker; its data stay over restarts. Its third port asks for TLS and a login."""

    def start(self) -> None:
        """Format its directory and start it.

        Raises:
            DidNotStart: with the end of its log.
            Missing: no Java, or no jars and no Maven.
        """
        self._directory.mkdir(parents=True)
        self._make_certificate()
        settings = _SETTINGS.format(
            port=self._port,
            controller=self._second,
            secured=self._third,
            directory=self._directory,
            security=_SECURITY,
            user=USER,
            password=PASSWORD,
        )
        (self._directory / "server.properties").write_text(settings)
        formatting = (
            "kafka.tools.StorageTool",
            "format",
            "-t",
            "feedctlAAAAAAAAAAAAAAA",
            "-c",
            "server.properties",
            *_SCRAM,
        )
        subprocess.run(
            self._java(*formatting, *_SCRAM),
            cwd=self._directory,
            env=java.environment(),
            check=True,
            capture_output=True,
            timeout=_SECONDS,
        )
        command = Command(
            arguments=self._java("kafka.Kafka", "server.properties"),
            environment=java.environment(),
            directory=self._directory,
            name="broker",
        )
        self._run("Kafka", command, lambda: is_listening(self._port))

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {"port": self._port, "secured": self._third, "certificate": str(self._directory / "broker.pem")}

    def _java(self, *arguments: str) -> tuple[str, ...]:
        options = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{KAFKA.fetched()}/*")
        return ("java", *options, *arguments)
