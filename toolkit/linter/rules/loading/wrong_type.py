"""A value is of the type that its key takes."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="wrong-type",
    name="A value is of the type that its key takes",
    severity=Severity.ERROR,
    rationale=("A number where a text is expected, or a list where a mapping is, means something else than it says."),
    bad="""\
# feeds/clicks.yaml
frequency: 60
""",
    good="""\
# feeds/clicks.yaml
frequency: minutes(60)
""",
    source="DESIGN section 4",
)
