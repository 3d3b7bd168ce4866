"""The limit in a retention stage is that of the retention."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="lifecycle-limit",
    name="The limit in a retention stage is that of the retention",
    severity=Severity.ERROR,
    rationale=("Two limits that differ: one of them is not the one that deletes. It is `retention` that is acted on."),
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(10)}
lifecycle:
  retention_stage: {properties: {retention.policy.agebaseddelete.limit: days(90)}}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(90)}
lifecycle:
  retention_stage: {properties: {retention.policy.agebaseddelete.limit: days(90)}}
""",
    source="Falcon feature list, Lifecycle",
)
