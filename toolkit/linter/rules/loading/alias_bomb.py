"""The aliases of a file do not multiply its values without bounds."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="alias-bomb",
    name="The aliases of a file do not multiply its values without bounds",
    severity=Severity.ERROR,
    rationale="A few aliases of aliases make billions of values and use up the memory of whoever reads the file.",
    bad="""\
# feeds/clicks.yaml, with nine more lines like the second
a: &a [x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]
""",
    good="""\
# feeds/clicks.yaml
groups: [online, bi]
""",
    source="DESIGN section 4",
)
