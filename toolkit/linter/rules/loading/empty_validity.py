"""A validity starts before it ends."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="empty-validity",
    name="A validity starts before it ends",
    severity=Severity.ERROR,
    rationale="The end is exclusive: with start = end there is no instance, and nothing ever runs.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2026-01-01T00:00Z}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
""",
    source="DESIGN section 8",
)
