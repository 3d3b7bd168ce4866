"""The port that moves rows between a database and files: the actions ask for whole results, Spark does the work.

Each select is one connection. Files are written without a marker of success and without checksum files beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from toolkit.entities.vocabulary import DataFormat
from toolkit.errors import Failed
from toolkit.jdbc.port import JdbcAccess, RelationName

NULL_TEXT = r"\N"
"""Text of a null in CSV, where the entity names none."""


class NotExchanged(Failed):
    """An instance that is not imported or exported; readers of it and of the table see what they saw before.

    Args:
        code: stable.
        why: what was found, and what to do.
    """

    def __init__(self, *, code: str, why: str) -> None:
        self.code = code
        super().__init__(why)


def no_rows(what: str, setting: str) -> NotExchanged:
    """Return the error of an instance without rows."""
    return NotExchanged(
        code="no_rows", why=f"{what} has no rows for this instance; set {setting}: true if that is right"
    )


class RowsFailed(Failed):
    """Files could not be read or written, or a value cannot be kept; `detail` names the column, and no value."""

    def __init__(self, *, about: str, detail: str) -> None:
        self.about, self.detail = about, detail
        super().__init__(f"{about}: {detail}")


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFormat:
    """Form of files.

    Attributes:
        null_text: text of a null in CSV; other formats have nulls of their own. A text that equals it is refused.
    """

    format: DataFormat = DataFormat.PARQUET
    null_text: str = NULL_TEXT

    @classmethod
    def of(cls, kind: DataFormat, null_text: str | None) -> StoredFormat:
        """Return the form of an entity, which need not name a text of nulls."""
        return cls(format=kind, null_text=NULL_TEXT if null_text is None else null_text)

    def __str__(self) -> str:
        return f"csv with {self.null_text!r} as null" if self.format is DataFormat.CSV else str(self.format)


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """Files of an earlier instance that changed rows are merged with.

    Of each key the row with the greatest value of `order` is written; a changed row wins over a kept one of the same
    value. Two rows of one key and value on the same side, and a key without a value, fail the request. Columns that the
    earlier files do not have are null there; columns that they alone have fail the request.

    Attributes:
        previous: URIs of files or directories, in the same form; empty: there is no earlier instance.
        key: columns that identify a row.
        order: column that tells which row is newer; a row without a value is the oldest.
        parts: files to write.
        is_unique: a key that several rows have fails the request, whatever their `order`; without an earlier instance.
    """

    previous: tuple[str, ...]
    key: tuple[str, ...]
    order: str
    parts: int = 1
    is_unique: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadRequest:
    """Rows of a database that become files.

    Attributes:
        access: how to connect.
        init_statement: what each connection executes first, to see one snapshot; None: each sees its own moment.
        selects: one whole SELECT a connection, as `DatabaseSnapshot.select_text` writes it, with a split's condition;
            their columns are those of `columns`, in that order. An empty selection has one select too.
        columns: type of Spark by name, in the order of the files (`MappedColumn.spark`).
        fetch_size: rows in one answer of the database.
        target: URI of an empty directory; everything below it belongs to the request.
        merge: what the rows are merged with; None: they are written as they are.
    """

    access: JdbcAccess
    init_statement: str | None
    selects: tuple[str, ...]
    columns: Mapping[str, str]
    fetch_size: int
    stored: StoredFormat
    target: str
    merge: Merge | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenRows:
    """Files, and the rows that they say they have."""

    rows: int
    bytes: int
    files: int


@dataclass(frozen=True, kw_only=True)
class StageRequest:
    """Files whose rows are written into a staging table.

    A value that its column cannot keep exactly fails the request. The database may have more or fewer rows than
    `Rows.stage` returns when a connection broke at its commit, so the caller compares them with ``count(*)``.

    Attributes:
        access: how to connect; its account may write.
        table: exists, is empty, and has the columns.
        files: URIs of files or directories; empty: no rows.
        columns: type of Spark by name (`MappedColumn.spark`; ``string`` for types that Spark has not).
        constants: values of columns that the files do not have, as text: partition keys of a table feed.
        connections: that write at the same time.
        batch_rows: rows in one message to the database.
    """

    access: JdbcAccess
    table: RelationName
    files: tuple[str, ...]
    stored: StoredFormat
    columns: Mapping[str, str]
    constants: Mapping[str, str] = field(default_factory=dict)
    connections: int = 1
    batch_rows: int = 1000


class Rows(Protocol):
    """Movement of rows. All methods raise the errors of `toolkit.jdbc.errors`, and `RowsFailed`.

    A failed or killed call leaves files below the target, or rows in the staging table, which the caller removes.
    """

    def read(self, request: ReadRequest) -> WrittenRows:
        """Write the rows of the selects as files, merged with those of an earlier instance where that is asked for."""
        ...

    def columns(self, files: tuple[str, ...], stored: StoredFormat) -> Mapping[str, str]:
        """Return type of Spark by name of the columns of files; those of CSV and of JSON's values are ``string``.

        CSV has the names in the first line of each file.
        """
        ...

    def count(self, files: tuple[str, ...], stored: StoredFormat) -> int | None:
        """Return how many rows files have by their footers; None: their format has none."""
        ...

    def stage(self, request: StageRequest) -> int:
        """Write the rows of files into a staging table, and return how many rows the files have."""
        ...

    def close(self) -> None:
        """End what it started; the next call starts anew."""
        ...
