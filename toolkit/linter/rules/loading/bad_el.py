"""An expression is a function of the expression language with its arguments."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-el",
    name="An expression is a function of the expression language with its arguments",
    severity=Severity.ERROR,
    rationale="An expression that cannot be evaluated never finds an instance, so the process never starts.",
    bad="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "tomorow(0,0)", end: "now(0,0)"}
""",
    good="""\
# processes/clicks_hourly_job.yaml
inputs:
  clicks: {feed: clicks, start: "today(0,0)", end: "now(0,0)"}
""",
    source="DESIGN section 3; Falcon overview, Falcon EL Expressions",
)
