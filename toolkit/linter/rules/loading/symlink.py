"""A folder of configuration is a folder, and a file in an archive is its content."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="symlink",
    name="A folder of configuration is a folder, and a file in an archive is its content",
    severity=Severity.ERROR,
    rationale=(
        "A link leads out of what was committed or archived: two readers of one snapshot would see different entities."
    ),
    bad="""\
# feeds/web -> ../../other-repo/feeds, a link to a folder
kind: feed
name: clicks
""",
    good="""\
# feeds/web/clicks.yaml, a file in a folder
kind: feed
name: clicks
""",
    source="DESIGN section 1",
)
