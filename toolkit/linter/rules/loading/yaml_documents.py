"""A file holds one YAML document."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="yaml-documents",
    name="A file holds one YAML document",
    severity=Severity.ERROR,
    rationale="One entity, one file: a second document would be left out without a word.",
    bad="""\
# feeds/clicks.yaml
kind: feed
---
kind: feed
""",
    good="""\
# feeds/clicks.yaml
kind: feed
""",
    source="DESIGN section 4",
)
