"""A cluster that is referred to exists."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unknown-cluster",
    name="A cluster that is referred to exists",
    severity=Severity.ERROR,
    rationale="There is nothing to act on. Falcon refuses the submission of such a feed or process.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primry
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
""",
    source="Falcon overview, Cross entity validations, Cluster-Feed and Cluster-Process",
)
