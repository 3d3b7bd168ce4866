"""A rule that a setting or a comment names exists."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-rule",
    name="A rule that is named exists",
    severity=Severity.ERROR,
    rationale="A setting or a comment for a rule that does not exist accepts nothing, whatever its author thinks.",
    bad="""\
# repo.yaml
accept: [not-implementd]
""",
    good="""\
# repo.yaml
accept: [not-implemented]
""",
    source="feedctl, linting",
    about_linting=True,
)
