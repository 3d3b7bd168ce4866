"""A file is valid YAML."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="yaml-syntax",
    name="A file is valid YAML",
    severity=Severity.ERROR,
    rationale="What cannot be parsed cannot be used; nothing in the file takes effect.",
    bad="""\
# feeds/clicks.yaml
groups: [online, bi
""",
    good="""\
# feeds/clicks.yaml
groups: [online, bi]
""",
    source="DESIGN section 4",
)
