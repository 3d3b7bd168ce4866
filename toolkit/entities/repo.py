"""The settings of a config repo (`repo.yaml`) and its environments (`environments/NAME.yaml`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.el import Frequency, Unit
from toolkit.entities.documents import Document
from toolkit.entities.lineage import LineageSettings
from toolkit.entities.monitoring import Monitoring
from toolkit.entities.trigger import Dataset
from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import DeployMode, FirstRun

_QUARTER = Frequency(unit=Unit.MINUTES, count=15)
_FIVE_MINUTES = Frequency(unit=Unit.MINUTES, count=5)
_MONTH = Frequency(unit=Unit.DAYS, count=30)


@dataclass(frozen=True, kw_only=True, slots=True)
class MaxDelete:
    """Limits of one retention run over all its feeds; more is refused before the first deletion.

    Attributes:
        instances: a number of instances.
        fraction: a part (0 to 1) of the instances that were looked at; absent: no such limit.
        bytes: a number of bytes; absent: no such limit.
    """

    instances: int = 10_000
    fraction: float | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MaxCopy:
    """Limits of one replication run over all its feeds; more is refused before the first file.

    Attributes:
        instances: a number of instances.
        bytes: of the files that are copied; absent: no such limit.
    """

    instances: int = 10_000
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LintSettings:
    """Settings of `feedctl lint` for the repo.

    Attributes:
        rules: settings by the rule's identifier: `severity` (a `LintLevel`), and the rule's options by their names.
    """

    rules: Mapping[str, Properties] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class RepoSettings:
    """Settings of the whole repo.

    Attributes:
        ledger: URL of the SQL database that is the ledger, SQLite or PostgreSQL; its password as ``${env:NAME}``. A
            relative SQLite path is relative to the config repo's root folder.
        audit_file: path of the file that gets one JSON line for every deletion, relative to the config repo's root
            folder and below it; one elsewhere, with ``${env:HOME}`` or ``${env:XDG_...}`` in it, has to be accepted by
            a lint rule's name. None: beside a SQLite ledger, else in the user's state folder.
        environments: the names that ``environments/NAME.yaml`` may have.
        default_environment: used when none is asked for; absent: no environment.
        delete_rate: so many changes a second one retention run asks each remote store for, at most; a drop of a whole
            directory, or one bulk request, is one change.
        executors_above: an eviction on an object store that plans more instances than this is spread over Spark
            executors, where there are some.
        keep_instances_beyond_validity: after a feed's validity has ended, its last instances stay (DESIGN section 7).
        first_run: whether the first retention run of a feed deletes.
        act_as_owner: retention acts on HDFS as the owner of its feeds (`acl.owner`), whom the operator has to allow.
        max_age: a snapshot older than this is refused by actions that change something.
        hold_reminder: `feedctl status --stale` names a hold that is older than this.
        accept: identifiers of lint rules that this repo accepts.
        lint: settings of lint rules.
        datasets: data that feedctl does not manage; `Repository.datasets` has them by their canonical URIs.
        admins: user names (of the operating system) of those who may switch safe mode on and off; empty: all who may
            write the ledger.
        trusted_links: paths of symbolic links on local disks that the base of a location may be, or be reached
            through, of any owner.
        shared_sessions: names of processes, in groups whose steps of SQL use the same Spark applications.
        allowed_domains: of mail addresses; empty: all.
        monitoring: of `feedctl monitor`, alerts and messages.
        lineage: of columns, and of events for other tools.
    """

    name: str | None = None
    description: str | None = None
    owners: tuple[str, ...] = ()
    ledger: str | None = None
    audit_file: str | None = None
    environments: tuple[str, ...] = ()
    default_environment: str | None = None
    max_delete: MaxDelete = field(default_factory=MaxDelete)
    max_copy: MaxCopy = field(default_factory=MaxCopy)
    delete_rate: int = 10_000
    executors_above: int = 5_000
    keep_instances_beyond_validity: bool = True
    first_run: FirstRun = FirstRun.APPLY
    act_as_owner: bool = False
    max_age: Frequency | None = None
    hold_reminder: Frequency = _MONTH
    accept: tuple[str, ...] = ()
    lint: LintSettings = field(default_factory=LintSettings)
    datasets: tuple[Dataset, ...] = ()
    admins: tuple[str, ...] = ()
    trusted_links: tuple[str, ...] = ()
    shared_sessions: tuple[tuple[str, ...], ...] = ()
    allowed_domains: tuple[str, ...] = ()
    monitoring: Monitoring = field(default_factory=Monitoring)
    lineage: LineageSettings = field(default_factory=LineageSettings)

    def session_owner(self, process: str) -> str | None:
        """Return the first process of the group that a process is in; None: it is in none."""
        return next((group[0] for group in self.shared_sessions if process in group), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedules:
    """Settings with which a scheduler starts the actions of an environment (`feedctl export`); paths on its machines.

    Attributes:
        entrypoints: folder of the scripts; None: not said, and nothing can be exported.
        config_repo: as ``--config-repo`` takes it; None: likewise.
        spark_submit: the program that starts entrypoints.
        without_spark: entrypoints that `python` starts instead.
        python: the program.
        feedctl: the program of the monitor and the watchdog.
        master: of Spark; None: its own default.
        deploy_mode: of Spark; None: its own default.
        options: further arguments of spark-submit.
        working_directory: where actions are started.
        log_directory: where cron keeps what they say; None: it mails that.
        look_again: how often what waits for data, or for a retry, is looked at.
        triggers: how often data is polled, and the updates are looked at that start processes.
        ingest: how often the source of a feed is read.
        compact: how often instances of ingested feeds are closed and small files merged.
        monitor: how often `feedctl monitor` looks for late data and sends messages.
        watchdog: how often `feedctl status --stale` is run.
        cron_timezone: of the clock that cron goes by.
    """

    entrypoints: str | None = None
    config_repo: str | None = None
    spark_submit: str = "spark-submit"
    without_spark: tuple[str, ...] = ()
    python: str = "python3"
    feedctl: str = "feedctl"
    master: str | None = None
    deploy_mode: DeployMode | None = None
    options: tuple[str, ...] = ()
    working_directory: str | None = None
    log_directory: str | None = None
    look_again: Frequency = _QUARTER
    triggers: Frequency = _FIVE_MINUTES
    ingest: Frequency = _FIVE_MINUTES
    compact: Frequency = _FIVE_MINUTES
    monitor: Frequency = _FIVE_MINUTES
    watchdog: Frequency = _QUARTER
    cron_timezone: str = "UTC"


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """An environment: overlays over the repo's settings and entities.

    Attributes:
        name: the file's name.
        clusters: the clusters that it may act on; empty: all.
        repo: laid over `repo.yaml`.
        entities: laid over the entities, by name.
        schedules: how a scheduler starts its actions.
    """

    name: str
    description: str | None = None
    clusters: tuple[str, ...] = ()
    repo: Document = field(default_factory=dict)
    entities: Mapping[str, Document] = field(default_factory=dict)
    schedules: Schedules = field(default_factory=Schedules)

    def allows(self, cluster: str) -> bool:
        """Return whether it may act on a cluster of that name."""
        return not self.clusters or cluster in self.clusters
