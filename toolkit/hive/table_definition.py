"""Table definition of the copy of a table, and the schema diff of two definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.catalog.model import (
    ACCURATE,
    Partition,
    Serde,
    Statistics,
    StorageDescriptor,
    Table,
    TableKind,
    without_statistics,
)
from toolkit.hive.errors import IncompatibleTable
from toolkit.hive.targets import SchemaChange

if TYPE_CHECKING:
    from toolkit.catalog.model import Column, TableName
    from toolkit.hive.table_reader import TablePart
    from toolkit.hive.targets import ImportRules

COPIED = "feedctl.copied"
"""The parameter that says of which files a partition, or an unpartitioned table, was copied: `TablePart.fingerprint`.

It is written with the location, in one step, so that it never tells of other data than readers see.
"""
_OWN = frozenset({COPIED, "transient_lastDdlTime", "last_modified_by", "last_modified_time", "bucketing_version"})
_EXTERNAL, _PURGE, _PATH = "EXTERNAL", "external.table.purge", "path"
_READING = {
    "skip.header.line.count": "0",
    "skip.footer.line.count": "0",
    "serialization.null.format": None,
    "parquet.column.index.access": "false",
    "orc.force.positional.evolution": "false",
    "transactional": "false",
}
"""Parameters of a table that say which rows its files have, with what their absence means; all others are statistics,
times, or for people."""
_SCHEMAS = ("avro.schema.literal", "avro.schema.url")
"""Parameters that have the columns once more."""
_BUCKETING, _FIRST_BUCKETING = "bucketing_version", "1"
"""By which hash rows get into buckets. A metastore of Hive 3 gives every table one; it counts where there are some."""
_TEXT = r"""(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
"""In a query; what it says is no name."""
_ROWS = ("numRows", "rawDataSize")


def lasting(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters without statistics and what the metastore, or feedctl, writes for itself."""
    own = _OWN | {_EXTERNAL, _PURGE}
    return {key: value for key, value in without_statistics(parameters).items() if key not in own}


def target_table(table: Table, name: TableName, rules: ImportRules) -> Table:
    """Return the definition of a table under another name; its location is left open."""
    kind = table.kind if table.kind.is_view else rules.kind or table.kind
    parameters = lasting(table.parameters) | ({_EXTERNAL: "TRUE"} if kind is TableKind.EXTERNAL else {})
    if not _unbucketed(table.storage) and _BUCKETING in table.parameters:
        parameters[_BUCKETING] = table.parameters[_BUCKETING]
    renamed = replace(table, name=name, kind=kind, parameters=parameters, storage=replace(table.storage, location=None))
    if not table.kind.is_view or table.name.database == name.database:
        return renamed
    return replace(
        renamed,
        view_original=_moved(table.view_original, table.name.database, name.database),
        view_expanded=_moved(table.view_expanded, table.name.database, name.database),
        parameters=_moved_view(renamed.parameters, table.name.database, name.database),
    )


def _moved(query: str | None, database: str, to: str) -> str | None:
    """Rename the database in a view's query, wherever it stands before a dot and outside of texts."""
    if query is None:
        return None
    name = re.compile(rf"{_TEXT}|(?<![\w.`])(`?){re.escape(database)}\2(?=\s*\.)", re.IGNORECASE)
    return name.sub(lambda found: found[0] if found["text"] else f"{found[2]}{to}{found[2]}", query)


def _moved_view(parameters: Mapping[str, str], database: str, to: str) -> dict[str, str]:
    """Rename the database in the parameters, where Spark keeps the one that it looks for a view's names in."""
    key = "view.catalogAndNamespace.part.1"
    return {**parameters, **({key: to} if parameters.get(key, "").lower() == database else {})}


def target_partition(partition: Partition) -> Partition:
    """Return the definition of a partition; its location, and what goes with it, is left open."""
    storage = replace(partition.storage, location=None)
    return replace(partition, storage=storage, parameters=lasting(partition.parameters))


def at_place(
    storage: StorageDescriptor, was: StorageDescriptor, place: str, *, table_was: str | None, table_is: str
) -> StorageDescriptor:
    """Return a definition with its location; Spark's own tables name it among the serde's parameters as well.

    Args:
        storage: of the copy.
        was: that of the source, with the location there.
        place: its location.
        table_was: the location of its table at the source.
        table_is: the location of its table now.
    """
    parameters = dict(storage.serde.parameters)
    for key, value in parameters.items():
        if key.lower() != _PATH:  # Spark reads its options whatever their case
            continue
        named = value.rstrip("/")
        is_own = named == (was.location or "").rstrip("/")
        is_tables = named == (table_was or "").rstrip("/")
        parameters[key] = place if is_own and not is_tables else table_is
    serde = Serde(name=storage.serde.name, library=storage.serde.library, parameters=parameters)
    return replace(storage, location=place, serde=serde)


def carried_statistics(parameters: Mapping[str, str], part: TablePart) -> dict[str, str]:
    """Return the figures that are true of the copy: files, bytes, and rows if the source counted these files.

    Statistics of columns are not carried over, so that none is called accurate.
    """
    counted = Statistics.of(parameters)
    carried = {"numFiles": str(len(part.files)), "totalSize": str(part.bytes)}
    is_true = counted.accurate and (counted.files, counted.size) == (len(part.files), part.bytes)
    if not is_true:
        return carried
    rows = {key: parameters[key] for key in _ROWS if parameters.get(key, "").isdigit()}
    return carried | rows | ({ACCURATE: '{"BASIC_STATS":"true"}'} if "numRows" in rows else {})


def differences(wanted: StorageDescriptor, present: StorageDescriptor, *, columns: bool = True) -> Iterator[str]:
    """Yield the respects in which two definitions differ, in words, the first being the imported one."""
    if columns and _typed(wanted.columns) != _typed(present.columns):
        yield f"columns {_columns(wanted.columns)} instead of {_columns(present.columns)}"
    pairs: list[tuple[str, object, object]] = [
        ("input format", wanted.input_format, present.input_format),
        ("output format", wanted.output_format, present.output_format),
        ("serde", wanted.serde.library, present.serde.library),
        ("serde properties", _properties(wanted.serde), _properties(present.serde)),
        ("buckets", (wanted.buckets, wanted.bucket_columns), (present.buckets, present.bucket_columns)),
        ("sort columns", wanted.sort_columns, present.sort_columns),
        ("skewed columns", wanted.skew, present.skew),
    ]
    for what, one, other in pairs:
        if one != other and not (what == "buckets" and _unbucketed(wanted) and _unbucketed(present)):
            yield f"{what} {one} instead of {other}"


def with_reading_of(table: Table, other: Table) -> dict[str, str]:
    """Return a table's parameters with those of another one that change which rows its files have."""
    changing = {*_READING, *_SCHEMAS, *([] if _unbucketed(other.storage) else [_BUCKETING])}
    own = {key: value for key, value in table.parameters.items() if key.lower() not in changing}
    return {**own, **{key: value for key, value in other.parameters.items() if key.lower() in changing}}


def table_differences(wanted: Table, present: Table, *, columns: bool = True) -> Iterator[str]:
    """Yield the `differences` of tables, with those of parameters that change which rows their files have."""
    yield from differences(wanted.storage, present.storage, columns=columns)
    absent = {**_READING, **(dict.fromkeys(_SCHEMAS) if columns else {})}
    if not (_unbucketed(wanted.storage) or _unbucketed(present.storage)):
        absent[_BUCKETING] = _FIRST_BUCKETING
    sides = [{key.lower(): value for key, value in table.parameters.items()} for table in (wanted, present)]
    for key, default in absent.items():
        one, other = (side.get(key, default) for side in sides)
        if one != other:
            yield f"parameter {key} {one!r} instead of {other!r}"


def partition_differences(one: Partition, other: Partition) -> Iterator[str]:
    """Yield the `differences` of partitions, with the names of parameters that differ."""
    yield from differences(one.storage, other.storage)
    here, there = lasting(one.parameters), lasting(other.parameters)
    if here != there:
        names = sorted(key for key in here.keys() | there if here.get(key) != there.get(key))
        yield f"parameters {', '.join(names)}"


def merged_definition(wanted: Table, present: Table, rule: SchemaChange) -> Table:
    """Return the definition that a table gets, starting from the one that it has.

    Raises:
        IncompatibleTable: the rule does not allow the change.
    """
    keys = [(each.name, each.type) for each in wanted.keys]
    if keys != [(each.name, each.type) for each in present.keys] or wanted.kind.is_view != present.kind.is_view:
        found = [f"the keys {keys} and is a {wanted.kind}, instead of {present.key_names} and {present.kind}"]
        raise IncompatibleTable(table=str(present.name), found=found, rule=rule)
    if wanted.kind.is_view:
        queries = ("view_original", "view_expanded")
        if all(getattr(wanted, each) == getattr(present, each) for each in queries):
            return present
        if rule is not SchemaChange.REPLACE:
            raise IncompatibleTable(table=str(present.name), found=["another query"], rule=rule)
        return replace(wanted, storage=replace(wanted.storage, location=present.storage.location))
    found = list(table_differences(wanted, present))
    if not found:
        return present
    if rule is SchemaChange.REPLACE:
        storage = replace(wanted.storage, location=present.storage.location)
        parameters = {**with_reading_of(present, wanted), **_schema_of(wanted)}
        return replace(present, storage=storage, parameters=parameters)
    added = added_columns(wanted.storage.columns, present.storage.columns)
    others = list(table_differences(wanted, present, columns=False))
    if rule is SchemaChange.FAIL or added is None or others:
        raise IncompatibleTable(table=str(present.name), found=found, rule=rule)
    if not added:
        return present
    storage = replace(present.storage, columns=(*present.storage.columns, *added))
    return replace(present, storage=storage, parameters={**with_reading_of(present, wanted), **_schema_of(wanted)})


def _schema_of(table: Table) -> dict[str, str]:
    """Return the parameters that hold the columns of a table of Spark."""
    return {key: value for key, value in table.parameters.items() if key.startswith("spark.sql.sources.schema")}


def _unbucketed(storage: StorageDescriptor) -> bool:
    return storage.buckets <= 0 and not storage.bucket_columns


def _properties(serde: Serde) -> dict[str, str]:
    """Return the properties that say how bytes become rows; writers differ about ``serialization.format``."""
    return {
        key: value
        for key, value in serde.parameters.items()
        if key.lower() != _PATH and (key, value) != ("serialization.format", "1")
    }


def _typed(columns: tuple[Column, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each.name.lower(), each.type.lower().replace(" ", "")) for each in columns)


def _columns(columns: tuple[Column, ...]) -> str:
    return f"({', '.join(f'{each.name} {each.type}' for each in columns)})"


def added_columns(wanted: tuple[Column, ...], present: tuple[Column, ...]) -> tuple[Column, ...] | None:
    """Return the columns of `wanted` that `present` does not have; None: they differ in more than that."""
    types = dict(_typed(present))
    own = [each for each in wanted if each.name.lower() in types]
    if any(types[name] != kind for name, kind in _typed(tuple(own))):
        return None
    order = [name for name, _ in _typed(present)]
    places = [order.index(each.name.lower()) for each in own]
    if places != sorted(places) or (own and tuple(own) != wanted[: len(own)]):
        return None
    return wanted[len(own) :]
