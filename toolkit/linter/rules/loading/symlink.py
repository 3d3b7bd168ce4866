"""Configuration is in files and folders, and not in links to them."""

from __future__ import annotations

from toolkit.linter.findings import Severity
from toolkit.linter.rule import Rule

RULE = Rule(
    id="symlink",
    name="Configuration is in files and folders, and not in links to them",
    severity=Severity.ERROR,
    rationale=(
        "A link leads out of what was committed or archived: two readers of one snapshot would see different entities,"
        " and messages about a file would show lines of one that only the reader may read."
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
