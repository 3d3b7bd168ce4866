"""An instant is UTC to the minute, for example 2026-03-01T06:40Z."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-instant",
    name="An instant is UTC to the minute, for example 2026-03-01T06:40Z",
    severity=Severity.ERROR,
    rationale=(
        "A time without a zone means something else on every machine. An instance is known by this text for ever."
    ),
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    validity: {start: 2026-01-01, end: 2099-01-01T00:00Z}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}
""",
    source="DESIGN section 3; Falcon entity specification, Process, Validity",
)
