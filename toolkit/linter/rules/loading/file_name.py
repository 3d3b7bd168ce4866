"""A file has the name of its entity, the ending .yaml and a folder of the config repo."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="file-name",
    name="A file has the name of its entity, the ending .yaml and a folder of the config repo",
    severity=Severity.ERROR,
    rationale=(
        "A file that nobody looks at, or one that is called otherwise than its entity, is a feed that is "
        "silently not there."
    ),
    bad="""\
# feeds/clicks.yaml
kind: feed
name: click
""",
    good="""\
# feeds/clicks.yaml
kind: feed
name: clicks
""",
    source="DESIGN section 4",
)
