"""With several sources each partition expression has an expression in it."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import sources
from toolkit.planning.partition_expression import PartitionExpression


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        several = sources(feed)
        if feed.is_table or len(several) < 2:  # noqa: PLR2004 - several
            continue
        for each in several:
            text = each.feed_cluster.partition
            if text is not None and not PartitionExpression(text).has_expression:
                yield Hit(
                    subject=feed.name,
                    pointer=each.at("partition"),
                    message=f"found {text!r}, expected at least one part that is an expression such as "
                    "${cluster.colo}: the feed has several sources",
                    hint="an expression stays right when the entry is copied for one more source",
                )


RULE = Rule(
    id="constant-source-partition",
    name="With several sources each partition expression has a part that differs from cluster to cluster",
    severity=Severity.WARNING,
    rationale="A part that is the same text on every cluster says nothing about which source has it. Constants that "
    "differ do work, which is why this is a warning; replication-conflict finds those that do not.",
    bad="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: frankfurt, type: source, partition: "*/fra"}
  - {name: dublin, type: source, partition: "*/${cluster.colo}"}
""",
    good="""\
# feeds/clicks.yaml
partitions: [country, colo]
clusters:
  - {name: frankfurt, type: source, partition: "*/${cluster.colo}"}
  - {name: dublin, type: source, partition: "*/${cluster.colo}"}
""",
    source="Falcon entity specification, Feed, File System Storage: at least one tag has to be an expression",
    check=_check,
)
