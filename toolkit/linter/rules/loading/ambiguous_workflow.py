"""A workflow is one engine with its path, or steps, and not both."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="ambiguous-workflow",
    name="A workflow is one engine with its path, or steps, and not both",
    severity=Severity.ERROR,
    rationale="With both nobody can tell what runs.",
    bad="""\
# processes/clicks_hourly_job.yaml
workflow:
  engine: spark_sql
  path: workflows/clicks.sql
  steps:
    - {name: count, engine: spark_sql, path: workflows/clicks.sql}
""",
    good="""\
# processes/clicks_hourly_job.yaml
workflow:
  steps:
    - {name: count, engine: spark_sql, path: workflows/clicks.sql}
""",
    source="DESIGN section 4",
)
