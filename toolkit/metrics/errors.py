"""Errors of sending metrics."""

from __future__ import annotations

from toolkit.errors import Unavailable


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
