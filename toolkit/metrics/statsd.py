"""Metrics for StatsD, as gauges over UDP.

All are gauges: a counter of StatsD takes increases, and the ledger has totals. UDP gives no answer, so that only an
address that is unknown is an error.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from typing_extensions import override

from toolkit.metrics.samples import Sample
from toolkit.metrics.sink import MetricsNotSent, MetricsSink, host_and_port

_PACKET_BYTES = 1432
"""Bytes that fit into one packet of Ethernet, as StatsD advises."""
_SEPARATORS = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, kw_only=True, slots=True)
class StatsdSink(MetricsSink):
    """StatsD server.

    Attributes:
        address: `HOST:PORT`.
    """

    address: str

    @override
    def send(self, samples: Sequence[Sample]) -> None:
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(*host_and_port(self.address), type=socket.SOCK_DGRAM)[
                0
            ]
            with socket.socket(family, kind, protocol) as client:
                for packet in _packets(map(_line, samples)):
                    client.sendto(packet, place)
        except (OSError, UnicodeError) as error:
            raise MetricsNotSent(server="StatsD", address=self.address, reason=str(error)) from error


def _line(sample: Sample) -> bytes:
    """Return a gauge; it is named like in Graphite, with the labels by name."""
    labels = sorted((name, value) for name, value in zip(sample.metric.labels, sample.labels, strict=True) if value)
    parts = [sample.metric.name, *(part for pair in labels for part in pair)]
    return f"{'.'.join(_SEPARATORS.sub('_', part) for part in parts)}:{float(sample.value)!r}|g".encode("ascii")


def _packets(lines: Iterable[bytes]) -> Iterator[bytes]:
    packet = b""
    for line in lines:
        if packet and len(packet) + 1 + len(line) > _PACKET_BYTES:
            yield packet
            packet = b""
        packet = packet + b"\n" + line if packet else line
    if packet:
        yield packet
