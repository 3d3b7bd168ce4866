"""The closed sets of words that an entity may use (DESIGN section 4; names follow Falcon)."""

from enum import StrEnum


class Kind(StrEnum):
    """The kinds of entities."""

    CLUSTER = "cluster"
    """A cluster: stores, services and settings."""
    FEED = "feed"
    """A data set that gets a new instance every period."""
    PROCESS = "process"
    """A workflow that turns feed instances into feed instances."""
    DATASOURCE = "datasource"
    """A database that feeds are imported from or exported to."""
    MIRROR = "mirror"
    """Data that is kept equal on another cluster; it stands for the entities of its type."""

    @property
    def folder(self) -> str:
        """The folder of the config repo that holds entities of this kind."""
        return _FOLDERS[self]


_FOLDERS = {
    Kind.CLUSTER: "clusters",
    Kind.FEED: "feeds",
    Kind.PROCESS: "processes",
    Kind.DATASOURCE: "datasources",
    Kind.MIRROR: "mirrors",
}


class ClusterRole(StrEnum):
    """The part that a cluster plays in a feed's replication."""

    SOURCE = "source"
    """Instances are made here and copied from here."""
    TARGET = "target"
    """Instances are copied to here."""


class OnSourceDelete(StrEnum):
    """Treatment of a directory at the target that a partition expression selected and the source no longer has."""

    KEEP = "keep"
    """It stays, and `feedctl verify` names it."""
    DELETE = "delete"
    """A replication removes it, within the limits of `max_delete`."""


class GoneAtSource(StrEnum):
    """Treatment of what a mirror's target has and its source no longer has."""

    KEEP = "keep"
    """It stays."""
    QUARANTINE = "quarantine"
    """It is set aside."""
    DELETE = "delete"
    """It is removed."""


class OnMissingSnapshot(StrEnum):
    """Treatment of two directories without a common snapshot."""

    REFUSE = "refuse"
    """The run is refused."""
    FULL = "full"
    """Everything is compared."""


class LocationType(StrEnum):
    """Content of one of a feed's locations."""

    DATA = "data"
    """The instances themselves."""
    STATS = "stats"
    """Statistics about the instances."""
    META = "meta"
    """Metadata about the instances."""
    TMP = "tmp"
    """Temporary files of the feed's producers."""


class RetentionType(StrEnum):
    """Quantity that retention counts; Falcon has one."""

    INSTANCE = "instance"
    """The age of an instance's time."""


class ExpiryAction(StrEnum):
    """Treatment of an instance that is older than the limit."""

    DELETE = "delete"
    """It is deleted."""
    ARCHIVE = "archive"
    """It is copied to an archive, and removed once the copy was read and found equal."""
    QUARANTINE = "quarantine"
    """It is set aside for a while, then deleted."""


class ProtectionName(StrEnum):
    """A reason for keeping an instance that is older than the limit."""

    LATE_WINDOW = "late_window"
    """Late data may still come for it."""
    UNREAD_BATCHES = "unread_batches"
    """A step has not finished a batch that stands for it."""
    UNREPLICATED = "unreplicated"
    """It has not reached every target yet."""
    UNREAD_CONSUMERS = "unread_consumers"
    """A process instance that reads it has not succeeded yet."""


class DeployMode(StrEnum):
    """Place of Spark's driver."""

    CLIENT = "client"
    """The machine where spark-submit is started."""
    CLUSTER = "cluster"
    """In the cluster."""


class FirstRun(StrEnum):
    """Effect of the first retention run of a new or changed feed."""

    PLAN = "plan"
    """It prints its plan only."""
    APPLY = "apply"
    """It deletes, as every run does."""


class RetentionPolicy(StrEnum):
    """The policy of a feed's retention stage."""

    AGE_BASED_DELETE = "age_based_delete"
    """Instances older than a limit go."""


class Order(StrEnum):
    """Order in which the ready instances of a process run."""

    FIFO = "FIFO"
    """The oldest."""
    LIFO = "LIFO"
    """The newest."""
    LAST_ONLY = "LAST_ONLY"
    """The newest; the older ones are dropped."""


class Prepare(StrEnum):
    """Action of a run on an output instance before its first step."""

    DELETE = "delete"
    """Removes it, with its availability flag."""


class SparkSessionUse(StrEnum):
    """Spark application of the steps of a process that are scripts of SQL."""

    SHARED = "shared"
    """The steps of a run share an application; each step has a session of its own."""
    OWN = "own"
    """Each step has an application of its own."""


class Engine(StrEnum):
    """Program that runs a workflow."""

    SPARK_SUBMIT = "spark_submit"
    """A Spark application, by spark-submit."""
    SPARK_SQL = "spark_sql"
    """A file of SQL statements, by Spark."""
    COMMAND = "command"
    """A command of the operating system."""
    MIRROR = "mirror"
    """The mirror action, for what `workflow.mirror` says."""
    OOZIE = "oozie"
    """Falcon's Oozie workflow."""
    PIG = "pig"
    """Falcon's Pig script."""
    HIVE = "hive"
    """Falcon's Hive script."""


class RetryPolicy(StrEnum):
    """Growth of the waits between retries, with a delay d (DESIGN section 8)."""

    PERIODIC = "periodic"
    """d, d, d."""
    BACKOFF = "backoff"
    """d, 2d, 3d."""
    EXP_BACKOFF = "exp_backoff"
    """d, 2d, 4d."""


class LatePolicy(StrEnum):
    """When a process looks for late data, with a delay d (DESIGN section 8)."""

    PERIODIC = "periodic"
    """At nominal + d, + 2d, + 3d."""
    BACKOFF = "backoff"
    """At nominal + d, + 3d, + 6d."""
    EXP_BACKOFF = "exp_backoff"
    """At nominal + d, + 3d, + 7d."""
    FINAL = "final"
    """Once, at the cut-off."""


class NotificationLevel(StrEnum):
    """Frequency of notifications."""

    ATTEMPT = "attempt"
    """After every attempt of an instance."""
    INSTANCE = "instance"
    """Once, when the instance is over."""


class DatasourceType(StrEnum):
    """The database behind a datasource (Falcon's list)."""

    MYSQL = "mysql"
    """MySQL or MariaDB."""
    ORACLE = "oracle"
    """Oracle."""
    HSQL = "hsql"
    """HyperSQL."""
    POSTGRES = "postgres"
    """PostgreSQL."""
    DB2 = "db2"
    """IBM Db2."""
    NETEZZA = "netezza"
    """IBM Netezza."""
    TERADATA = "teradata"
    """Teradata."""
    GENERIC = "generic"
    """Any other with a JDBC driver."""


class ExtractType(StrEnum):
    """Extent of a table that an import reads."""

    FULL = "full"
    """All of the data, every time."""
    INCREMENTAL = "incremental"
    """New rows by the delta column."""


class MergePolicy(StrEnum):
    """Merge of imported rows into those already there."""

    SNAPSHOT = "snapshot"
    """Each instance is a whole picture."""
    APPEND = "append"
    """Rows are added."""


class LoadType(StrEnum):
    """Merge of exported rows into the table."""

    UPDATEONLY = "updateonly"
    """Existing rows are updated; no row is added."""
    ALLOWINSERT = "allowinsert"
    """Rows that do not exist are added."""
    REPLACE = "replace"
    """The rows of the instance's slice are removed, and those of the instance added."""


class SchemaChangePolicy(StrEnum):
    """Effect on an import of a column that the last instance did not have."""

    FAIL = "fail"
    """The import fails."""
    ADD = "add"
    """The column is imported."""
    IGNORE = "ignore"
    """The column is left out."""


class ImportVerification(StrEnum):
    """Comparison of the rows of an import before it is published."""

    COUNT = "count"
    """Rows written are compared with rows read, and with a count in the same snapshot."""
    NONE = "none"
    """Rows written are compared with rows read."""


class LintLevel(StrEnum):
    """Severity of the findings of a lint rule in a config repo."""

    ERROR = "error"
    """`feedctl lint` fails."""
    WARNING = "warning"
    """The same; the words are milder."""
    INFO = "info"
    """They are shown, and nothing fails."""
    OFF = "off"
    """They are not looked for."""


class OnFailure(StrEnum):
    """Treatment of data that fails its expectations."""

    BLOCK = "block"
    """It is not published until a person releases it."""
    WARN = "warn"
    """It is published; the result of the run says so."""


class DataFormat(StrEnum):
    """Format of the files of a path feed, as Spark reads them."""

    PARQUET = "parquet"
    """Columns with types of their own."""
    ORC = "orc"
    """Columns with types of their own."""
    JSON = "json"
    """An object a line; Spark tells the types from all of them."""
    CSV = "csv"
    """Fields of text, unless an option says otherwise."""


class ExpectationSeverity(StrEnum):
    """Severity of an expectation, as Great Expectations names it."""

    CRITICAL = "critical"
    """Data that fails it is not published."""
    WARNING = "warning"
    """It is reported, and never blocks."""
    INFO = "info"
    """The same as `warning`."""


YARN_PRIORITIES = {"VERY_HIGH": "5", "HIGH": "4", "NORMAL": "3", "LOW": "2", "VERY_LOW": "1"}
"""Priorities of Hadoop's MapReduce, as numbers of YARN."""
