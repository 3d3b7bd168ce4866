"""Rows that are named by several columns, looked up by an index: SQLite scans a table for row values in a list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from toolkit.ledger.database import Transaction, in_chunks

_VALUES = 750
"""So many values are bound by one statement; SQLite allows 999 at least."""


def named_rows(
    tx: Transaction, wanted: sa.Select[Any], columns: Sequence[sa.Column[Any]], names: Collection[tuple[object, ...]]
) -> Iterator[sa.RowMapping]:
    """Yield the rows of a query that have one of the names.

    Args:
        tx: the transaction.
        wanted: a query of the columns' table alone.
        columns: that the names have values for; an index begins with them.
        names: sorted here, so that rows are read, and locked, in the same order by all.
    """
    for chunk in _chunks(columns, names):
        name = sa.values(*(sa.column(each.name, each.type) for each in columns), name="name").data(chunk).cte("name")
        is_named = sa.and_(*(each == name.c[each.name] for each in columns))
        yield from tx.execute(wanted.join_from(name, columns[0].table, is_named)).mappings()


def listed_rows(
    tx: Transaction, wanted: sa.Select[Any], columns: Sequence[sa.Column[Any]], names: Collection[tuple[object, ...]]
) -> Iterator[sa.RowMapping]:
    """Yield as `named_rows`, on PostgreSQL by row values in a list.

    For a join it believes its statistics: without fresh ones it asked for the newest attempt of each run in the table.
    The list is compared before such a question is asked, whatever it believes. Rows are locked in the order of the
    query, and of the names in parts of 750 values.
    """
    if tx.connection.dialect.name == "sqlite":
        yield from named_rows(tx, wanted, columns, names)
        return
    for chunk in _chunks(columns, names):
        yield from tx.execute(wanted.where(sa.tuple_(*columns).in_(chunk))).mappings()


def _chunks(
    columns: Sequence[sa.Column[Any]], names: Collection[tuple[object, ...]]
) -> Iterator[Sequence[tuple[object, ...]]]:
    return in_chunks(sorted({*names}), _VALUES // len(columns))
