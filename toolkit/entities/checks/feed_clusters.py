"""A feed's clusters: they exist, once each, with a validity that has instances."""

from collections.abc import Iterator

from toolkit.entities.checks.context import Context, duplicate_findings, validity_findings
from toolkit.entities.feed import Feed
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.violation import Violation


def check_validities(feed: Feed) -> Iterator[Violation]:
    """Clusters are named once, and each has a validity with instances."""
    yield from duplicate_findings((each.name for each in feed.clusters), ("clusters",))
    for index, each in enumerate(feed.clusters):
        yield from validity_findings(each.validity, feed.frequency, feed.timezone, ("clusters", index))


def check_clusters(feed: Feed, context: Context) -> Iterator[Violation]:
    """References ask for no later version of a cluster than there is."""
    for index, each in enumerate(feed.clusters):
        yield from context.cluster_version(each.name, each.version, ("clusters", index, "version"))


def check_lifecycle(feed: Feed) -> Iterator[Violation]:
    """Falcon's limit in the retention stage does not contradict `retention`, which is what is acted on."""
    for index, each in enumerate(feed.clusters):
        limit = _stage_limit(feed, each)
        if limit is not None and (each.retention is None or str(each.retention.limit) != limit):
            own = "none" if each.retention is None else str(each.retention.limit)
            yield Violation(
                pointer=("clusters", index),
                rule="lifecycle-limit",
                message=f"the retention stage has the limit {limit}, the retention of the cluster {each.name} {own}",
                hint="write the limit into retention; it is the one that is acted on",
            )


def _stage_limit(feed: Feed, feed_cluster: FeedCluster) -> str | None:
    lifecycle = feed_cluster.lifecycle or feed.lifecycle
    limit = lifecycle.retention_stage.properties.get(_LIMIT) if lifecycle else None
    return None if limit is None else str(limit)


_LIMIT = "retention.policy.agebaseddelete.limit"

OWN_CHECKS = (check_validities, check_lifecycle)
CROSS_CHECKS = (check_clusters,)
