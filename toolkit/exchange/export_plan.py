"""Plan of an export: which columns go where, and everything for which it is refused before a row is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from toolkit.entities.vocabulary import LoadType
from toolkit.exchange.rows import NotExchanged, StoredFormat
from toolkit.jdbc.staging import StagedLoad
from toolkit.jdbc.types import UnsupportedTypes, map_columns

if TYPE_CHECKING:
    from toolkit.exchange.export_targets import DatabaseExportTarget
    from toolkit.exchange.instance_files import FilesOfPart, InstanceFiles
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.dialect import Dialect
    from toolkit.jdbc.port import RelationName, TableColumn, TableDescription, Value

_INTEGERS = frozenset({"smallint", "int", "bigint"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportColumns:
    """Columns of an export.

    Attributes:
        target: what is exported where.
        table: definition of the table.
        dialect: of its database.
        rows: tells the columns of files.
    """

    target: DatabaseExportTarget
    table: TableDescription
    dialect: Dialect
    rows: Rows

    def load(self, files: InstanceFiles, staging: RelationName) -> tuple[StagedLoad, Mapping[str, str]]:
        """Return the merge, and the types of Spark of its columns.

        Raises:
            NotExchanged: a column, a key or a slice does not fit.
            DatabaseError, RowsFailed: the files cannot be read.
        """
        names = self._names(files)
        types = {each.name: self._type(each) for each in self.table.columns if each.name in names}
        export, load = self.target.export, self.target.export.target.load
        key = export.key_columns or (() if load.type is LoadType.REPLACE else self.table.primary_key)
        self._check_key(key, tuple(types), load.type)
        merge = StagedLoad(
            dialect=self.dialect,
            table=self.table,
            staging=staging,
            columns=tuple(types),
            type=load.type,
            key=key,
            slice={name: _value(name, types[name], text) for name, text in self.target.slice.items()},
        )
        return merge, types

    def notes(self, files: InstanceFiles) -> Iterator[str]:
        """Yield what the table does not get of the instance."""
        unknown = {name for part in files.parts for name in part.constants if self.table.column(name) is None}
        for name in sorted(unknown):
            yield f"the table has no column {name}: the values of this partition key are not exported"

    def constants(self, part: FilesOfPart, columns: Mapping[str, str]) -> Mapping[str, str]:
        """Return the values of columns that the files of a part do not have.

        Args:
            part: of the instance.
            columns: of its files.
        """
        found = {**self.target.slice, **part.constants}
        return {name: text for name, text in found.items() if name not in columns and self.table.column(name)}

    def _names(self, files: InstanceFiles) -> frozenset[str]:
        of_parts = (self.rows.columns(each.files, stored_format(self.target, each)) for each in files.parts)
        found = {name for columns in of_parts for name in columns}
        unknown = sorted(found - {each.name for each in self.table.columns})
        if unknown:
            why = f"the table {self.table.name} has no column {', '.join(map(repr, unknown))}, which the files have"
            raise NotExchanged(code="unknown_column", why=f"{why}; add it to the table, in the same case")
        missing = sorted(set(self.target.slice) - {each.name for each in self.table.columns})
        if missing:
            why = f"the table {self.table.name} has no column {', '.join(map(repr, missing))}, which load.slice names"
            raise NotExchanged(code="unknown_column", why=f"{why}; correct the feed")
        if not found:  # an empty instance
            return frozenset(each.name for each in self.table.columns)
        constants = {name for part in files.parts for name in self.constants(part, {})}
        return frozenset((*found, *constants))

    def _check_key(self, key: Sequence[str], columns: Sequence[str], load: LoadType) -> None:
        missing = [each for each in key if each not in columns]
        if missing:
            why = f"the files have no column {', '.join(map(repr, missing))}, which identifies a row"
            raise NotExchanged(code="no_key", why=f"{why}; correct update_key")
        if load is LoadType.REPLACE:
            return
        if not key:
            why = f"the table {self.table.name} has no primary key; name columns that identify a row in update_key"
            raise NotExchanged(code="no_key", why=why)
        if load is LoadType.UPDATEONLY and not set(columns) - set(key):
            why = "all columns of the files identify a row, so that updateonly changes nothing; use allowinsert"
            raise NotExchanged(code="nothing_to_update", why=why)

    def _type(self, column: TableColumn) -> str:
        """Return the type of Spark of a column; a text where Spark has no such type."""
        last: UnsupportedTypes | None = None
        for wanted in ({}, {column.name: "string"}):
            try:
                (found,) = map_columns(self.dialect, str(self.table.name), [column], wanted)
            except UnsupportedTypes as error:
                last = error
            else:
                return found.spark
        why = f"the column {column.name} of type {column} cannot be written from files; remove it from the files"
        raise NotExchanged(code="unsupported_type", why=why) from last


def stored_format(target: DatabaseExportTarget, part: FilesOfPart) -> StoredFormat:
    """Return the form of the files of a part."""
    return StoredFormat.of(part.format, target.export.null_text)


def _value(name: str, spark: str, text: str) -> Value:  # noqa: PLR0911 - one for each type
    """Return the value of a slice's text, so that the database compares values of the column's own type.

    Raises:
        NotExchanged: the text is none of that type.
    """
    try:
        if spark in _INTEGERS:
            return int(text)
        if spark.startswith("decimal"):
            return Decimal(text)
        if spark == "date":
            return date.fromisoformat(text)
        if spark == "timestamp_ntz":
            return datetime.fromisoformat(text).replace(tzinfo=None)
        if spark == "timestamp":
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if spark == "boolean" and text in {"true", "false"}:
            return text == "true"
        if spark == "string":
            return text
    except (ValueError, InvalidOperation):
        pass
    why = f"load.slice has the text {text!r} for the column {name}, which is no {spark}; correct the feed"
    raise NotExchanged(code="bad_slice", why=why)
