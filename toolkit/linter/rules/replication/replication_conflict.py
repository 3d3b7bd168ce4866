"""Two sources do not copy onto the same place of a target."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from toolkit.el import ElError
from toolkit.el.segment import Segment
from toolkit.entities import Feed, Repository
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.meeting import can_meet
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import Side, overlap, sources, targets
from toolkit.planning.partition_expression import PartitionExpression


def _check(context: LintContext) -> Iterator[Hit]:
    for feed in context.repository.feeds.values():
        for one, other in combinations(sources(feed), 2):
            target = _shared_target(context.repository, feed, one, other)
            if target is not None:
                yield _hit(feed, one, other, target)


def _shared_target(repository: Repository, feed: Feed, one: Side, other: Side) -> Side | None:
    """A target on which both sources would write the same place at the same time."""
    if overlap(one, other) is None:
        return None
    for target in targets(feed):
        at_once = overlap(target, one) is not None and overlap(target, other) is not None
        if at_once and (feed.is_table or _collide(repository, one, other, target)):
            return target
    return None


def _collide(repository: Repository, one: Side, other: Side, target: Side) -> bool:
    all_three = [one, other, *([target] if target.feed_cluster.partition is not None else [])]
    bound = [_bound(repository, each) for each in all_three]
    known = [parts for parts in bound if parts is not None]
    return len(known) == len(bound) and all(_overlap(left, right) for left, right in combinations(known, 2))


def _overlap(left: tuple[Segment, ...], right: tuple[Segment, ...]) -> bool:
    """Whether some sub-directory fits both; a part that one of them lacks may be anything there."""
    return all(can_meet(own, its) for own, its in zip(left, right, strict=False))


def _bound(repository: Repository, side: Side) -> tuple[Segment, ...] | None:
    """The parts on a cluster; None when some of it is another rule's business."""
    cluster, text = side.cluster(repository), side.feed_cluster.partition
    if cluster is None or text is None:
        return None
    try:
        parts = PartitionExpression(text).bind(side.feed.variables_on(cluster))
    except ElError:
        return None
    return None if any(part.variables for part in parts) else parts


def _hit(feed: Feed, one: Side, other: Side, target: Side) -> Hit:
    if feed.is_table:
        message = f"{one.name} and {other.name} both write the same partition of the table on {target.name}"
        hint = "a table has one source at a time: let their validities not overlap"
        return Hit(subject=feed.name, pointer=other.at("name"), message=message, hint=hint)
    return Hit(
        subject=feed.name,
        pointer=other.at("partition"),
        message=f"{other.feed_cluster.partition} of {other.name} and {one.feed_cluster.partition} of {one.name} "
        f"select some of the same sub-directories, so that both are copied onto the same path on {target.name}",
        hint="select different sub-directories, for example by ${cluster.colo}; clusters of one colo need another key",
    )


RULE = Rule(
    id="replication-conflict",
    name="Two sources do not copy onto the same place of a target",
    severity=Severity.ERROR,
    rationale="The later copy overwrites the earlier one, and with removal of deleted files it deletes it: half of the "
    "data is lost, and which half differs from run to run.",
    bad="""\
# feeds/clicks.yaml, where the colo of both sources is fra
partitions: [colo]
clusters:
  - {name: primary, type: source, partition: "${cluster.colo}"}
  - {name: secondary, type: source, partition: "${cluster.colo}"}
  - {name: backup, type: target}
""",
    good="""\
# feeds/clicks.yaml
partitions: [cluster]
clusters:
  - {name: primary, type: source, partition: "${cluster.name}"}
  - {name: secondary, type: source, partition: "${cluster.name}"}
  - {name: backup, type: target}
""",
    source="Falcon overview, Replication: to avoid copying data from different sources to the same target location",
    check=_check,
)
