"""A source and a target are not the same place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

from toolkit.el import CanonicalPath, ElError
from toolkit.entities import Cluster, LocationType, Repository
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.rules.replication.roles import Side, overlap, pairs, storage_at
from toolkit.planning.instance_storage import partition_name


def _check(context: LintContext) -> Iterator[Hit]:
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
                )


def _are_apart(repository: Repository, source: Side, target: Side) -> bool:
    """Whether the clusters alone tell that the places differ: the usual case, in which no path needs to be made."""
    stores = [_store(side, repository) for side in (source, target)]
    return None not in stores and stores[0] != stores[1]


def _store(side: Side, repository: Repository) -> str | None:
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


def _place(repository: Repository, side: Side, other: Side) -> str | None:
    """Where the first instance that both have is, in a form that is equal for equal places."""
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


RULE = Rule(
    id="replication-onto-itself",
    name="A source and a target are not the same place",
    severity=Severity.ERROR,
    rationale="An instance would be copied onto itself: it is moved aside to make room for its own copy.",
    bad="""\
# feeds/clicks.yaml, where primary and primary-ha have the end point hdfs://namenode:8020
clusters:
  - {name: primary, type: source}
  - {name: primary-ha, type: target}
""",
    good="""\
# feeds/clicks.yaml, where backup has the end point hdfs://namenode.backup:8020
clusters:
  - {name: primary, type: source}
  - {name: backup, type: target}
""",
    source="DESIGN section 7, Replication",
    check=_check,
)
