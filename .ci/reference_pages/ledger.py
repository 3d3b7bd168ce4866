"""docs/reference/ledger.md: the tables of the ledger with every column, the words in them, and the legal changes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import StrEnum

import sqlalchemy as sa

from reference_pages.markdown import code, codes, meanings, page, prose, table
from reference_pages.unexplained import UnexplainedError
from toolkit.ledger.columns import Choice
from toolkit.ledger.schema_version import HEAD
from toolkit.ledger.tables import metadata
from toolkit.ledger.vocabulary import TRANSITIONS

_INTRODUCTION = """
The ledger is one SQL database, SQLite or PostgreSQL, with the same tables on both. [The ledger](../concepts/ledger.md)
says how to set it up. Read it as you like, for dashboards and reports; write to it through `feedctl` alone.
[The mapping of BDRE](../bdre-mapping.md) says where BDRE's tables went.

In the picture a line leads from a table to the rows that refer to it, by the column that it is named for.
"""
_TYPES = """
Types are PostgreSQL's. SQLite has numbers as INTEGER, and times as text in UTC that sorts as they do:
`2026-03-01T06:40:00.000000Z`.
"""
_POSTGRESQL = sa.make_url("postgresql+psycopg://").get_dialect()()
_CHANGES = "[the table of changes](#changes-of-a-runs-status)"
_FOR_DEVELOPERS = re.compile(r" \((?:DESIGN|BDRE|Falcon)[^)]*\)")


def ledger_page() -> str:
    """The page."""
    return page(
        "The ledger",
        _INTRODUCTION,
        "\n".join(["```mermaid", "erDiagram", *_diagram(), "```"]),
        "## Tables",
        _TYPES,
        *(block for _, each in sorted(metadata.tables.items()) for block in _table(each)),
        "## Words",
        *(block for each in _enumerations() for block in _words(each)),
        "## Changes of a run's status",
        _changes(),
        "## Revision of the schema",
        f"These tables are those of revision {code(HEAD)}.",
    )


def _diagram() -> Iterator[str]:
    """Mermaid's lines: the keys of every table, and what refers to what."""
    for name, each in sorted(metadata.tables.items()):
        yield f"    {name} {{"
        for column in each.columns:
            marks = [mark for mark, is_so in (("PK", column.primary_key), ("FK", column.foreign_keys)) if is_so]
            if marks:
                kind = _kind(column).partition("(")[0]
                yield f"        {kind} {column.name} {', '.join(marks)}"
        yield "    }"
    for name, each in sorted(metadata.tables.items()):
        for column in each.columns:
            for target in sorted(key.column.table.name for key in column.foreign_keys):
                yield f"    {target} {'|o' if column.nullable else '||'}--o{{ {name} : {column.name}"


def _table(each: sa.Table) -> Iterator[str]:
    yield f"### {each.name}"
    yield _sentence(prose(_explained(each.comment, each.name)))
    yield table(("column", "type", "null", "what it is"), (_column(column) for column in each.columns))
    indexes = [*_uniques(each), *_indexes(each)]
    if indexes:
        yield "\n".join(f"- {line}" for line in indexes)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _explained(comment: str | None, what: str) -> str:
    if not comment:
        raise UnexplainedError(what=what, where="the comments of toolkit/ledger/tables")
    return comment


def _column(column: sa.Column[object]) -> list[str]:
    name = f"**{column.name}**" if column.primary_key else column.name
    targets = [f"; refers to [{key.column.table.name}](#{key.column.table.name})" for key in column.foreign_keys]
    meaning = prose(_explained(column.comment, f"{column.table.name}.{column.name}")) + "".join(targets)
    return [name, _type(column), "yes" if column.nullable else "", meaning]


def _type(column: sa.Column[object]) -> str:
    if isinstance(column.type, Choice):
        name = column.type.kind.__name__
        return f"[{name}](#{name.lower()})"
    return _kind(column)


def _kind(column: sa.Column[object]) -> str:
    """Return PostgreSQL's name of the column's type, in one word."""
    return column.type.compile(_POSTGRESQL).lower().replace("timestamp with time zone", "timestamptz")


def _uniques(each: sa.Table) -> Iterator[str]:
    for constraint in sorted(each.constraints, key=lambda found: str(found.name)):
        if isinstance(constraint, sa.UniqueConstraint):
            yield f"unique: {codes(column.name for column in constraint.columns)}"


def _indexes(each: sa.Table) -> Iterator[str]:
    for index in sorted(each.indexes, key=lambda found: str(found.name)):
        where = index.dialect_options["postgresql"]["where"]
        condition = "" if where is None else f" where {code(where)}"
        yield f"{'unique' if index.unique else 'index'}: {codes(column.name for column in index.columns)}{condition}"


def _enumerations() -> list[type[StrEnum]]:
    """The closed sets that columns have, each once, by name."""
    found: set[type[StrEnum]] = {
        column.type.kind
        for each in metadata.tables.values()
        for column in each.columns
        if isinstance(column.type, Choice)
    }
    return sorted(found, key=lambda each: each.__name__)


def _words(members: type[StrEnum]) -> Iterator[str]:
    words = meanings(members)
    yield f"### {members.__name__}"
    yield prose(_FOR_DEVELOPERS.sub("", inspect.getdoc(members) or "")).replace("`TRANSITIONS`", _CHANGES)
    yield table(("value", "meaning"), ([code(each.value), words[each.name]] for each in members))


def _changes() -> str:
    rows = (
        [code(old), codes(sorted(new)) or "nothing: it is over; a rerun is a new attempt"]
        for old, new in TRANSITIONS.items()
    )
    return table(("a run that is", "may become"), rows)
