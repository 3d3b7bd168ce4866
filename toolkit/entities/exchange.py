"""Import of a feed from a datasource and export to one (Falcon feature list, Import / export)."""

from dataclasses import dataclass, field

from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import ExtractType, LoadType, MergePolicy


@dataclass(frozen=True, kw_only=True, slots=True)
class Extract:
    """Extent of an import."""

    type: ExtractType
    delta_column: str | None = None
    merge_policy: MergePolicy = MergePolicy.SNAPSHOT


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
    """An import of a feed's instances."""

    source: ImportSource
    arguments: Properties = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """Merge of exported rows into the table."""

    type: LoadType


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
    """An export of a feed's instances."""

    target: ExportTarget
    arguments: Properties = field(default_factory=dict)
