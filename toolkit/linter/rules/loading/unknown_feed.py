"""A feed that is referred to exists."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-feed",
    name="A feed that is referred to exists",
    severity=Severity.ERROR,
    rationale=(
        "A process would wait for ever for the instances of a feed that nobody describes. A hold on an "
        "unknown feed protects nothing."
    ),
    bad="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: raaw-clicks, start: "now(0,0)", end: "now(0,0)"}
""",
    good="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: raw-clicks, start: "now(0,0)", end: "now(0,0)"}
""",
    source="Falcon overview, Cross entity validations, Feed-Process",
)
