"""Everything that a database says about its tables, as sorted lines, so that two schemas can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator

import sqlalchemy as sa

_POSTGRESQL = {
    "table": """
        SELECT relname, obj_description(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    """,
    "column": """
        SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull,
               pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)
        FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
    """,
    "constraint": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
    """,
    "index": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "sequence": "SELECT sequencename, data_type, start_value, increment_by FROM pg_sequences",
}


def described(connection: sa.Connection) -> list[str]:
    """Tables, columns, types, nullability, defaults, keys, constraints and indexes with their names, and comments."""
    return sorted(_postgresql(connection) if connection.dialect.name == "postgresql" else _sqlite(connection))


def _postgresql(connection: sa.Connection) -> Iterator[str]:
    for what, query in _POSTGRESQL.items():
        for row in connection.execute(sa.text(query)):
            yield " | ".join([what, *map(str, row)])


def _sqlite(connection: sa.Connection) -> Iterator[str]:
    query = "SELECT type, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    for kind, table, sql in connection.execute(sa.text(query)):
        if kind == "table":
            yield from (f"{table} | {part}" for part in _parts(sql))
        else:
            yield f"{kind} | {' '.join(sql.split())}"


def _parts(sql: str) -> Iterator[str]:
    """What stands between the commas of CREATE TABLE; a column that was added later stands behind the constraints."""
    depth, start = 0, sql.index("(") + 1
    for place, character in enumerate(sql):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if (character == "," and depth == 1) or (character == ")" and depth == 0):
            yield re.sub(r"\s+", " ", sql[start:place].strip())
            start = place + 1
