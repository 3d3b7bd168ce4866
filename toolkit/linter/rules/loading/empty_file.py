"""A file has content."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="empty-file",
    name="A file has content",
    severity=Severity.ERROR,
    rationale="An empty file is most often one that somebody meant to write or to remove.",
    bad="""\
# feeds/clicks.yaml with nothing but this line
""",
    good="""\
# feeds/clicks.yaml
kind: feed
name: clicks
""",
    source="DESIGN section 4",
)
