"""Streaming ingest of a feed on a cluster: its source, the format of the records, and the columns of its table."""

from dataclasses import dataclass
from enum import StrEnum

from toolkit.el import Frequency, Unit

_EVERY = Frequency(unit=Unit.MINUTES, count=1)
_CLOSE_AFTER = Frequency(unit=Unit.MINUTES, count=10)
_SETTLE = Frequency(unit=Unit.MINUTES, count=1)


class CatalogType(StrEnum):
    """Type of an Iceberg catalog."""

    SQL = "sql"
    """Tables of a database: SQLite or PostgreSQL."""
    HIVE = "hive"
    """Tables of a Hive metastore."""


class RecordType(StrEnum):
    """Format of records."""

    DELIMITED = "delimited"
    """Fields with a separator between them, one record on a line."""
    JSON = "json"
    """One JSON object on a line."""
    REGEX = "regex"
    """Lines that a regular expression matches; its groups are columns."""


class AfterIngest(StrEnum):
    """Treatment of a file whose records are committed."""

    KEEP = "keep"
    """It stays, and is remembered while it is there."""
    ARCHIVE = "archive"
    """It is moved to `archive`."""
    DELETE = "delete"
    """It is deleted."""


class DataLossRule(StrEnum):
    """Treatment of records of a topic that are gone before they were read."""

    FAIL = "fail"
    """The run fails."""
    SKIP = "skip"
    """Reading goes on at the first offset that is there."""


class KafkaProtocol(StrEnum):
    """Encryption and login of a connection to a broker; without `security` there is neither."""

    SSL = "SSL"
    """Encrypted, without a login."""
    SASL_SSL = "SASL_SSL"
    """Encrypted, with a login."""
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    """A login without encryption."""


class SaslMechanism(StrEnum):
    """Login at a broker."""

    PLAIN = "PLAIN"
    """The password itself is sent."""
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    """A proof of the password is sent."""
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    """The same, with a longer digest."""


class BadRecordRule(StrEnum):
    """Treatment of a record that is no row of the table."""

    FAIL = "fail"
    """The transaction is aborted, and the run fails."""
    REJECT = "reject"
    """The record is written to a file with its place and the reason."""


@dataclass(frozen=True, kw_only=True, slots=True)
class IcebergSettings:
    """The Iceberg catalog of a cluster.

    Attributes:
        type: of the catalog.
        uri: of its database, without a password, or of the metastore.
        warehouse: directory below which new tables are.
        name: of the catalog; Spark's catalog has the same name.
        user: logs in at the database; absent: nobody does.
        env: environment variable with the password of the user.
    """

    type: CatalogType
    uri: str
    warehouse: str
    name: str = "feedctl"
    user: str | None = None
    env: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestDirectory:
    """Source of an ingest: files of a directory.

    Attributes:
        directory: where they are.
        pattern: which names are read, with ``*``, ``?`` and ``[...]``.
        settle: only files that have not changed for so long are read.
    """

    directory: str
    pattern: str = "*"
    settle: Frequency = _SETTLE


@dataclass(frozen=True, kw_only=True, slots=True)
class KafkaSecurity:
    """Encryption and login of the connections to brokers.

    Attributes:
        protocol: of the connections.
        mechanism: of the login.
        user: logs in.
        env: environment variable with the password of the user.
        ca: file of certificates by which brokers are checked; absent: those of the system.
    """

    protocol: KafkaProtocol
    mechanism: SaslMechanism | None = None
    user: str | None = None
    env: str | None = None
    ca: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestTopic:
    """Source of an ingest: a topic of Kafka.

    Attributes:
        kafka: name of the topic.
        bootstrap: brokers, as ``host:port`` with commas between them.
        group: gets the committed offsets, for monitoring.
        on_data_loss: treatment of records that are gone before they were read.
        security: of the connections; absent: neither encryption nor a login.
    """

    kafka: str
    bootstrap: str
    group: str
    on_data_loss: DataLossRule = DataLossRule.FAIL
    security: KafkaSecurity | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordFormat:
    """Format of the records of a source.

    Attributes:
        type: of the format.
        separator: delimited: between two fields.
        quote: delimited: around a field; empty: there are no quotes.
        escape: delimited: the character behind it stands for itself; empty: there is none.
        header: delimited: a record with exactly the names of the fields is no row.
        null: delimited: a field without quotes with this text is null.
        fields: delimited: columns of the fields in their order, ``_`` for one that is dropped; absent: all columns.
        pattern: regex: has to match the whole record; its named groups are columns.
    """

    type: RecordType
    separator: str = ","
    quote: str = '"'
    escape: str = ""
    header: bool = False
    null: str = ""
    fields: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestedColumn:
    """A column of the table; partition columns come from the feed's `table`.

    Attributes:
        name: of the column.
        type: Spark's name of a primitive type.
        required: a record without a value is a bad one.
    """

    name: str
    type: str
    required: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitSize:
    """Size of a commit: the first limit that is reached ends it.

    Attributes:
        rows: so many records.
        bytes: so many bytes of them.
        every: so much time after its first record.
    """

    rows: int = 100_000
    bytes: int = 64 << 20
    every: Frequency = _EVERY


@dataclass(frozen=True, kw_only=True, slots=True)
class CompactWhen:
    """When the small files of an instance that is open are merged; those of closed instances always are.

    Attributes:
        files: there are so many of them.
    """

    files: int = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Ingest:
    """Ingest of a feed on a cluster (`ingest:` of one of its clusters).

    Attributes:
        source: what is read; absent: only standard input (`--stdin`).
        format: of the records.
        columns: of the table, without the partition columns.
        event_time: column whose instant says to which instance a row belongs.
        commit: size of a commit.
        after: treatment of a file whose records are committed.
        archive: directory of archived files.
        on_bad_record: treatment of a record that is no row.
        max_rejects: most records that a run rejects.
        close_after: time after its end until an instance closes.
        compact_when: when files of open instances are merged.
        target_file_bytes: size of merged files.
    """

    source: IngestDirectory | IngestTopic | None = None
    format: RecordFormat
    columns: tuple[IngestedColumn, ...]
    event_time: str
    commit: CommitSize = CommitSize()
    after: AfterIngest = AfterIngest.KEEP
    archive: str | None = None
    on_bad_record: BadRecordRule = BadRecordRule.FAIL
    max_rejects: int = 1_000
    close_after: Frequency = _CLOSE_AFTER
    compact_when: CompactWhen = CompactWhen()
    target_file_bytes: int = 128 << 20

    @property
    def files(self) -> IngestDirectory | None:
        """Return the directory that is the source; None: the source is another."""
        return self.source if isinstance(self.source, IngestDirectory) else None

    @property
    def topic(self) -> IngestTopic | None:
        """Return the topic that is the source; None: the source is another."""
        return self.source if isinstance(self.source, IngestTopic) else None
