"""A value has no YAML tag."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="yaml-tag",
    name="A value has no YAML tag",
    severity=Severity.ERROR,
    rationale=(
        "A tag lets a reader build something else than text, numbers and lists; readers differ in what they build."
    ),
    bad="""\
# feeds/clicks.yaml
version: !!str 1
""",
    good="""\
# feeds/clicks.yaml
version: 1
""",
    source="DESIGN section 4",
)
