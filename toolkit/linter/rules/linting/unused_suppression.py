"""A comment that accepts a finding has one to accept."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unused-suppression",
    name="A comment that accepts a finding has one to accept",
    severity=Severity.WARNING,
    rationale=(
        "It hides the next mistake of that kind on its line, which nobody has accepted. Every environment is "
        "looked at before a comment counts as unused."
    ),
    bad="""\
# feeds/clicks.yaml
retention: {limit: days(10), action: delete} # feedctl: ignore[not-implemented] evicted by hand until May
""",
    good="""\
# feeds/clicks.yaml
retention: {limit: days(10), action: archive} # feedctl: ignore[not-implemented] evicted by hand until May
""",
    source="feedctl, linting",
    about_linting=True,
)
