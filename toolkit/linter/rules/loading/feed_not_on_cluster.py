"""A process's feeds are on every cluster that it runs on, and a hold's feed on its cluster."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="feed-not-on-cluster",
    name="A process's feeds are on every cluster that it runs on, and a hold's feed on its cluster",
    severity=Severity.ERROR,
    rationale=(
        "On a cluster that the feed is not on, it has no path, no instances and no validity: there is "
        "nothing to read, make or hold."
    ),
    bad="""\
# processes/clicks_hourly_job.yaml, where the feed clicks is on primary only
clusters:
  - name: backup
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
""",
    good="""\
# processes/clicks_hourly_job.yaml, where the feed clicks is on primary only
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
inputs:
  clicks: {feed: clicks, start: "now(0,0)", end: "now(0,0)"}
""",
    source="Falcon overview, Cross entity validations, Feed-Process",
)
