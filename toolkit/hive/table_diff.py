"""Differences between two tables: definitions, partitions, and the files of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.catalog.errors import NoSuchTable
from toolkit.catalog.port import BATCH
from toolkit.hive.table_definition import COPIED, partition_differences, table_differences

if TYPE_CHECKING:
    from toolkit.catalog.model import Table, TableName
    from toolkit.hive.table_reader import TablePart, TableReader

_MOST_NAMES = 3


class DiffKind(StrEnum):
    """Kind of a difference of a partition at the second of two clusters."""

    MISSING = "missing"
    """Missing, though the first has it."""
    EXTRA = "extra"
    """There, though the first does not have it."""
    DIFFERENT = "different"
    """Present at both, and different."""
    UNKNOWN = "unknown"
    """Not compared: its files cannot be listed at one of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Difference of the table or a partition.

    Attributes:
        partition: its name; empty: it is about the table, or its only data.
        reasons: in words; the first table's side comes first.
    """

    kind: DiffKind
    partition: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class TableDiff:
    """Differences between a table on two clusters.

    Attributes:
        partitions: so many were compared.
        files: so many were compared by their names and sizes.
        differences: by the names of the partitions; those of the table first.
    """

    partitions: int
    files: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True, kw_only=True)
class TableComparison:
    """Compares a table of one metastore with one of another.

    Attributes:
        first: reads the first, from which the second is thought to be copied.
        second: reads the other.
        names: of both.
        with_files: files are compared as well, by names and sizes.
    """

    first: TableReader
    second: TableReader
    names: tuple[TableName, TableName]
    with_files: bool = True

    def compared(self) -> TableDiff:
        """Return the differences.

        Raises:
            CatalogError: a metastore does not answer, or the first has no such table.
            StorageError, ElError: a place cannot be resolved.
        """
        one = self.first.table(self.names[0])
        try:
            other = self.second.table(self.names[1])
        except NoSuchTable:
            missing = Difference(kind=DiffKind.MISSING, partition="", reasons=("the table is not there",))
            return TableDiff(partitions=0, files=0, differences=(missing,))
        found = list(_of_tables(one, other))
        if one.kind.is_view or (found and found[0].kind is DiffKind.UNKNOWN):
            return TableDiff(partitions=0, files=0, differences=tuple(found))
        if not one.keys:
            files = self._compare(one, other, [""], found)
            return TableDiff(partitions=1, files=files, differences=tuple(found))
        sides = [reader.metastore.partition_names(name) for reader, name in zip(self._readers, self.names, strict=True)]
        here, there = map(frozenset, sides)
        found += [Difference(kind=DiffKind.MISSING, partition=name) for name in sorted(here - there)]
        found += [Difference(kind=DiffKind.EXTRA, partition=name) for name in sorted(there - here)]
        both, files = sorted(here & there), 0
        for start in range(0, len(both), BATCH):
            files += self._compare(one, other, both[start : start + BATCH], found)
        return TableDiff(partitions=len(both), files=files, differences=tuple(found))

    @property
    def _readers(self) -> tuple[TableReader, TableReader]:
        return self.first, self.second

    def _compare(self, one: Table, other: Table, names: Sequence[str], found: list[Difference]) -> int:
        if not self.with_files:
            sides = [
                {table.partition_name(each): each for each in reader.metastore.partitions(table.name, names)}
                for reader, table in zip(self._readers, (one, other), strict=True)
                if table.keys
            ]
            for name in names if sides else ():
                if name in sides[0] and name in sides[1]:  # else it has just gone
                    found += _difference(name, partition_differences(sides[0][name], sides[1][name]))
            return 0
        contents = self.first.contents(one, names), self.second.contents(other, names)
        parts = [{part.name: part for part in each.parts} for each in contents]
        for name in names:
            broken = [why for each in contents if (why := each.broken.get(name)) is not None]
            if broken:
                reasons = tuple(why.message for why in broken)
                found.append(Difference(kind=DiffKind.UNKNOWN, partition=name, reasons=reasons))
            elif name in parts[0] and name in parts[1]:
                found += _difference(name, _of_parts(parts[0][name], parts[1][name]))
        return sum(len(part.files) for part in contents[0].parts)


def _difference(name: str, reasons: Iterator[str]) -> Iterator[Difference]:
    found = tuple(reasons)
    if found:
        yield Difference(kind=DiffKind.DIFFERENT, partition=name, reasons=found)


def _of_tables(one: Table, other: Table) -> Iterator[Difference]:
    """Yield the differences of definitions; `DiffKind.UNKNOWN` when they cannot be compared any further."""
    keys = [[(key.name, key.type) for key in table.keys] for table in (one, other)]
    if keys[0] != keys[1] or one.kind.is_view != other.kind.is_view:
        reasons = (f"the keys {keys[0]} of a {one.kind} instead of {keys[1]} of a {other.kind}",)
        yield Difference(kind=DiffKind.UNKNOWN, partition="", reasons=reasons)
        return
    yield from _difference("", table_differences(one, other))


def _of_parts(one: TablePart, other: TablePart) -> Iterator[str]:
    if one.partition is not None and other.partition is not None:
        yield from partition_differences(one.partition, other.partition)
    lacks, extra = sorted(one.files.keys() - other.files), sorted(other.files.keys() - one.files)
    sizes = sorted(name for name in one.files.keys() & other.files if one.files[name] != other.files[name])
    for what, names in (("files missing", lacks), ("files too many", extra), ("files of another size", sizes)):
        if names:
            yield f"{len(names)} {what}: {', '.join(names[:_MOST_NAMES])}{' ...' if len(names) > _MOST_NAMES else ''}"
    mark = "" if other.partition is None else other.partition.parameters.get(COPIED, "")
    if mark and mark != one.fingerprint and not (lacks or extra or sizes):
        yield "the first was written again since it was copied"
