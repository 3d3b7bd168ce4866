"""Plan of an import: looks at the table, its columns and the rows of the instance; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.availability import is_there
from toolkit.el import parse_instant
from toolkit.entities.vocabulary import SchemaChangePolicy
from toolkit.exchange.import_range import DeltaRange, delta_range
from toolkit.exchange.import_targets import ImportDetail, ImportItem, ImportRecord
from toolkit.exchange.rows import NotExchanged, no_rows
from toolkit.jdbc.dialect import dialect, parse_table_name
from toolkit.jdbc.port import RowQuery
from toolkit.jdbc.types import MappedColumn, map_columns

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.exchange.import_targets import ImportMarks, ImportPlace, ImportPlan, ImportTarget
    from toolkit.jdbc.dialect import Dialect
    from toolkit.jdbc.port import Database, DatabaseSnapshot, TableDescription
    from toolkit.storage import FileSystem

UNKNOWN_COLUMN, SCHEMA_CHANGED = "unknown_column", "schema_changed"
UNFIT_STORE = "unfit_store"
NOT_IMPORTED_HERE, PREVIOUS_MISSING, IN_LATER = "made_by_others", "previous_missing", "in_later_instance"
"""Codes of instances that are not imported, and why."""
_TABLE_TYPES = {"timestamp_ntz": "timestamp"}


@dataclass(frozen=True, kw_only=True)
class RowImportPlanner:
    """Plans one instance.

    Attributes:
        target: the instance.
        marks: that the ledger has of it.
        database: of its datasource.
        stores: the store that a path is on.
        place: the place of an instance: this one, or the one before.
        shares_moments: its connections may read different moments where the database cannot share a snapshot.
    """

    target: ImportTarget
    marks: ImportMarks
    database: Database
    stores: Callable[[CanonicalPath], FileSystem]
    place: Callable[[datetime], ImportPlace]
    shares_moments: bool

    def planned(self, blank: ImportPlan) -> ImportPlan:
        """Return the plan.

        Raises:
            NotExchanged: it cannot be imported.
            DatabaseError, DatabaseUnreachable, DatabaseTimeout: the database refuses, or does not answer.
            InvalidInput: a column cannot be kept exactly.
            StorageError, CatalogError: its place cannot be looked at.
        """
        place = self.place(self.target.instant)
        is_update = self._require_own(place) and self.marks.own is not None  # else no run has announced it
        with self.database.snapshot() as snapshot:
            described = snapshot.describe(parse_table_name(self.target.settings.source.table_name))
            notes: list[str] = []
            previous = self._previous()
            mapped = self._columns(described, place, previous, notes)
            found = self._range(described, snapshot, notes)
            if found.is_skipped:
                message = "by their delta column, the rows of this instance are those of the next one that is imported"
                return replace(blank, skipped=Problem(code=IN_LATER, message=message, is_settled=True))
            rows = RowQuery(
                table=described.name,
                columns=tuple(each.name for each in mapped),
                ranges=found.ranges,
                casts={each.name: each.cast for each in mapped if each.cast is not None},
            )
            splits = self._splits(snapshot, rows, notes)
            item = ImportItem(
                instance_key=self.target.instance_key,
                uri=str(place.unit),
                rows=rows,
                columns={each.name: each.spark for each in mapped},
                checks={each.name: each.check for each in mapped if each.check is not None},
                select=snapshot.select_text(rows),
                previous=previous,
                low=found.low,
                high=found.high,
            )
            types = {each.name: str(each) for each in described.columns if each.name in item.columns}
            detail = ImportDetail(
                types=types, splits=splits, place=place, estimate=snapshot.estimate(rows), is_there=is_update
            )
        return replace(blank, items=(item,), detail=detail, notes=(*blank.notes, *notes))

    def _require_own(self, place: ImportPlace) -> bool:
        """Return whether something is at the place; only what an import made is replaced without being named."""
        system, has_flag = self.stores(place.unit), bool(self.target.feed.availability_flag)
        is_shown_late = has_flag if place.table is None else not place.is_registered
        if not system.capabilities.atomic_rename and not is_shown_late:
            why = f"readers of {place.unit} would see half of it, since its store renames nothing at once; "
            raise NotExchanged(
                code=UNFIT_STORE, why=f"{why}give a path feed an availability_flag, or drop the partition"
            )
        if not is_there(system, place.unit):
            return False
        if not self.target.is_named and ImportRecord.read(system, place.unit) is None:
            why = f"{place.unit} is there, and no import made it; remove it, or replace it by --start"
            raise NotExchanged(code=NOT_IMPORTED_HERE, why=why)
        return True

    def _previous(self) -> CanonicalPath | None:
        """Return the directory of the instance that new rows are merged with; None: all rows are read."""
        target, before = self.target, self.marks.before
        if not target.merges:
            return None
        if target.follows is not None and before is None:  # a dry run: the instance before it is in its plan
            return self.place(target.follows).unit
        if before is None:
            return None
        found = self.place(parse_instant(before.instance_key)).unit
        if target.follows is None and ImportRecord.read(self.stores(found), found) is None:
            why = f"the instance {before.instance_key}, with which new rows are merged, is not at {found}; "
            raise NotExchanged(code=PREVIOUS_MISSING, why=f"{why}import all rows by --whole")
        return found

    def _range(self, described: TableDescription, snapshot: DatabaseSnapshot, notes: list[str]) -> DeltaRange:
        name = self.target.settings.source.extract.delta_column
        if name is None:
            return DeltaRange()
        column = described.column(name)
        if column is None:
            raise self._unknown([name])
        (mapped,) = map_columns(self._dialect, str(described.name), [column], {})
        found = delta_range(self.target, self.marks, mapped.spark, name)
        if not found.is_open or found.is_skipped:
            return found
        above = RowQuery(table=described.name, columns=(name,), ranges=found.ranges)
        bounds = snapshot.bounds(above, name)
        if bounds is None and not self.target.settings.allow_empty:
            raise no_rows(str(described.name), "allow_empty")
        everything = snapshot.bounds(replace(above, ranges=()), name) if bounds is None and found.low else None
        if everything is not None and Decimal(str(everything[1])) < Decimal(found.low or 0):
            notes.append(
                f"{name} is at most {everything[1]!s}, below the mark {found.low}: "
                "if the table was restored, rows up to the mark are in no instance"
            )
        return found.up_to(None if bounds is None else bounds[1])

    def _columns(
        self, described: TableDescription, place: ImportPlace, previous: CanonicalPath | None, notes: list[str]
    ) -> tuple[MappedColumn, ...]:
        """Return the columns that are imported, after the comparison with those of the last instance or the table."""
        settings, names = self.target.settings, [each.name for each in described.columns]
        source, fields = settings.source, settings.source.fields
        named = (*fields.includes, *fields.excludes, *settings.columns, *source.extract.merge_key)
        split = () if settings.split_column is None else (settings.split_column,)
        delta = source.extract.delta_column
        unknown = sorted({*named, *split, *(() if delta is None else (delta,))} - set(names))
        if unknown:
            raise self._unknown(unknown)
        needed = {*fields.includes, *((*source.extract.merge_key, delta) if source.extract.is_merge else ())}
        chosen = [
            each
            for each in described.columns
            if (not fields.includes or each.name in needed) and each.name not in fields.excludes
        ]
        if source.extract.is_merge and delta is not None and delta in fields.excludes:
            raise NotExchanged(
                code=UNKNOWN_COLUMN, why=f"{delta} tells which row is newer, so that it cannot be left out"
            )
        if not chosen:
            raise NotExchanged(code=UNKNOWN_COLUMN, why=f"the table {described.name} has no column that is imported")
        mapped = map_columns(self._dialect, str(described.name), chosen, self.target.settings.columns)
        known = self._known(place, previous)
        return mapped if known is None else self._compared(mapped, known, place, previous, notes)

    @property
    def _dialect(self) -> Dialect:
        return dialect(self.database.access.type)

    def _known(self, place: ImportPlace, previous: CanonicalPath | None) -> Mapping[str, str] | None:
        """Return type by column of the table, or of the last instance; None: there is none."""
        if place.table is not None:
            return {each.name: each.type for each in place.table.storage.columns}
        last = previous
        if last is None and self.marks.before is not None:
            last = self.place(parse_instant(self.marks.before.instance_key)).unit
        found = None if last is None else ImportRecord.read(self.stores(last), last)
        return None if found is None else found.columns

    def _compared(
        self,
        mapped: Sequence[MappedColumn],
        known: Mapping[str, str],
        place: ImportPlace,
        previous: CanonicalPath | None,
        notes: list[str],
    ) -> tuple[MappedColumn, ...]:
        """Return the columns that `schema_change` lets in."""
        in_table, rule = place.table is not None, self.target.settings.schema_change
        found = {_in_table(each.name, in_table): _type_in(each.spark, in_table) for each in mapped}
        where = f"the table {place.table.name}" if place.table is not None else "the last instance"
        new = [name for name in found if name not in known]
        other = [
            f"{name} ({known[name]}, now {found[name]})"
            for name in found
            if known.get(name, found[name]) != found[name]
        ]
        other += [f"{name} (gone)" for name in known if name not in found]
        must_fit = in_table or previous is not None or rule is SchemaChangePolicy.FAIL
        if other and must_fit:
            why = f"{', '.join(other)} differ from {where}; "
            way = (
                "change the table"
                if in_table
                else "schema_change: add takes them"
                if previous is None
                else "use --whole"
            )
            raise NotExchanged(code=SCHEMA_CHANGED, why=f"{why}{way}")
        if new and (rule is SchemaChangePolicy.FAIL or (in_table and rule is SchemaChangePolicy.ADD)):
            way = "add them to the table" if in_table else "take them by schema_change: add"
            raise NotExchanged(
                code=SCHEMA_CHANGED, why=f"{', '.join(new)} are not in {where}; {way}, or write schema_change: ignore"
            )
        notes += [f"{', '.join(other)} differ from {where}"] if other else []
        if not new:
            return tuple(mapped)
        is_ignored = rule is SchemaChangePolicy.IGNORE
        notes.append(f"{', '.join(new)} are new at the source{', and left out' if is_ignored else ''}")
        return tuple(each for each in mapped if not is_ignored or _in_table(each.name, in_table) not in new)

    def _splits(self, snapshot: DatabaseSnapshot, rows: RowQuery, notes: list[str]) -> tuple[str, ...]:
        settings = self.target.settings
        column, parts = settings.split_column, settings.connections
        if column is None or parts == 1:
            return ()
        if snapshot.init_statement is None:
            if not self.shares_moments:
                notes.append(
                    "the database shares no snapshot, so one connection reads; --inconsistent-splits uses more"
                )
                return ()
            notes.append("each connection reads a moment of its own, so the instance may be of none")
        found = snapshot.splits(rows, column, parts)
        return found if len(found) > 1 else ()

    def _unknown(self, names: Collection[str]) -> NotExchanged:
        table = self.target.settings.source.table_name
        return NotExchanged(code=UNKNOWN_COLUMN, why=f"the table {table} has no column {', '.join(names)}")


def _in_table(name: str, in_table: bool) -> str:  # noqa: FBT001 - two words would say the same
    return name.lower() if in_table else name


def _type_in(kind: str, in_table: bool) -> str:  # noqa: FBT001
    return _TABLE_TYPES.get(kind, kind) if in_table else kind
