"""Metrics for Graphite, through its plain text protocol over TCP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client.bridge.graphite import GraphiteBridge
from typing_extensions import override

from toolkit.metrics.exposition import SampleCollector
from toolkit.metrics.samples import Sample
from toolkit.metrics.sink import SECONDS, MetricsNotSent, MetricsSink, host_and_port


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphiteSink(MetricsSink):
    """Graphite server.

    Attributes:
        address: `HOST:PORT`.
        seconds: to connect, and for each write.
    """

    address: str
    seconds: float = SECONDS

    @override
    def send(self, samples: Sequence[Sample]) -> None:
        bridge = GraphiteBridge(host_and_port(self.address), SampleCollector(samples), self.seconds)
        try:
            bridge.push()
        except (OSError, UnicodeError) as error:
            raise MetricsNotSent(server="Graphite", address=self.address, reason=str(error)) from error
