"""A table feed has no list of partitions."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for _, feed in sorted(context.repository.feeds.items()):
        if feed.is_table and feed.partitions:
            yield Hit(
                subject=feed.name,
                pointer=("partitions",),
                message=f"found partitions {', '.join(feed.partitions)} of a table feed; its URI has its partitions",
                hint="remove them",
                on_key=True,
            )


RULE = Rule(
    id="table-partitions",
    name="A table feed has no list of partitions",
    severity=Severity.WARNING,
    rationale=(
        "Partitions name the sub-directories of a path feed's instances. The partitions of a table are the keys of "
        "its URI, and a list beside them is read by nothing."
    ),
    bad="""\
# feeds/clicks_by_day.yaml
table: "catalog:web:clicks_by_day#ds=${YEAR}-${MONTH}-${DAY};region=${region}"
partitions: [region]
""",
    good="""\
# feeds/clicks_by_day.yaml
table: "catalog:web:clicks_by_day#ds=${YEAR}-${MONTH}-${DAY};region=${region}"
""",
    source="DESIGN section 4",
    check=_check,
)
