"""Import of a feed from a datasource and export to one (Falcon feature list, Import / export)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.el import Frequency
from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import (
    DataFormat,
    ExtractType,
    ImportVerification,
    LoadType,
    MergePolicy,
    SchemaChangePolicy,
)

IMPORT_ARGUMENTS = {"--num-mappers": "num_mappers", "--split-by": "split_by", "--fetch-size": "fetch_size"}
"""Falcon's arguments of an import, with the keys that mean the same."""
EXPORT_ARGUMENTS = {
    "--num-mappers": "num_mappers",
    "--update-key": "update_key",
    "--input-null-string": "null_string",
    "--input-null-non-string": "null_string",
}
"""Falcon's arguments of an export, with the keys that mean the same."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extract:
    """Extent of an import.

    Attributes:
        delta_column: tells which rows are new; goes with `ExtractType.INCREMENTAL`.
        merge_key: columns that identify a row, when new rows replace old ones.
        delta_lag: how long after its time a row may still commit.
    """

    type: ExtractType
    delta_column: str | None = None
    merge_policy: MergePolicy = MergePolicy.SNAPSHOT
    merge_key: tuple[str, ...] = ()
    delta_lag: Frequency | None = None

    @property
    def is_merge(self) -> bool:
        """True if new rows are merged with the last instance."""
        return self.type is ExtractType.INCREMENTAL and self.merge_policy is MergePolicy.SNAPSHOT


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldSelection:
    """Columns to import; all when neither is given."""

    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportSource:
    """A table of a datasource.

    Attributes:
        name: the datasource's name.
        table_name: the table in it.
    """

    name: str
    table_name: str
    extract: Extract
    fields: FieldSelection = field(default_factory=FieldSelection)


@dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """An import of a feed's instances.

    Attributes:
        split_by: the column by whose values connections share the rows.
        num_mappers: connections that read at the same time.
        fetch_size: rows in one answer of the database.
        columns: types of Spark by the names of columns whose own types cannot be kept.
        null_string: text of a null in CSV.
        arguments: Falcon's spelling of the first three; `connections`, `split_column` and `fetched_rows` know both.
    """

    source: ImportSource
    split_by: str | None = None
    num_mappers: int = 1
    fetch_size: int = 1000
    columns: Mapping[str, str] = field(default_factory=dict)
    schema_change: SchemaChangePolicy = SchemaChangePolicy.FAIL
    allow_empty: bool = False
    verify: ImportVerification = ImportVerification.COUNT
    format: DataFormat = DataFormat.PARQUET
    null_string: str | None = None
    arguments: Properties = field(default_factory=dict)

    @property
    def connections(self) -> int:
        """Connections that read at the same time."""
        return int(self.arguments.get("--num-mappers", self.num_mappers))

    @property
    def split_column(self) -> str | None:
        """The column by whose values connections share the rows."""
        given = self.arguments.get("--split-by", self.split_by)
        return None if given is None else str(given)

    @property
    def fetched_rows(self) -> int:
        """Rows in one answer of the database."""
        return int(self.arguments.get("--fetch-size", self.fetch_size))


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Merge of exported rows into the table.

    Attributes:
        slice: with `LoadType.REPLACE`: columns that tell the instance in the table, with templates of their values.
    """

    type: LoadType
    slice: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportTarget:
    """A table of a datasource.

    Attributes:
        name: the datasource's name.
        table_name: the table in it.
    """

    name: str
    table_name: str
    load: Load


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedExport:
    """An export of a feed's instances.

    Attributes:
        update_key: columns that identify a row; empty: the table's primary key.
        num_mappers: connections that write at the same time.
        format: of the files of a path feed.
        null_string: text of a null in CSV.
        allow_empty: an instance without rows is exported; otherwise it fails.
        arguments: Falcon's spelling of some of these; `connections`, `key_columns` and `null_text` know both. CSV has
            one text for nulls of all columns, so that both of Falcon's arguments for it have to agree.
    """

    target: ExportTarget
    update_key: tuple[str, ...] = ()
    num_mappers: int = 1
    format: DataFormat = DataFormat.PARQUET
    null_string: str | None = None
    allow_empty: bool = False
    arguments: Properties = field(default_factory=dict)

    @property
    def connections(self) -> int:
        """Connections that write at the same time."""
        return int(self.arguments.get("--num-mappers", self.num_mappers))

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Columns that identify a row; empty: the table's primary key."""
        given = self.arguments.get("--update-key")
        return self.update_key if given is None else tuple(each.strip() for each in str(given).split(","))

    @property
    def null_text(self) -> str | None:
        """Text of a null in CSV."""
        given = self.arguments.get("--input-null-string", self.null_string)
        return None if given is None else str(given)
