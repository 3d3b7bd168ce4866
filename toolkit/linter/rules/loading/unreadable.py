"""A file of the config repo can be read."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="unreadable",
    name="A file of the config repo can be read",
    severity=Severity.ERROR,
    rationale=(
        "What cannot be read cannot be checked. A hold that cannot be read must not be taken for no hold at all."
    ),
    bad="""\
# holds.yaml with the permissions 000
holds: []
""",
    good="""\
# holds.yaml with the permissions 644
holds: []
""",
    source="DESIGN section 1",
)
