"""A value is one of those that its key takes."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-value",
    name="A value is one of those that its key takes",
    severity=Severity.ERROR,
    rationale="Only these values have a meaning; another one would be an action that nobody knows.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    type: sink
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    type: target
""",
    source="DESIGN section 4",
)
