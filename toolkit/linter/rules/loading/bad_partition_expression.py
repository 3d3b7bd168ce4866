"""A partition expression is names, * and ${variables} between slashes."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-partition-expression",
    name="A partition expression is names, * and ${variables} between slashes",
    severity=Severity.ERROR,
    rationale=(
        "It is compared with the sub-directories of an instance, part by part; a part that cannot be a name never fits."
    ),
    bad="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    partition: "*//${cluster.colo}"
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - name: primary
    partition: "*/${cluster.colo}"
""",
    source="Falcon entity specification, Feed, File System Storage",
)
