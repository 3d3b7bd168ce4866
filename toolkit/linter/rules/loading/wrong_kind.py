"""The kind of an entity is that of its folder."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="wrong-kind",
    name="The kind of an entity is that of its folder",
    severity=Severity.ERROR,
    rationale="The folder says how a file is read; another kind in it means that the file is in the wrong place.",
    bad="""\
# feeds/clicks.yaml
kind: process
name: clicks
""",
    good="""\
# feeds/clicks.yaml
kind: feed
name: clicks
""",
    source="DESIGN section 4",
)
