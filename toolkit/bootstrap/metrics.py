"""Wiring of `feedctl metrics`: the ledger that they are collected from, and the servers that they are sent to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.bootstrap.ledgers import ledger_of
from toolkit.entities.monitoring import MetricsSettings
from toolkit.entities.repository import Repository
from toolkit.errors import InvalidInput
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.metrics.collection import Collected, collect, without_ledger
from toolkit.metrics.graphite import GraphiteSink
from toolkit.metrics.push_gateway import PushGatewaySink
from toolkit.metrics.sink import MetricsSink
from toolkit.metrics.statsd import StatsdSink


class NoMetricsServer(InvalidInput):
    """Metrics are to be sent, and the config repo names no server."""

    code = "no_metrics_server"

    def __init__(self) -> None:
        super().__init__(
            "found no server of metrics, expected `push_gateway`, `statsd` or `graphite` in `monitoring.metrics` of "
            "repo.yaml; add one, or leave out --push"
        )


def collected(repo: RepoRequest, at: datetime | None) -> tuple[Collected, Repository]:
    """Collect the metrics of a config repo; a ledger that cannot be reached is a metric too.

    Args:
        repo: which config repo.
        at: ages are counted up to then; None: now, by the database's clock.

    Raises:
        InvalidInput: no usable config repo or ledger.
    """
    snapshot = open_config(repo)
    repository = load_entities(snapshot, repo)
    most = repository.settings.monitoring.metrics.max_series
    try:
        ledger = ledger_of(snapshot, repository.settings, repo.variables, read_only=True)
    except LedgerUnavailable as problem:
        return without_ledger(problem), repository
    with closing(ledger):
        return collect(ledger, repository, at, most), repository


def sinks_of(repository: Repository) -> tuple[MetricsSink, ...]:
    """Return the servers that metrics are sent to.

    Raises:
        NoMetricsServer: there is none.
    """
    environment = repository.environment
    grouping = () if environment is None else (("environment", environment.name),)
    found = tuple(_sinks(repository.settings.monitoring.metrics, grouping))
    if not found:
        raise NoMetricsServer
    return found


def _sinks(settings: MetricsSettings, grouping: tuple[tuple[str, str], ...]) -> Iterator[MetricsSink]:
    if settings.push_gateway is not None:
        yield PushGatewaySink(url=settings.push_gateway, grouping=grouping)
    if settings.statsd is not None:
        yield StatsdSink(address=settings.statsd)
    if settings.graphite is not None:
        yield GraphiteSink(address=settings.graphite)
