"""A name begins with a letter and has letters, digits, underscores and dashes only."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-name",
    name="A name begins with a letter and has letters, digits, underscores and dashes only",
    severity=Severity.ERROR,
    rationale=(
        "Names go into paths, properties and keys of the ledger, where blanks, dots and slashes have a "
        "meaning of their own."
    ),
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: my cluster
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: my-cluster
""",
    source="DESIGN section 4",
)
