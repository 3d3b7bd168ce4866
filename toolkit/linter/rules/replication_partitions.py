"""Rules about partition expressions: which part of an instance each source has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from toolkit.el import ElError
from toolkit.el.segment import Segment
from toolkit.entities import Feed, FeedCluster, Pointer, Repository
from toolkit.entities.nearest import suggestion
from toolkit.linter.findings import Hit
from toolkit.linter.overlap import can_overlap
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.inputs import inputs
from toolkit.linter.rules.replication import FeedOnCluster, overlap, sources, targets
from toolkit.planning.instance_storage import PartitionExpression


def missing_source_partition(context: LintContext) -> Iterator[Hit]:
    """With several sources each has a partition expression."""
    for feed in context.repository.feeds.values():
        several = sources(feed)
        if feed.is_table or len(several) < 2:  # noqa: PLR2004 - several
            continue
        names = ", ".join(each.name for each in several)
        for each in several:
            if each.feed_cluster.partition is None:
                yield Hit(
                    subject=feed.name,
                    pointer=each.at("name"),
                    message=f"the source {each.name} has no partition expression; the sources are {names}",
                    hint='say which part of an instance each source has, for example partition: "*/${cluster.colo}"',
                )


def constant_source_partition(context: LintContext) -> Iterator[Hit]:
    """With several sources each partition expression has an expression in it."""
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


def partition_expression_length(context: LintContext) -> Iterator[Hit]:
    """A partition expression has no more parts than the feed has partitions."""
    for feed in context.repository.feeds.values():
        if feed.is_table:
            continue
        most = len(feed.partitions)
        for index, each in enumerate(feed.clusters):
            if _length(each) > most:
                message = f"{each.partition} has {_counted(_length(each), 'part')}"
                yield _length_hit(feed, ("clusters", index, "partition"), message)
        yield from _together(feed)


def _together(feed: Feed) -> Iterator[Hit]:
    """A target's parts are appended to those of the source; each alone may fit where both do not."""
    most = len(feed.partitions)
    fitting = [each for each in sources(feed) if 0 < _length(each.feed_cluster) <= most]
    source = max(fitting, key=lambda each: _length(each.feed_cluster), default=None)
    for target in targets(feed) if source else ():
        own, theirs = _length(target.feed_cluster), _length(source.feed_cluster) if source else 0
        if source and 0 < own <= most < own + theirs:
            message = (
                f"{target.feed_cluster.partition} comes after {source.feed_cluster.partition} of the source "
                f"{source.name}, which makes {_counted(own + theirs, 'part')}"
            )
            yield _length_hit(feed, target.at("partition"), message)


def _length(each: FeedCluster) -> int:
    return 0 if each.partition is None else len(PartitionExpression(each.partition).parts)


def _length_hit(feed: Feed, pointer: Pointer, message: str) -> Hit:
    return Hit(
        subject=feed.name,
        pointer=pointer,
        message=f"{message}, but the feed has {_counted(len(feed.partitions), 'partition')}",
        hint="one part for each of the feed's first partitions, or name the missing ones in partitions",
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def unknown_partition_variable(context: LintContext) -> Iterator[Hit]:
    """The variables of a partition expression have values on its cluster."""
    yield from _unknown_in_inputs(context.repository)
    for feed in context.repository.feeds.values():
        for index, each in enumerate(feed.clusters):
            cluster = context.repository.clusters.get(each.name)
            if each.partition is None or cluster is None:
                continue
            for position, message, hint in _findings(each.partition, feed.variables_on(cluster)):
                yield Hit(
                    subject=feed.name,
                    pointer=("clusters", index, "partition"),
                    message=f"on the cluster {each.name} {message}",
                    hint=hint,
                    offset=position,
                )


def _unknown_in_inputs(repository: Repository) -> Iterator[Hit]:
    """Find the variables in partitions of inputs that have no value where the process runs."""
    for process, name, each, feed in inputs(repository):
        there = (repository.clusters.get(cluster.name) for cluster in process.clusters if not feed.is_table)
        for cluster in there if each.partition is not None else ():
            found = () if cluster is None else _findings(each.partition or "", feed.variables_on(cluster))
            for position, message, hint in found:
                yield Hit(
                    subject=process.name,
                    pointer=("inputs", name, "partition"),
                    message=f"on the cluster {cluster.name if cluster else ''} {message}",
                    hint=hint,
                    offset=position,
                    related=(feed.name,),
                )


def _findings(text: str, known: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    expression = PartitionExpression(text)
    for variable in expression.variables:
        if variable.name not in known:
            yield variable.position, f"${{{variable.name}}} has no value", suggestion(variable.name, known)
    try:
        expression.bind(known)
    except ElError as error:
        yield error.position or 0, f"found {error.found}, expected {error.expected}", "choose another value"


def replication_conflict(context: LintContext) -> Iterator[Hit]:
    """Two sources do not copy onto the same place of a target."""
    for feed in context.repository.feeds.values():
        for one, other in combinations(sources(feed), 2):
            target = _shared_target(context.repository, feed, one, other)
            if target is not None:
                yield _hit(feed, one, other, target)


def _shared_target(
    repository: Repository, feed: Feed, one: FeedOnCluster, other: FeedOnCluster
) -> FeedOnCluster | None:
    """A target on which both sources would write the same place at the same time."""
    if overlap(one, other) is None:
        return None
    for target in targets(feed):
        at_once = overlap(target, one) is not None and overlap(target, other) is not None
        if at_once and (feed.is_table or _collide(repository, one, other, target)):
            return target
    return None


def _collide(repository: Repository, one: FeedOnCluster, other: FeedOnCluster, target: FeedOnCluster) -> bool:
    all_three = [one, other, *([target] if target.feed_cluster.partition is not None else [])]
    bound = [_bound(repository, each) for each in all_three]
    known = [parts for parts in bound if parts is not None]
    return len(known) == len(bound) and all(_overlap(left, right) for left, right in combinations(known, 2))


def _overlap(left: tuple[Segment, ...], right: tuple[Segment, ...]) -> bool:
    """Return whether one sub-directory can fit both; a part that one of them lacks may be anything there."""
    return all(can_overlap(own, its) for own, its in zip(left, right, strict=False))


def _bound(repository: Repository, side: FeedOnCluster) -> tuple[Segment, ...] | None:
    """The parts on a cluster; None when some of it is another rule's business."""
    cluster, text = side.cluster(repository), side.feed_cluster.partition
    if cluster is None or text is None:
        return None
    try:
        parts = PartitionExpression(text).bind(side.feed.variables_on(cluster))
    except ElError:
        return None
    return None if any(part.variables for part in parts) else parts


def _hit(feed: Feed, one: FeedOnCluster, other: FeedOnCluster, target: FeedOnCluster) -> Hit:
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


CHECKS: Mapping[str, Check] = {
    "missing-source-partition": missing_source_partition,
    "constant-source-partition": constant_source_partition,
    "partition-expression-length": partition_expression_length,
    "unknown-partition-variable": unknown_partition_variable,
    "replication-conflict": replication_conflict,
}
