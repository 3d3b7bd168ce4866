"""The settings of rules in repo.yaml are usable."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-rule-setting",
    name="Settings of rules are among those that the rule has",
    severity=Severity.ERROR,
    rationale=(
        "An option that a rule does not have changes nothing, although its author counts on it. What keeps every "
        "action from loading the repo cannot be turned off: the actions would refuse it all the same."
    ),
    bad="""\
# repo.yaml
lint:
  rules:
    unknown-feed: {severity: off}
""",
    good="""\
# repo.yaml
lint:
  rules:
    not-implemented: {severity: warning}
""",
    source="feedctl, linting",
    about_linting=True,
)
