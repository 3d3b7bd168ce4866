"""Indentation and the room between values are blanks, never tabs."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="tab",
    name="Indentation and the room between values are blanks, never tabs",
    severity=Severity.ERROR,
    rationale="YAML forbids tabs as indentation; some readers let them pass, others stop.",
    bad="""\
# feeds/clicks.yaml, with a tab before hours(1)
frequency:\thours(1)
""",
    good="""\
# feeds/clicks.yaml
frequency: hours(1)
""",
    source="DESIGN section 4",
)
