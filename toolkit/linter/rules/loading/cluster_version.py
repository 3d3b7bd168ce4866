"""A reference asks for no later version of a cluster than there is."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="cluster-version",
    name="A reference asks for no later version of a cluster than there is",
    severity=Severity.ERROR,
    rationale="Whoever asks for version 2 counts on a change that the cluster does not have yet.",
    bad="""\
# feeds/clicks.yaml, where the cluster primary has version 1
clusters:
  - name: primary
    version: 2
""",
    good="""\
# feeds/clicks.yaml, where the cluster primary has version 1
clusters:
  - name: primary
    version: 1
""",
    source="Falcon feature list, Entity schema, version",
)
