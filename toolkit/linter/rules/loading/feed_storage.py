"""A feed has one kind of storage: locations with data, or a table, on all its clusters."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="feed-storage",
    name="A feed has one kind of storage: locations with data, or a table, on all its clusters",
    severity=Severity.ERROR,
    rationale="With both nobody knows where an instance is; with neither it is nowhere.",
    bad="""\
# feeds/clicks.yaml
table: "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}"
locations:
  data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"
""",
    good="""\
# feeds/clicks.yaml
locations:
  data: "/data/clicks/${YEAR}/${MONTH}/${DAY}"
""",
    source="Falcon entity specification, Feed, Storage",
)
