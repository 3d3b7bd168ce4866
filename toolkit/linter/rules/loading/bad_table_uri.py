"""A table is catalog:DATABASE:TABLE#KEY=VALUE;KEY=VALUE and its first key is dated."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-table-uri",
    name="A table is catalog:DATABASE:TABLE#KEY=VALUE;KEY=VALUE and its first key is dated",
    severity=Severity.ERROR,
    rationale="Retention, export and inputs find partitions by the date in the first key.",
    bad="""\
# feeds/clicks_by_day.yaml
table: "catalog:web:clicks#region=${region};ds=${YEAR}-${MONTH}-${DAY}"
""",
    good="""\
# feeds/clicks_by_day.yaml
table: "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY};region=${region}"
""",
    source="Falcon entity specification, Feed, Catalog Storage",
)
