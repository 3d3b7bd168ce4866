"""Definitions of tables, read from each database's own catalog."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from toolkit.entities.vocabulary import DatasourceType
from toolkit.jdbc.dialect import Dialect
from toolkit.jdbc.errors import NoSuchRelation
from toolkit.jdbc.port import RelationName, Row, TableColumn, TableDescription, Value

Query: TypeAlias = Callable[..., Sequence[Row]]
"""Takes a statement and the values of its parameters."""

_TYPE = re.compile(r"(?P<name>[^(]+?) ?\((?P<size>\d+)(?:,(?P<scale>-?\d+))?\)(?P<rest>.*)", re.DOTALL)

_POSTGRES_COLUMNS = """
SELECT a.attname, CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) WHEN 'e' THEN 'enum'
  ELSE format_type(a.atttypid, a.atttypmod) END
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass(CAST(? AS text)) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_POSTGRES_KEYS = """
SELECT i.indexrelid, a.attname, i.indisprimary FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, position)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = to_regclass(CAST(? AS text)) AND i.indisunique AND i.indisvalid AND i.indimmediate
  AND i.indpred IS NULL AND i.indexprs IS NULL AND k.position <= i.indnkeyatts
ORDER BY i.indisprimary DESC, i.indexrelid, k.position"""
_MYSQL_COLUMNS = """
SELECT column_name, data_type, COALESCE(character_maximum_length, numeric_precision, datetime_precision),
  numeric_scale, column_type
FROM information_schema.columns WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?
ORDER BY ordinal_position"""
_MYSQL_KEYS = """
SELECT index_name, column_name, index_name = 'PRIMARY', sub_part FROM information_schema.statistics
WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND non_unique = 0
ORDER BY index_name = 'PRIMARY' DESC, index_name, seq_in_index"""
_STANDARD_COLUMNS = """
SELECT column_name, data_type, COALESCE(character_maximum_length, numeric_precision), numeric_scale
FROM information_schema.columns WHERE table_name = ?{schema} ORDER BY ordinal_position"""


def describe(dialect: Dialect, query: Query, name: RelationName) -> TableDescription:
    """Return the definition of a table.

    Raises:
        NoSuchRelation: the database has none, or the user sees none.
    """
    columns, keys = _READERS.get(dialect.type, _standard)(dialect, query, name)
    if not columns:
        raise NoSuchRelation(about=str(name), detail="there is no such table or view, or the user does not see it")
    return TableDescription(
        name=name, columns=columns, primary_key=keys.pop("", ()), unique_keys=tuple(dict.fromkeys(keys.values()))
    )


_Found: TypeAlias = tuple[tuple[TableColumn, ...], dict[str, tuple[str, ...]]]
"""Columns, and keys by the names of their indexes; the primary key under the empty name too."""


def _postgres(dialect: Dialect, query: Query, name: RelationName) -> _Found:
    table = dialect.table(name)
    columns = tuple(_column(str(column), str(text)) for column, text in query(_POSTGRES_COLUMNS, table))
    found = query(_POSTGRES_KEYS, table)
    return columns, _keys((str(index), str(column), primary == "t") for index, column, primary in found)


def _mysql(_: Dialect, query: Query, name: RelationName) -> _Found:
    place: tuple[Value, ...] = (name.parts[-2] if len(name.parts) > 1 else None, name.parts[-1])
    columns = tuple(_typed(*each) for each in query(_MYSQL_COLUMNS, *place))
    found = query(_MYSQL_KEYS, *place)
    partial = {index for index, _, _, part in found if part is not None}
    return columns, _keys(
        (str(index), str(column), int(str(primary)) == 1) for index, column, primary, _ in found if index not in partial
    )


def _standard(_: Dialect, query: Query, name: RelationName) -> _Found:
    schema = " AND table_schema = ?" if len(name.parts) > 1 else ""
    found = query(_STANDARD_COLUMNS.format(schema=schema), *reversed(name.parts[-2:]))
    return tuple(_typed(*each) for each in found), {}


def _typed(name: Value, kind: Value, size: Value, scale: Value, full: Value = "") -> TableColumn:
    return TableColumn(
        name=str(name),
        type=str(kind).lower(),
        size=None if size is None else int(str(size)),
        scale=None if scale is None else int(str(scale)),
        unsigned="unsigned" in str(full).lower(),
    )


_READERS: Mapping[DatasourceType, Callable[[Dialect, Query, RelationName], _Found]] = {
    DatasourceType.POSTGRES: _postgres,
    DatasourceType.MYSQL: _mysql,
}


def _column(name: str, text: str) -> TableColumn:
    found = _TYPE.fullmatch(text)
    if found is None:
        return TableColumn(name=name, type=text)
    return _typed(name, f"{found['name']}{found['rest']}", found["size"], found["scale"])


def _keys(rows: Iterable[tuple[str, str, bool]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for index, column, primary in rows:
        found[index].append(column)
        if primary:
            found[""].append(column)
    return {index: tuple(columns) for index, columns in found.items()}
