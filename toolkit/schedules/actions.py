"""Scheduled actions: one for each thing that feedctl repeats (DESIGN section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolkit.entities.repo import Schedules
    from toolkit.schedules.timetable import Timetable


class ActionKind(StrEnum):
    """Kind of a scheduled action."""

    RETENTION = "retention"
    """Eviction of a feed's old instances on a cluster."""
    REPLICATION = "replication"
    """Pulling a feed to a target."""
    HIVE_REPLICATION = "hive_replication"
    """Pulling the partitions of a table feed to a target."""
    PROCESS = "process"
    """Due instances of a process."""
    LATE_CHECK = "late_check"
    """Due checks of a process for late data."""
    PROCESS_AGAIN = "process_again"
    """Another run of all processes of a cluster: inputs have come, or retries are due."""
    REPLICATION_AGAIN = "replication_again"
    """Another run of all feeds of a target: what was missing at a source has come."""
    HIVE_REPLICATION_AGAIN = "hive_replication_again"
    """The same for table feeds."""
    TRIGGER = "trigger"
    """Polls of data, and runs of the processes of a cluster that have a trigger."""
    INGEST = "ingest"
    """Commit of the records that the source of a feed has."""
    COMPACT = "compact"
    """Closing of instances of an ingested feed, and maintenance of its table."""
    DB_IMPORT = "db_import"
    """Import of a feed from a database."""
    DB_EXPORT = "db_export"
    """Export of a feed's instances to a database."""
    DB_EXPORT_AGAIN = "db_export_again"
    """Another run of all exports of a cluster: what was missing has come."""
    MONITOR = "monitor"
    """Pass of the monitor: late data, alerts, and messages that wait to be sent."""
    WATCHDOG = "watchdog"
    """Check that everything has succeeded within its cadence."""

    @property
    def entrypoint(self) -> str:
        """The name of its script."""
        return self.removesuffix("_again")


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduledAction:
    """A thing to start, and when.

    Attributes:
        kind: what it does.
        entity: name; empty: all that there are.
        cluster: where; empty: everywhere.
        domain: business domain, of a feed that of the process that makes it; empty: none is known.
        timetable: when.
        command: its arguments, without the nominal time.
        takes_time: the nominal time follows, as ``--time T``.
        description: one sentence.
    """

    kind: ActionKind
    entity: str = ""
    cluster: str = ""
    domain: str = ""
    timetable: Timetable
    command: tuple[str, ...]
    takes_time: bool = True
    description: str

    @property
    def name(self) -> str:
        """The name, of letters, digits, ``_``, ``-`` and one dot; unique on its cluster."""
        return f"{self.kind}.{self.entity}" if self.entity else str(self.kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnscheduledAction:
    """Action that is not scheduled.

    Attributes:
        name: as that of the action would be.
        cluster: where.
        reason: why, and what to do.
    """

    name: str
    cluster: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """Schedule of one environment.

    Attributes:
        repo: the config repo's name.
        environment: name.
        clusters: those that it is about, rising.
        is_whole: these are all that the environment has.
        settings: of the environment.
        actions: by cluster, then by kind and entity.
        left_out: what cannot be done yet.
    """

    repo: str
    environment: str
    clusters: tuple[str, ...]
    is_whole: bool
    settings: Schedules
    actions: tuple[ScheduledAction, ...]
    left_out: tuple[UnscheduledAction, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The user's texts that a scheduler's format has to hold, each once."""
        folders = (each for each in (self.settings.working_directory, self.settings.log_directory) if each is not None)
        return tuple(dict.fromkeys((*folders, *(text for each in self.actions for text in each.command))))
