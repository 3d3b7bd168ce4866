"""Tables, columns and partitions as a Hive metastore has them: all that an import must write again.

Times of creation and access, and privileges, are the metastore's own affair and left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from toolkit.catalog.partition_name import joined_name
from toolkit.catalog.values import KeyType


@dataclass(frozen=True, order=True, slots=True)
class TableName:
    """A table of a database; both names become lower case, as in Hive."""

    database: str
    table: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", self.database.lower())
        object.__setattr__(self, "table", self.table.lower())

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


class TableKind(StrEnum):
    """Kind of a table; the values are the metastore's own texts."""

    MANAGED = "MANAGED_TABLE"
    """A table whose data is dropped with it."""
    EXTERNAL = "EXTERNAL_TABLE"
    """A table whose data stays when it is dropped."""
    VIEW = "VIRTUAL_VIEW"
    """A query with a name; it has no data."""
    MATERIALIZED_VIEW = "MATERIALIZED_VIEW"
    """A query with a name, and its rows."""
    INDEX = "INDEX_TABLE"
    """An index of Hive 2."""

    @property
    def is_view(self) -> bool:
        """True if the table is a view."""
        return self in {TableKind.VIEW, TableKind.MATERIALIZED_VIEW}


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column or a partition key.

    Attributes:
        type: as Hive writes it, for example ``struct<a:int,b:string>``.
        comment: None when there is none.
    """

    name: str
    type: str
    comment: str | None = None

    @property
    def key_type(self) -> KeyType:
        """The type as which values are compared, when the column is a partition key."""
        return KeyType.of(self.type)


@dataclass(frozen=True, kw_only=True, slots=True)
class Serde:
    """Serialization of rows.

    Attributes:
        library: class of the serializer.
        parameters: for example ``field.delim``.
    """

    name: str | None = None
    library: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class SortColumn:
    """A column that rows are sorted by within a bucket."""

    name: str
    ascending: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Skew:
    """Columns and values of which there are very many rows (``SKEWED BY``)."""

    columns: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageDescriptor:
    """Location and file format of a table or partition.

    Attributes:
        location: a URI as the metastore has it; None for a view.
        input_format: class that reads files.
        output_format: class that writes files.
        buckets: how many; -1 when it is not bucketed.
        as_directories: skewed values have directories of their own (``STORED AS DIRECTORIES``).
    """

    columns: tuple[Column, ...] = ()
    location: str | None = None
    input_format: str | None = None
    output_format: str | None = None
    serde: Serde = field(default_factory=Serde)
    compressed: bool = False
    buckets: int = -1
    bucket_columns: tuple[str, ...] = ()
    sort_columns: tuple[SortColumn, ...] = ()
    skew: Skew = field(default_factory=Skew)
    as_directories: bool = False
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """A partition of a table; the caller knows which table.

    Attributes:
        values: one for each key in the table's order, as texts; `NULL` for null.
        storage: its own columns, format and location; they may differ from the table's.
        parameters: statistics among them.
        refusal: why data at its location is not touched, see `LocationPolicy`; empty: it is used.
    """

    values: tuple[str, ...]
    storage: StorageDescriptor
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    refusal: str = ""

    @property
    def location(self) -> str:
        """The URI of its directory; empty if the metastore has none, or data there is not to be touched."""
        return "" if self.refusal else self.claimed_location

    @property
    def claimed_location(self) -> str:
        """The location that the metastore has: for comparing places, never for touching their data."""
        return self.storage.location or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A table or a view.

    Attributes:
        keys: its partition keys in order; none: it is not partitioned.
        parameters: its properties, statistics and what other formats write there.
        view_original: a view's query as it was written.
        view_expanded: a view's query with all names in full.
    """

    name: TableName
    kind: TableKind
    storage: StorageDescriptor
    keys: tuple[Column, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    owner: str | None = None
    view_original: str | None = None
    view_expanded: str | None = None

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of its partition keys."""
        return tuple(key.name for key in self.keys)

    @property
    def location(self) -> str:
        """The URI of its directory, empty when it has none.

        Spark keeps that of some of its tables as ``path`` in the serde's parameters, and something else in its place.
        """
        return table_location(self.storage, self.parameters)

    def partition_name(self, partition: Partition | tuple[str, ...]) -> str:
        """The name of a partition of this table, from itself or its values."""
        values = partition.values if isinstance(partition, Partition) else partition
        return joined_name(self.key_names, values)


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """The basic figures in the parameters of a table or partition; None where there is none.

    Attributes:
        accurate: the metastore says that they are true, so that queries may be answered from them.
    """

    files: int | None = None
    rows: int | None = None
    size: int | None = None
    accurate: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, str]) -> Self:
        """Return the statistics in the parameters; an invalid or negative figure counts as absent."""
        figures = {name: _figure(parameters.get(key, "")) for name, key in _FIGURES.items()}
        accurate_value = parameters.get(ACCURATE, "").replace(" ", "").lower()
        return cls(**figures, accurate=accurate_value == "true" or '"basic_stats":"true"' in accurate_value)


@dataclass(frozen=True, kw_only=True, slots=True)
class MetastoreEvent:
    """Notification event: something changed in a metastore.

    Attributes:
        number: its event id; the next event has the next number.
        time: in seconds since 1970, by the metastore's clock.
        table: what changed; None: it is about no table.
    """

    number: int
    time: int
    table: TableName | None


_PROVIDER = "spark.sql.sources.provider"
ACCURATE = "COLUMN_STATS_ACCURATE"
"""The parameter by which a metastore says which statistics are true."""
_FIGURES = {"files": "numFiles", "rows": "numRows", "size": "totalSize"}
STATISTICS = frozenset({ACCURATE, *_FIGURES.values(), "rawDataSize", "numFilesErasureCoded", "numPartitions"})
"""Parameters that describe the data rather than the table."""


def table_location(storage: StorageDescriptor, parameters: Mapping[str, str]) -> str:
    """Return the directory of a table; Spark's own parameter goes before the location in Hive's description."""
    of_spark = storage.serde.parameters.get("path", "") if _PROVIDER in parameters else ""
    return of_spark or storage.location or ""


def _figure(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def without_statistics(parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters without what is only true of the data that they were written for; Spark's own are among that."""
    return {
        key: value
        for key, value in parameters.items()
        if key not in STATISTICS and not key.startswith("spark.sql.statistics.")
    }
