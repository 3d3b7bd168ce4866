"""A comment for the linter can be read."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-suppression",
    name="A comment for the linter can be read",
    severity=Severity.ERROR,
    rationale="A comment that is not understood accepts nothing, although its author counts on it.",
    bad="""\
# feeds/clicks.yaml
frequency: hours(1) # feedctl: ignore not-implemented, until the import exists
""",
    good="""\
# feeds/clicks.yaml
frequency: hours(1) # feedctl: ignore[not-implemented] until the import exists
""",
    source="feedctl, linting",
    about_linting=True,
)
