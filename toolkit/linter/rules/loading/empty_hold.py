"""A hold starts before it ends."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="empty-hold",
    name="A hold starts before it ends",
    severity=Severity.ERROR,
    rationale="The end is exclusive: such a hold keeps nothing, and whoever wrote it counts on it.",
    bad="""\
# holds.yaml
holds:
  - {feed: clicks, start: 2026-03-02T00:00Z, end: 2026-03-01T00:00Z, reason: audit}
""",
    good="""\
# holds.yaml
holds:
  - {feed: clicks, start: 2026-03-01T00:00Z, end: 2026-03-02T00:00Z, reason: audit}
""",
    source="DESIGN section 7, Retention",
)
