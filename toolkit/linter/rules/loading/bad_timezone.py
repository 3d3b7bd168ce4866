"""A time zone is one of the tz database."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-timezone",
    name="A time zone is one of the tz database",
    severity=Severity.ERROR,
    rationale="Days begin and clocks change by these rules; an unknown name has none.",
    bad="""\
# feeds/clicks.yaml
timezone: Europe/Frankfurt
""",
    good="""\
# feeds/clicks.yaml
timezone: Europe/Berlin
""",
    source="DESIGN section 3",
)
