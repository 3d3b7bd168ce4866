"""Text of metrics in the formats of Prometheus, and the collector through which other clients read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from typing_extensions import override

from toolkit.metrics.definitions import METRICS
from toolkit.metrics.metric import MetricDefinition, MetricType
from toolkit.metrics.samples import Sample
from toolkit.printable import printable

_MOST_CHARACTERS = 255
_TOTAL = "_total"


class ExpositionFormat(StrEnum):
    """Text format of metrics."""

    TEXT = "text"
    """Prometheus' own, which node_exporter's textfile collector reads."""
    OPENMETRICS = "openmetrics"
    """OpenMetrics 1.0."""


class SampleCollector(Collector):
    """Metrics as a collector of Prometheus' client library.

    Args:
        samples: of all metrics; each metric is exposed as one family, in the order of `METRICS`.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._by_metric: dict[str, list[Sample]] = {}
        for each in samples:
            self._by_metric.setdefault(each.metric.name, []).append(each)

    @override
    def collect(self) -> Iterator[Metric]:
        for definition in METRICS:
            samples = self._by_metric.get(definition.name)
            if samples:
                yield _family(definition, samples)


def exposed(samples: Sequence[Sample], form: ExpositionFormat) -> bytes:
    """Return the text of metrics, in UTF-8."""
    encode, _ = choose_encoder(_ACCEPTED[form])
    return encode(SampleCollector(samples))


_ACCEPTED = {
    ExpositionFormat.TEXT: "text/plain; version=0.0.4",
    ExpositionFormat.OPENMETRICS: "application/openmetrics-text; version=1.0.0",
}
"""By which content type the library knows a format."""


def _family(definition: MetricDefinition, samples: Sequence[Sample]) -> Metric:
    name = definition.name.removesuffix(_TOTAL) if definition.type is MetricType.COUNTER else definition.name
    family = Metric(name, definition.help, definition.type.value)
    for each in samples:
        labels = {label: _label(value) for label, value in zip(definition.labels, each.labels, strict=True) if value}
        family.add_sample(definition.name, labels, each.value)
    return family


def _label(value: str) -> str:
    """Return a value that ends no line of the format and controls no terminal; it has a bound, as a series has."""
    return printable(value)[:_MOST_CHARACTERS]
