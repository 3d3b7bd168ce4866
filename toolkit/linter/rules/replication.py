"""Rules about sources and targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from toolkit.el import CanonicalPath, ElError, format_instant
from toolkit.entities import Cluster, ClusterRole, Feed, FeedCluster, LocationType, Pointer, Repository, Validity
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Check, LintContext
from toolkit.planning.instance_storage import FeedStorage, InstanceStorage, partition_name

_SAMPLES = 20
"""So many instances tell whether two grids of one frequency ever meet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedOnCluster:
    """A feed on one of its clusters, as a source or a target.

    Attributes:
        index: its position among the feed's clusters.
    """

    feed: Feed
    index: int
    feed_cluster: FeedCluster

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.feed_cluster.name

    def at(self, *below: str) -> Pointer:
        """The pointer to a value of the feed's cluster."""
        return ("clusters", self.index, *below)

    def cluster(self, repository: Repository) -> Cluster | None:
        """The cluster; None when it cannot be used."""
        return repository.clusters.get(self.name)


def _with_role(feed: Feed, role: ClusterRole) -> list[FeedOnCluster]:
    """The feed's clusters that have a role."""
    return [
        FeedOnCluster(feed=feed, index=index, feed_cluster=each)
        for index, each in enumerate(feed.clusters)
        if each.type is role
    ]


def sources(feed: Feed) -> list[FeedOnCluster]:
    """The clusters that a feed is copied from."""
    return _with_role(feed, ClusterRole.SOURCE)


def targets(feed: Feed) -> list[FeedOnCluster]:
    """The clusters that a feed is copied to."""
    return _with_role(feed, ClusterRole.TARGET)


def pairs(feed: Feed) -> Iterator[tuple[FeedOnCluster, FeedOnCluster]]:
    """Every source with every target."""
    receiving = targets(feed)
    for source in sources(feed) if receiving else ():
        for target in receiving:
            yield source, target


def overlap(left: FeedOnCluster, right: FeedOnCluster) -> tuple[datetime, datetime] | None:
    """When both are valid, as [start, end); None: never (Falcon overview, Replication: max of starts, min of ends)."""
    one, other = left.feed_cluster.validity, right.feed_cluster.validity
    start, end = max(one.start, other.start), min(one.end, other.end)
    return (start, end) if start < end else None


def common_instants(source: FeedOnCluster, target: FeedOnCluster) -> list[datetime]:
    """Some of the first instances that both sides have; empty: there is none."""
    both = overlap(source, target)
    if both is None:
        return []
    theirs = source.feed.instances_on(source.name)
    own = target.feed.instances_on(target.name).between(*both)
    return [instant for _, instant in zip(range(_SAMPLES), own, strict=False) if instant in theirs]


def storage_at(side: FeedOnCluster, cluster: Cluster, instant: datetime) -> InstanceStorage | None:
    """Return the storage of an instance on a side; None when its template cannot be rendered."""
    try:
        return FeedStorage.of(side.feed, cluster).at(instant)
    except ElError:
        return None


def replication_without_instances(context: LintContext) -> Iterator[Hit]:
    """A source and a target have instances in common."""
    for feed in context.repository.feeds.values():
        giving, receiving = sources(feed), targets(feed)
        if giving and receiving:
            yield from _alone(feed, receiving, giving, Severity.ERROR)
            if len(giving) > 1:
                yield from _alone(feed, giving, receiving, Severity.WARNING)


def _alone(
    feed: Feed, own: Sequence[FeedOnCluster], others: Sequence[FeedOnCluster], severity: Severity
) -> Iterator[Hit]:
    for side in own:
        if not any(common_instants(each, side) for each in others):
            verb = "reaches" if severity is Severity.ERROR else "leaves"
            reasons = "; ".join(_reason(side, each) for each in others)
            yield Hit(
                subject=feed.name,
                pointer=side.at("validity"),
                message=f"no instance ever {verb} {side.name}: {reasons}",
                hint="let the validities overlap, and start them whole frequencies apart",
                severity=severity,
            )


def _reason(side: FeedOnCluster, other: FeedOnCluster) -> str:
    own, its = side.feed_cluster.validity, other.feed_cluster.validity
    if overlap(side, other) is None:
        return f"its validity {_words(own)} does not overlap with that of {other.name}, {_words(its)}"
    start, its_start = format_instant(own.start), format_instant(its.start)
    return f"{side.feed.frequency} from {start} never meets that of {other.name}, from {its_start}"


def _words(validity: Validity) -> str:
    return f"{format_instant(validity.start)} to {format_instant(validity.end)}"


def replication_onto_itself(context: LintContext) -> Iterator[Hit]:
    """A source and a target are not the same place."""
    for feed in context.repository.feeds.values():
        for source, target in pairs(feed):
            if _are_apart(context.repository, source, target):
                continue
            here, there = _place(context.repository, source, target), _place(context.repository, target, source)
            if here is not None and here == there:
                yield Hit(
                    subject=feed.name,
                    pointer=target.at("name"),
                    message=f"the target {target.name} is the same place as the source {source.name}: {here}",
                    hint="give the target an end point or a location of its own",
                    related=(source.name, target.name),
                )


def _are_apart(repository: Repository, source: FeedOnCluster, target: FeedOnCluster) -> bool:
    """Return whether the clusters alone show that the places differ: the usual case, which needs no paths."""
    stores = [_store(side, repository) for side in (source, target)]
    return None not in stores and stores[0] != stores[1]


def _store(side: FeedOnCluster, repository: Repository) -> str | None:
    """The file system of a path without a scheme, or the metastore of a table."""
    cluster = side.cluster(repository)
    if cluster is None:
        return None
    if side.feed.is_table:
        return None if cluster.interfaces.registry is None else cluster.interfaces.registry.endpoint
    text = side.feed.locations_on(side.name).data
    if text is None or not text.startswith("/"):
        return None
    return _file_system(cluster.default_fs, tuple(cluster.name_services.items()))


@lru_cache(maxsize=256)
def _file_system(default_fs: str, name_services: tuple[tuple[str, str], ...]) -> str | None:
    try:
        root = CanonicalPath.parse("/", default_fs, dict(name_services))
    except ElError:
        return None
    return f"{root.scheme}://{root.authority}"


def _place(repository: Repository, side: FeedOnCluster, other: FeedOnCluster) -> str | None:
    """Return the place of the first common instance, in a form that is equal for equal places."""
    cluster, both = side.cluster(repository), overlap(side, other)
    if cluster is None or both is None:
        return None
    storage = storage_at(side, cluster, both[0])
    if storage is None:
        return None
    if storage.partition is not None:
        registry = cluster.interfaces.registry
        table = (side.feed.table_on(side.name) or "").partition("#")[0]
        name = f"{table}/{partition_name(storage.partition)}"
        return None if registry is None else f"{name} in {registry.endpoint}"
    return _path(storage.paths, cluster)


def _path(paths: Mapping[LocationType, str], cluster: Cluster) -> str | None:
    try:
        return str(cluster.place(paths[LocationType.DATA]))
    except ElError:
        return None


def replication_setting_without_effect(context: LintContext) -> Iterator[Hit]:
    """A setting of replication stands where replication reads it."""
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
    if each.on_source_delete is not None:
        yield from _removal_without_effect(feed, each, role)


def _removal_without_effect(feed: Feed, each: FeedCluster, role: str) -> Iterator[tuple[str, str, str]]:
    key, has_none = "on_source_delete", f"{each.on_source_delete} has no effect:"
    if each.type is not ClusterRole.TARGET:
        yield key, f"{has_none} {each.name} {role}, and it is the target's that counts", "move it to the target"
    elif feed.is_table:
        yield key, f"{has_none} {feed.name} is a table, of which partitions stay", "remove it"
    elif all(one.partition is None for one in feed.clusters):
        yield key, f"{has_none} {feed.name} has no partition expression, so it is copied as a whole", "remove it"


def target_without_source(context: LintContext) -> Iterator[Hit]:
    """A feed with a target has a source."""
    for feed in context.repository.feeds.values():
        if sources(feed):
            continue
        for each in targets(feed):
            yield Hit(
                subject=feed.name,
                pointer=each.at("type"),
                message=f"{each.name} is a target, and no cluster of the feed is a source",
                hint="give the cluster on which the instances are made type: source, or remove type: target",
            )


def object_store_without_flag(context: LintContext) -> Iterator[Hit]:
    """A target in an object store has an availability flag."""
    for feed in context.repository.feeds.values():
        if feed.is_table or feed.availability_flag is not None or not sources(feed):
            continue
        for each in targets(feed):
            place = _data_place(context, feed, each)
            if place is not None and place.in_object_store:
                yield Hit(
                    subject=feed.name,
                    pointer=_pointer(each),
                    message=f"the target {each.name} is in an object store ({place}), "
                    "and the feed has no availability_flag",
                    hint="add availability_flag, for example _SUCCESS: it is written last",
                )


def parts_without_flag(context: LintContext) -> Iterator[Hit]:
    """A feed that is copied in parts has an availability flag."""
    for feed in context.repository.feeds.values():
        if feed.is_table or feed.availability_flag is not None or not targets(feed):
            continue
        given = [each for each in (*sources(feed), *targets(feed)) if each.feed_cluster.partition is not None]
        several = sources(feed)[1:]
        for each in given[:1] or several[:1]:
            why = "copies a part of each instance" if given else "is one of several sources"
            yield Hit(
                subject=feed.name,
                pointer=each.at("partition") if given else each.at("name"),
                message=f"{each.name} {why}, and the feed has no availability_flag",
                hint="add availability_flag, for example _SUCCESS: it is written when all parts are there",
            )


def _data_place(context: LintContext, feed: Feed, side: FeedOnCluster) -> CanonicalPath | None:
    cluster = side.cluster(context.repository)
    text = feed.locations_on(side.name).data
    if cluster is None or text is None:
        return None
    try:
        return CanonicalPath.parse(text.partition("$")[0].rpartition("/")[0] + "/", cluster.default_fs)
    except ElError:
        return None


def _pointer(side: FeedOnCluster) -> tuple[str | int, ...]:
    own = side.feed_cluster.locations
    return side.at("name") if own is None or own.data is None else side.at("locations", "data")


CHECKS: Mapping[str, Check] = {
    "replication-without-instances": replication_without_instances,
    "replication-onto-itself": replication_onto_itself,
    "replication-setting-without-effect": replication_setting_without_effect,
    "target-without-source": target_without_source,
    "object-store-without-flag": object_store_without_flag,
    "parts-without-flag": parts_without_flag,
}
