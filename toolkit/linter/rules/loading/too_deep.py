"""Values are not nested deeper than a hundred levels."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="too-deep",
    name="Values are not nested deeper than a hundred levels",
    severity=Severity.ERROR,
    rationale=(
        "No entity is that deep. A file that is comes from a broken generator, or from somebody who wants"
        " readers to fail."
    ),
    bad="""\
# feeds/clicks.yaml, a hundred and one brackets
groups: [[[[[[[[[[[[online]]]]]]]]]]]]
""",
    good="""\
# feeds/clicks.yaml
groups: [online]
""",
    source="DESIGN section 4",
)
