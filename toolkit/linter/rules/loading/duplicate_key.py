"""A mapping has each key once."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="duplicate-key",
    name="A mapping has each key once",
    severity=Severity.ERROR,
    rationale=(
        "YAML readers keep the last one and say nothing: the limit that stands above is not the limit that deletes."
    ),
    bad="""\
# feeds/clicks.yaml
frequency: hours(1)
frequency: days(1)
""",
    good="""\
# feeds/clicks.yaml
frequency: hours(1)
""",
    source="DESIGN section 4",
)
