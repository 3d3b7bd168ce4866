"""A period is minutes(n), hours(n), days(n) or months(n) with n above 0."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-frequency",
    name="A period is minutes(n), hours(n), days(n) or months(n) with n above 0",
    severity=Severity.ERROR,
    rationale=(
        "There is no instance after one that comes every zero hours. (The specification allows zero and "
        "negative feed frequencies; we do not.)"
    ),
    bad="""\
# feeds/clicks.yaml
frequency: hours(0)
""",
    good="""\
# feeds/clicks.yaml
frequency: hours(1)
""",
    source="DESIGN section 3; Falcon entity specification, Process, Frequency",
)
