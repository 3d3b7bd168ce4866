"""A link leads to a file."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="broken-symlink",
    name="A link leads to a file",
    severity=Severity.ERROR,
    rationale="The file that the link stands for is gone; the entity in it would silently not be there.",
    bad="""\
# feeds/clicks.yaml -> ../shared/clicks.yaml, which is not there
kind: feed
name: clicks
""",
    good="""\
# feeds/clicks.yaml, a file
kind: feed
name: clicks
""",
    source="DESIGN section 1",
)
