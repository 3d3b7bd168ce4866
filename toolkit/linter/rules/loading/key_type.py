"""A key is text."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="key-type",
    name="A key is text",
    severity=Severity.ERROR,
    rationale=(
        "YAML reads 1, true and null as something else than text; such a key never meets the name that it is meant for."
    ),
    bad="""\
# feeds/clicks.yaml
properties: {1: first}
""",
    good="""\
# feeds/clicks.yaml
properties: {"1": first}
""",
    source="DESIGN section 4",
)
