"""Model of a metric: its name, type and labels, how it is bounded, and what is generated from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MetricType(StrEnum):
    """Type of a metric."""

    COUNTER = "counter"
    """Only rises."""
    GAUGE = "gauge"
    """Rises and falls."""


class Fold(StrEnum):
    """How the values of the entities beyond the bound on series become one value of `other`."""

    SUM = "sum"
    """They are added."""
    MAX = "max"
    """The greatest."""
    MIN = "min"
    """The least."""
    NONE = "none"
    """They are left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PrometheusRule:
    """Alert rule for Prometheus that is generated from a metric.

    Attributes:
        name: of the alert.
        condition: on the metric, as PromQL; `$METRIC` stands for its name.
        lasting: the condition must hold for this long, in Prometheus' words.
        severity: `warning` or `critical`.
        summary: what is wrong, with labels as `{{ $labels.NAME }}`.
        todo: what to run next.
    """

    name: str
    condition: str
    lasting: str
    severity: str
    summary: str
    todo: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricDefinition:
    """One metric.

    Attributes:
        name: as it is exposed.
        help: a sentence.
        labels: their names; one that is empty counts as absent.
        type: counter or gauge.
        fold: how entities beyond the bound are counted together.
        unit: of its panel, in Grafana's words.
        rules: alert rules that are generated from it.
        panel: the title of its panel on the dashboard; empty: it has none.
    """

    name: str
    help: str
    labels: tuple[str, ...] = ()
    type: MetricType = MetricType.GAUGE
    fold: Fold = Fold.SUM
    unit: str = "short"
    rules: tuple[PrometheusRule, ...] = ()
    panel: str = ""
