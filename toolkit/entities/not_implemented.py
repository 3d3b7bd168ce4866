"""Values that the schema knows and no action does yet (DESIGN section 4): never read as something else."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from toolkit.entities.cluster import Cluster
from toolkit.entities.feed import Feed
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.mirror_work import HiveMirror
from toolkit.entities.process import Process
from toolkit.entities.repo import RepoSettings
from toolkit.entities.retention import Retention
from toolkit.entities.structure import Entity
from toolkit.entities.values import property_text
from toolkit.entities.vocabulary import ClusterRole, Engine, GoneAtSource
from toolkit.entities.workflow import Workflow
from toolkit.entities.yaml_location import Pointer
from toolkit.errors import NotImplementedYet

_ANOTHER_ENGINE = "use spark_submit, spark_sql or command"

WITHOUT_ACTION: Mapping[StrEnum, str] = {
    Engine.OOZIE: _ANOTHER_ENGINE,
    Engine.PIG: _ANOTHER_ENGINE,
    Engine.HIVE: _ANOTHER_ENGINE,
}
"""The words of closed sets that no action does yet, with what to write now; no message suggests them."""


REPEAT_PROPERTIES = (
    "feed.retry.allowed",
    "feed.retry.attempts",
    "feed.retry.frequency",
    "feed.retry.policy",
    "feed.retry.onTimeout",
    "feed.late.frequency",
    "feed.late.policy",
)
"""Properties of a feed that say when replication looks again; that is the scheduler's to say, who starts the runs."""

STORES_WITHOUT_ADAPTER = frozenset({"viewfs", "ofs"})
"""Schemes of paths that are understood and cannot be opened."""

ANOTHER_STORE = "name the store behind it by file, hdfs, webhdfs, s3, gs, abfs or wasb"

_STORE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://[^/]*)?")


class Area(StrEnum):
    """The action that a value is about."""

    RETENTION = "retention"
    """Eviction of old instances."""
    REPLICATION = "replication"
    """Pulling instances from other clusters."""
    PROCESS = "process"
    """Running workflows."""
    IMPORT = "import"
    """Import from a datasource."""
    EXPORT = "export"
    """Export to a datasource."""

    @property
    def consequence(self) -> str:
        """Return in words how the action treats a value that it does not implement."""
        refuses = self in {Area.RETENTION, Area.REPLICATION, Area.PROCESS}
        return f"the {self} action refuses it" if refuses else "no action does it"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotImplementedValue:
    """A value whose action does not exist yet.

    Attributes:
        area: the action concerned.
        pointer: where in the merged document.
        value: as the user wrote it.
        instead: what the user can do now.
        cluster: the feed's cluster that it is about; None: all.
        on_key: the key as a whole is meant rather than its value.
    """

    area: Area
    pointer: Pointer
    value: str
    instead: str
    cluster: str | None = None
    on_key: bool = False

    def error(self, where: str) -> NotImplementedYet:
        """The error with which an entrypoint refuses it.

        Args:
            where: the entity, for example ``feed clicks``.
        """
        return NotImplementedYet(what=self.value, instead=self.instead, where=where)


def not_implemented(
    subject: Entity | RepoSettings, area: Area | None = None, cluster: str | None = None
) -> tuple[NotImplementedValue, ...]:
    """The values of an entity, or of the repo's settings, that no action does yet.

    Args:
        subject: what to look through.
        area: only values about this action; None: all.
        cluster: only values that concern this cluster; None: all.
    """
    found = _values(subject)
    return tuple(
        each for each in found if area in {None, each.area} and (cluster is None or each.cluster in {None, cluster})
    )


def not_evictable(feed: Feed, cluster: Cluster) -> tuple[NotImplementedValue, ...]:
    """Why retention cannot evict a feed on a cluster yet, also when that is only because of the cluster's store."""
    paths = [text for _, text in feed.locations_on(cluster.name).by_type()]
    is_on_its_store = any(_STORE.match(text) is None for text in paths)
    own = not_implemented(feed, Area.RETENTION, cluster.name)
    return (*own, *(not_implemented(cluster, Area.RETENTION) if is_on_its_store else ()))


def _values(subject: Entity | RepoSettings) -> Iterator[NotImplementedValue]:
    if isinstance(subject, Feed):
        yield from _repeats(subject)
        for index, each in enumerate(subject.clusters):
            yield from _feed_cluster(subject, each, ("clusters", index))
    elif isinstance(subject, Cluster):
        yield from _store(subject.default_fs, ("interfaces", "write", "endpoint"), subject.name)
    elif isinstance(subject, Process):
        yield from _workflow(subject.workflow)


def _repeats(feed: Feed) -> Iterator[NotImplementedValue]:
    has_target = any(each.type is ClusterRole.TARGET for each in feed.clusters)
    for name in REPEAT_PROPERTIES if has_target else ():
        if name in feed.properties:
            yield NotImplementedValue(
                area=Area.REPLICATION,
                pointer=("properties", name),
                value=f"{name}: {property_text(feed.properties[name])}",
                instead=f"remove {name}: every run tries again what failed, and looks again until the late cut-off",
            )


def _feed_cluster(feed: Feed, feed_cluster: FeedCluster, pointer: Pointer) -> Iterator[NotImplementedValue]:
    if feed_cluster.retention is not None:
        yield from _retention(feed, feed_cluster, feed_cluster.retention, (*pointer, "retention"))


def _retention(
    feed: Feed, feed_cluster: FeedCluster, retention: Retention, pointer: Pointer
) -> Iterator[NotImplementedValue]:
    cluster = feed_cluster.name
    for location, text in retention.archive.locations.by_type() if retention.archive else ():
        yield from _store(text, (*pointer, "archive", "locations", str(location)), cluster)
    for location, text in feed.locations_on(cluster).by_type():
        own = feed_cluster.locations is not None and feed_cluster.locations.get(location) is not None
        place = (*(pointer[:-1] if own else ()), "locations", str(location))
        yield from _store(text, place, cluster)


def _hive_mirror(mirror: HiveMirror) -> Iterator[NotImplementedValue]:
    staged = "remove it: data is staged in the directory that gets it"
    found: list[tuple[str, str | None, str]] = [
        ("source_staging_path", mirror.source_staging_path, staged),
        ("target_staging_path", mirror.target_staging_path, staged),
    ]
    if mirror.tde_encryption_enabled:
        instead = "remove it: files of tables are read and written with the keys of the run"
        found.append(("tde_encryption_enabled", "true", instead))
    if mirror.on_source_delete is GoneAtSource.QUARANTINE:
        found.append(("on_source_delete", GoneAtSource.QUARANTINE, "use keep, or delete"))
    for key, value, instead in found:
        pointer = ("workflow", "mirror", "hive", key)
        if value is not None:
            yield NotImplementedValue(area=Area.PROCESS, pointer=pointer, value=f"{key}: {value}", instead=instead)


def _workflow(workflow: Workflow) -> Iterator[NotImplementedValue]:
    if workflow.mirror is not None and workflow.mirror.hive is not None:
        yield from _hive_mirror(workflow.mirror.hive)
    engines: list[tuple[Pointer, Engine | None]] = [(("workflow", "engine"), workflow.engine)]
    engines += [(("workflow", "steps", index, "engine"), step.engine) for index, step in enumerate(workflow.steps)]
    for pointer, engine in engines:
        yield from _word(Area.PROCESS, pointer, "engine", engine)


def _word(
    area: Area, pointer: Pointer, key: str, word: StrEnum | None, cluster: str | None = None
) -> Iterator[NotImplementedValue]:
    if word is not None and word in WITHOUT_ACTION:
        instead = WITHOUT_ACTION[word]
        yield NotImplementedValue(area=area, pointer=pointer, value=f"{key}: {word}", instead=instead, cluster=cluster)


def _store(text: str, pointer: Pointer, cluster: str) -> Iterator[NotImplementedValue]:
    match = _STORE.match(text)
    if match and match["scheme"].lower() in STORES_WITHOUT_ADAPTER:
        yield NotImplementedValue(
            area=Area.RETENTION,
            pointer=pointer,
            value=f"storage {match.group()}",
            instead=ANOTHER_STORE,
            cluster=cluster,
        )
