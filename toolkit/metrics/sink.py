"""Contract of the servers that metrics are sent to, and their error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from toolkit.errors import Unavailable
from toolkit.metrics.samples import Sample

SECONDS = 2.0
"""Longest time that a server may take to connect, and to answer."""
JOB = "feedctl"
"""First part of the path of each metric, and the job of a push gateway."""


class MetricsNotSent(Unavailable):
    """A server of metrics did not take them; the next collection sends newer ones.

    Args:
        server: what it is, for example `Graphite`.
        address: where it is.
        reason: what it, or the system, said.
    """

    def __init__(self, *, server: str, address: str, reason: str) -> None:
        self.server, self.address, self.reason = server, address, reason
        super().__init__(
            f"{server} at {address} did not take the metrics: {reason}; check the address in "
            "`monitoring.metrics` of repo.yaml, and start the command again"
        )


class MetricsSink(Protocol):
    """Server that metrics are sent to."""

    def send(self, samples: Sequence[Sample]) -> None:
        """Send all metrics.

        Raises:
            MetricsNotSent: the server did not take them.
        """
        ...


def host_and_port(address: str) -> tuple[str, int]:
    """Split `HOST:PORT`, which the schema of the settings has checked; an IPv6 address may stand in brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
