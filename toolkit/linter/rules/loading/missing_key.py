"""What an entity needs is there once defaults and environment are merged in."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="missing-key",
    name="What an entity needs is there once defaults and environment are merged in",
    severity=Severity.ERROR,
    rationale="Without the key nobody can act on the entity; guessing it would be worse.",
    bad="""\
# feeds/clicks.yaml
kind: feed
name: clicks
frequency: hours(1)
""",
    good="""\
# feeds/clicks.yaml
kind: feed
name: clicks
frequency: hours(1)
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
""",
    source="DESIGN section 4",
)
