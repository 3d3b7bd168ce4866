"""Values that the schema knows and no action does yet (DESIGN section 4): never read as something else."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from toolkit.entities.feed import Feed
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.process import Process
from toolkit.entities.repo import RepoSettings
from toolkit.entities.retention import Retention
from toolkit.entities.structure import Entity
from toolkit.entities.vocabulary import Engine, FirstRun, ProtectionName, RetentionAction
from toolkit.entities.workflow import Workflow
from toolkit.entities.yaml_location import Pointer
from toolkit.errors import NotImplementedYet


class Area(StrEnum):
    """The action that a value is about."""

    RETENTION = "retention"
    """Eviction of old instances."""
    PROCESS = "process"
    """Running workflows."""
    IMPORT = "import"
    """Import from a datasource."""
    EXPORT = "export"
    """Export to a datasource."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NotImplementedValue:
    """A value whose action does not exist yet.

    Attributes:
        area: the action concerned.
        pointer: where in the merged document.
        value: as the user wrote it.
        instead: what the user can do now.
        cluster: the feed's cluster that it is about; None: all.
    """

    area: Area
    pointer: Pointer
    value: str
    instead: str
    cluster: str | None = None

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


def _values(subject: Entity | RepoSettings) -> Iterator[NotImplementedValue]:
    if isinstance(subject, Feed):
        for index, each in enumerate(subject.clusters):
            yield from _feed_cluster(each, ("clusters", index))
    elif isinstance(subject, Process):
        yield from _workflow(subject.workflow)
    elif isinstance(subject, RepoSettings):
        yield from _settings(subject)


def _feed_cluster(feed_cluster: FeedCluster, pointer: Pointer) -> Iterator[NotImplementedValue]:
    if feed_cluster.retention is not None:
        yield from _retention(feed_cluster.retention, (*pointer, "retention"), feed_cluster.name)
    for area, exchange in ((Area.IMPORT, feed_cluster.import_), (Area.EXPORT, feed_cluster.export)):
        if exchange is not None:
            instead = "run it with your own tool and remove the key"
            yield NotImplementedValue(
                area=area, pointer=(*pointer, str(area)), value=str(area), instead=instead, cluster=feed_cluster.name
            )


def _retention(retention: Retention, pointer: Pointer, cluster: str) -> Iterator[NotImplementedValue]:
    if retention.action is not RetentionAction.DELETE:
        yield NotImplementedValue(
            area=Area.RETENTION,
            pointer=(*pointer, "action"),
            value=f"action: {retention.action}",
            instead="use action: delete, or remove the retention",
            cluster=cluster,
        )
    if retention.quarantine is not None:
        # Whoever asks for it counts on being able to restore: deleting at once would be worse than refusing.
        yield NotImplementedValue(
            area=Area.RETENTION,
            pointer=(*pointer, "quarantine"),
            value=f"quarantine: {retention.quarantine}",
            instead="remove it",
            cluster=cluster,
        )
    for index, each in enumerate(retention.protect):
        if each.name is not ProtectionName.LATE_WINDOW:
            yield NotImplementedValue(
                area=Area.RETENTION,
                pointer=(*pointer, "protect", index),
                value=f"protect: {each.name}",
                instead="use protect: [late_window], keep_last or holds.yaml",
                cluster=cluster,
            )


_FALCON_ENGINES = frozenset({Engine.OOZIE, Engine.PIG, Engine.HIVE})


def _workflow(workflow: Workflow) -> Iterator[NotImplementedValue]:
    engines: list[tuple[Pointer, Engine | None]] = [(("workflow", "engine"), workflow.engine)]
    engines += [(("workflow", "steps", index, "engine"), step.engine) for index, step in enumerate(workflow.steps)]
    for pointer, engine in engines:
        if engine in _FALCON_ENGINES:
            yield NotImplementedValue(
                area=Area.PROCESS,
                pointer=pointer,
                value=f"engine: {engine}",
                instead="use spark_submit, spark_sql or command",
            )


def _settings(settings: RepoSettings) -> Iterator[NotImplementedValue]:
    if settings.first_run is FirstRun.PLAN:
        yield NotImplementedValue(
            area=Area.RETENTION,
            pointer=("first_run",),
            value="first_run: plan",
            instead="use first_run: apply, and --dry-run for the first run",
        )
