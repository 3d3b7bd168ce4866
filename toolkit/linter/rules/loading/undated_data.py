"""The data location of a feed with retention has a date in it."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="undated-data",
    name="The data location of a feed with retention has a date in it",
    severity=Severity.ERROR,
    rationale=(
        "Retention tells the age of an instance by the date in its path. Without one it could only delete"
        " everything or nothing."
    ),
    bad="""\
# feeds/clicks.yaml
locations:
  data: /data/clicks
clusters:
  - name: primary
    retention: {limit: days(10)}
""",
    good="""\
# feeds/clicks.yaml
locations:
  data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"
clusters:
  - name: primary
    retention: {limit: days(10)}
""",
    source="Falcon overview, Retention; DESIGN section 8",
)
