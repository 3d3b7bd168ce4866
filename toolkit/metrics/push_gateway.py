"""Metrics for a Prometheus push gateway, where nothing on the machine is scraped."""

from __future__ import annotations

import http.client
import urllib.error
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from prometheus_client.exposition import push_to_gateway
from typing_extensions import override

from toolkit.metrics.exposition import SampleCollector
from toolkit.metrics.samples import Sample
from toolkit.metrics.sink import JOB, SECONDS, MetricsNotSent, MetricsSink


@dataclass(frozen=True, kw_only=True, slots=True)
class PushGatewaySink(MetricsSink):
    """Push gateway.

    Attributes:
        url: of it, without `/metrics`.
        grouping: labels of the group, beside the job; a push replaces the whole group.
        seconds: to connect, and for each read and write.
    """

    url: str
    grouping: tuple[tuple[str, str], ...] = ()
    seconds: float = SECONDS

    @override
    def send(self, samples: Sequence[Sample]) -> None:
        try:
            push_to_gateway(
                self.url, JOB, SampleCollector(samples), dict(self.grouping), self.seconds, handler=_without_detours
            )
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise MetricsNotSent(server="the push gateway", address=self.url, reason=str(error)) from error


class _NoRedirect(HTTPRedirectHandler):
    """Refusal of redirects: the metrics go to the server that the config repo names, and to no other."""

    @override
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> None:
        raise urllib.error.HTTPError(req.full_url, code, f"it redirects to {newurl}", headers, fp)


def _without_detours(
    url: str, method: str, timeout: float | None, headers: list[tuple[str, str]], data: bytes
) -> Callable[[], None]:
    """Return the request of a push; it uses no proxy of the environment."""

    def push() -> None:
        request = Request(url, data=data, headers=dict(headers), method=method)  # noqa: S310 - the schema allows http(s)
        with build_opener(ProxyHandler({}), _NoRedirect()).open(request, timeout=timeout):
            pass

    return push
