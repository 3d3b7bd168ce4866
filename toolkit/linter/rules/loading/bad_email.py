"""A mail address has a name, an @ and a host."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-email",
    name="A mail address has a name, an @ and a host",
    severity=Severity.ERROR,
    rationale="Nobody would be told when an instance fails.",
    bad="""\
# processes/clicks_hourly_job.yaml
notification: {email: [web-analytics]}
""",
    good="""\
# processes/clicks_hourly_job.yaml
notification: {email: [web-analytics@example.com]}
""",
    source="Falcon feature list, notification",
)
