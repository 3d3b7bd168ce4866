"""A key is one that the schema knows."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-key",
    name="A key is one that the schema knows",
    severity=Severity.ERROR,
    rationale=(
        "A misspelt key would have no effect: a `retension` keeps everything for ever. A password never "
        "stands in the repo."
    ),
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retension: {limit: days(10)}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    retention: {limit: days(10)}
""",
    source="DESIGN section 4; USERS ask 9",
)
