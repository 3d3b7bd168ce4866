"""A template can still be read with the values of its variables put in."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="bad-template",
    name="A template can still be read with the values of its variables put in",
    severity=Severity.ERROR,
    rationale=(
        "A variable is one name; with a slash or a second date in it the template means other paths than it shows."
    ),
    bad="""\
# feeds/clicks.yaml
locations:
  data: "/data/${region}/${YEAR}-${MONTH}-${DAY}"
properties: {region: emea/de}
""",
    good="""\
# feeds/clicks.yaml
locations:
  data: "/data/${region}/${YEAR}-${MONTH}-${DAY}"
properties: {region: emea}
""",
    source="DESIGN section 3",
)
