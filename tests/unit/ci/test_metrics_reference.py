"""Alert rules and dashboard in docs/reference: Prometheus' own tool takes them, and they fire when they should."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from toolkit.metrics.definitions import METRICS

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference"
RULES = REFERENCE / "metrics-alerts.yaml"

FIRING = """\
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: 'feedctl_behind_seconds{{entity="clicks",cluster="primary"}}', values: '3000+60x30'}}
      - {{series: 'feedctl_sla_missed_total{{entity="clicks",cluster="primary",level="high"}}', values: '0x10 1x20'}}
      - {{series: 'feedctl_up', values: '1x10 0x20'}}
    alert_rule_test:
      - {{eval_time: 5m, alertname: FeedctlBehind, exp_alerts: []}}
      - {{eval_time: 5m, alertname: FeedctlSlaMissed, exp_alerts: []}}
      - {{eval_time: 5m, alertname: FeedctlLedgerUnreachable, exp_alerts: []}}
      - eval_time: 25m
        alertname: FeedctlBehind
        exp_alerts:
          - exp_labels: {{severity: warning, entity: clicks, cluster: primary}}
            exp_annotations:
              summary: clicks on primary is behind its SLA for more than an hour
              command: feedctl sla explain
      - eval_time: 15m
        alertname: FeedctlSlaMissed
        exp_alerts:
          - exp_labels: {{severity: critical, entity: clicks, cluster: primary, level: high}}
            exp_annotations:
              summary: an instance of clicks on primary has missed its SLA
              command: feedctl sla status
      - eval_time: 20m
        alertname: FeedctlLedgerUnreachable
        exp_alerts:
          - exp_labels: {{severity: critical}}
            exp_annotations: {{summary: feedctl cannot read its ledger, command: feedctl doctor}}
"""


@pytest.fixture(scope="module")
def promtool() -> str:
    """The tool of Prometheus; a machine without it skips the tests that ask for it, except in CI."""
    found = shutil.which("promtool")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("promtool is missing; install Debian's package prometheus")
        pytest.skip("promtool is missing; it comes with Debian's package prometheus")
    return found


def test_prometheus_takes_the_rules_and_they_fire_when_they_should(promtool: str, tmp_path: Path) -> None:
    test = tmp_path / "test.yaml"
    test.write_text(FIRING.format(rules=RULES))
    ran = subprocess.run([promtool, "test", "rules", test], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{len(_rules())} rules found" in _checked(promtool)


def _checked(promtool: str) -> str:
    return subprocess.run([promtool, "check", "rules", RULES], capture_output=True, text=True, check=True).stdout


def _rules() -> list[dict[str, str]]:
    rules: list[dict[str, str]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    return rules


def test_panels_and_rules_ask_for_metrics_and_labels_that_there_are() -> None:
    labels = {each.name: {*each.labels} for each in METRICS}
    panels = json.loads((REFERENCE / "metrics-dashboard.json").read_text())["panels"]
    queries = [panel["targets"][0]["expr"] for panel in panels] + [rule["expr"] for rule in _rules()]
    for query in queries:
        name, _, selector = re.findall(r"(feedctl_\w+)(\{([^}]*)\})?", query)[0]
        assert set(re.findall(r"(\w+)=", selector)) <= labels[name], query
    assert len({panel["id"] for panel in panels}) == len(panels) > 10
