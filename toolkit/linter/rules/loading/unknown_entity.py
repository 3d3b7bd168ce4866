"""An environment lays values over entities that exist."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-entity",
    name="An environment lays values over entities that exist",
    severity=Severity.ERROR,
    rationale=("The values would have no effect: production would run with those that were meant for everywhere else."),
    bad="""\
# environments/prod.yaml
entities:
  cliks: {frequency: hours(1)}
""",
    good="""\
# environments/prod.yaml
entities:
  clicks: {frequency: hours(1)}
""",
    source="DESIGN section 4",
)
