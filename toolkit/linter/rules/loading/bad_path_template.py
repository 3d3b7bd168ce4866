"""The date fields of a location include YEAR and leave no gap down to the finest."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-path-template",
    name="The date fields of a location include YEAR and leave no gap down to the finest",
    severity=Severity.ERROR,
    rationale=("A path without its month stands for twelve instances: retention and inputs could not tell them apart."),
    bad="""\
# feeds/clicks.yaml
locations:
  data: "/data/clicks/${YEAR}/${DAY}"
""",
    good="""\
# feeds/clicks.yaml
locations:
  data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"
""",
    source="DESIGN section 8",
)
