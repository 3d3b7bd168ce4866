"""A partition expression has no more parts than the feed has partitions."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.planning.partition_expression import PartitionExpression


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        if feed.is_table:
            continue
        for index, each in enumerate(feed.clusters):
            parts = () if each.partition is None else PartitionExpression(each.partition).parts
            if len(parts) > len(feed.partitions):
                yield Hit(
                    subject=feed.name,
                    pointer=("clusters", index, "partition"),
                    message=f"{each.partition} has {_counted(len(parts), 'part')}, "
                    f"but the feed has {_counted(len(feed.partitions), 'partition')}",
                    hint="one part for each of the feed's first partitions, or name the missing ones in partitions",
                )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


RULE = Rule(
    id="partition-expression-length",
    name="A cluster's partition expression has no more parts than the feed has partitions",
    severity=Severity.ERROR,
    rationale="Each part selects sub-directories of one level. Below the last partition there are files only, so a "
    "further part selects nothing and nothing is copied.",
    bad="""\
# feeds/clicks.yaml
partitions: [country]
clusters:
  - {name: primary, type: source, partition: "*/${cluster.colo}"}
""",
    good="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: primary, type: source, partition: "*/${cluster.colo}"}
""",
    source="Falcon overview, Replication; Falcon entity specification, Feed, Partitions",
    check=_check,
)
