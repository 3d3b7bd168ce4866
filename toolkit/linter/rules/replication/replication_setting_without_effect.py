"""A setting of replication stands where replication reads it."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.entities import ClusterRole, Feed, FeedCluster
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        for index, each in enumerate(feed.clusters):
            for key, message, hint in _without_effect(feed, each):
                yield Hit(subject=feed.name, pointer=("clusters", index, key), message=message, hint=hint, on_key=True)


def _without_effect(feed: Feed, each: FeedCluster) -> Iterator[tuple[str, str, str]]:
    role = "has no type" if each.type is None else f"is a {each.type}"
    if each.delay is not None and each.type is not ClusterRole.SOURCE:
        message = f"the delay {each.delay} has no effect: {each.name} {role}, and it is the source's delay that counts"
        yield "delay", message, "move it to the source, or remove it"
    if each.partition is not None and feed.is_table:
        message = f"the partition {each.partition} has no effect: {feed.name} is a table, and copied as a whole"
        yield "partition", message, "remove it"
    elif each.partition is not None and each.type is None:
        message = f"the partition {each.partition} has no effect: {each.name} {role}, so it is not replicated"
        yield "partition", message, "add type: source or type: target, or remove it"


RULE = Rule(
    id="replication-setting-without-effect",
    name="A delay stands at a source, and a partition at a cluster to or from which a path feed is copied",
    severity=Severity.WARNING,
    rationale="Elsewhere nothing reads it: instances are copied at once although somebody asked for a delay. Partition "
    "expressions select sub-directories, which tables do not have.",
    bad="""\
# feeds/clicks.yaml
clusters:
  - {name: primary, type: source}
  - {name: backup, type: target, delay: minutes(40)}
""",
    good="""\
# feeds/clicks.yaml
clusters:
  - {name: primary, type: source, delay: minutes(40)}
  - {name: backup, type: target}
""",
    source="DESIGN section 7, Replication; Falcon overview, Replication; Falcon entity specification, Partitions",
    check=_check,
)
