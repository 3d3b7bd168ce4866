"""docs/reference/metrics.md, the alert rules for Prometheus and the dashboard for Grafana, from the list of metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from reference_pages.markdown import code, codes, meanings, page, prose, table
from toolkit.metrics.definitions import METRICS
from toolkit.metrics.metric import Fold, MetricDefinition, MetricType, PrometheusRule

_INTRODUCTION = """
`feedctl metrics` prints these, writes them to a file or sends them; [the guide](../how-to/metrics.md) shows how. The
same list gives [alert rules for Prometheus](metrics-alerts.yaml) and [a dashboard for Grafana](metrics-dashboard.json).

A label that would be empty is absent. With more time series than `monitoring.metrics.max_series` in repo.yaml, entities
with an SLA keep their series first, then those whose names come first. All others are counted together as the entity
`other`, in the way that the column "other" names.
"""
_WRITTEN = "# Written by `make docs` from the code; changes made here get lost.\n"
_PANEL_WIDTH, _PANEL_HEIGHT, _PANELS_IN_A_ROW = 12, 8, 2
_SITE_LABELS = ("cluster", "entity")
_MOST_LINES = 20


def metrics_page() -> str:
    """The page."""
    rows = ([code(each.name), str(each.type), codes(each.labels), _folding(each), prose(each.help)] for each in METRICS)
    words = meanings(Fold)
    return page(
        "Metrics",
        _INTRODUCTION,
        table(("metric", "type", "labels", "other", "meaning"), rows),
        "## Other",
        table(("way", "value of `other`"), ([code(each), words[each.name]] for each in Fold)),
        "## Alert rules",
        table(("alert", "severity", "when", "for"), (_rule_row(each, rule) for each, rule in _rules())),
    )


def _folding(metric: MetricDefinition) -> str:
    return str(metric.fold) if "entity" in metric.labels else ""


def _rules() -> Iterator[tuple[MetricDefinition, PrometheusRule]]:
    return ((each, rule) for each in METRICS for rule in each.rules)


def _expression(metric: MetricDefinition, rule: PrometheusRule) -> str:
    return rule.condition.replace("$METRIC", metric.name)


def _rule_row(metric: MetricDefinition, rule: PrometheusRule) -> list[str]:
    return [code(rule.name), rule.severity, code(_expression(metric, rule)), rule.lasting]


def alert_rules() -> str:
    """The rules of Prometheus, as YAML."""
    rules = [
        {
            "alert": rule.name,
            "expr": _expression(metric, rule),
            "for": rule.lasting,
            "labels": {"severity": rule.severity},
            "annotations": {"summary": rule.summary, "command": rule.todo},
        }
        for metric, rule in _rules()
    ]
    return _WRITTEN + yaml.safe_dump({"groups": [{"name": "feedctl", "rules": rules}]}, sort_keys=False, width=1000)


def dashboard() -> str:
    """The dashboard of Grafana, as JSON."""
    shown = [each for each in METRICS if each.panel]
    document = {
        "title": "feedctl",
        "uid": "feedctl",
        "description": "Written by `make docs` from the code; changes made here get lost.",
        "schemaVersion": 39,
        "tags": ["feedctl"],
        "time": {"from": "now-24h", "to": "now"},
        "refresh": "1m",
        "timezone": "utc",
        "templating": {"list": [_source(), *(_choice(label) for label in _SITE_LABELS)]},
        "panels": [_panel(number, each) for number, each in enumerate(shown)],
    }
    return json.dumps(document, indent=2) + "\n"


def _source() -> dict[str, object]:
    return {"name": "source", "label": "Data source", "type": "datasource", "query": "prometheus"}


def _choice(label: str) -> dict[str, object]:
    return {
        "name": label,
        "type": "query",
        "datasource": {"type": "prometheus", "uid": "$source"},
        "query": f"label_values(feedctl_last_success_timestamp_seconds, {label})",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _panel(number: int, metric: MetricDefinition) -> dict[str, object]:
    row, column = divmod(number, _PANELS_IN_A_ROW)
    source = {"type": "prometheus", "uid": "$source"}
    legend = " ".join(f"{{{{{label}}}}}" for label in metric.labels)
    return {
        "id": number + 1,
        "title": metric.panel,
        "description": metric.help,
        "type": "timeseries",
        "datasource": source,
        "gridPos": {"x": column * _PANEL_WIDTH, "y": row * _PANEL_HEIGHT, "w": _PANEL_WIDTH, "h": _PANEL_HEIGHT},
        "fieldConfig": {"defaults": {"unit": metric.unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": "A", "datasource": source, "expr": _shown(metric), "legendFormat": legend or metric.panel}
        ],
    }


def _shown(metric: MetricDefinition) -> str:
    """The query of a panel: the greatest series of the clusters and entities that are chosen."""
    chosen = ",".join(f'{label}=~"${label}"' for label in _SITE_LABELS if label in metric.labels)
    selector = f"{metric.name}{{{chosen}}}" if chosen else metric.name
    per_hour = f"increase({selector}[1h])" if metric.type is MetricType.COUNTER else selector
    if not metric.labels:
        return f"max({per_hour})"
    return f"topk({_MOST_LINES}, max by ({', '.join(metric.labels)}) ({per_hour}))"
