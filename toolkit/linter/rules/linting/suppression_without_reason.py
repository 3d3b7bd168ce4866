"""A comment that accepts a finding says why."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="suppression-without-reason",
    name="A comment that accepts a finding says why",
    severity=Severity.ERROR,
    rationale="Whoever reads it later cannot tell whether it still holds.",
    bad="""\
# feeds/clicks.yaml
retention: {limit: days(10), action: archive} # feedctl: ignore[not-implemented]
""",
    good="""\
# feeds/clicks.yaml
retention: {limit: days(10), action: archive} # feedctl: ignore[not-implemented] evicted by hand until May
""",
    source="feedctl, linting",
    about_linting=True,
)
