"""Marks of imports from databases: the range of rows that each instance has, by which the next one goes on."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import sqlalchemy as sa

from toolkit.ledger.database import Transaction
from toolkit.ledger.statements import InsertOr
from toolkit.ledger.tables import exchange_mark


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportSubject:
    """Feed on a cluster, and what it is imported from.

    Attributes:
        source: datasource, table and delta column: marks of another source do not count.
    """

    feed: str
    cluster: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportMark:
    """Rows of an instance; the fields are columns of the table `exchange_mark`, where each is explained."""

    instance_key: str
    low: str | None = None
    high: str | None = None
    snapshot: str | None = None
    rows: int = 0


def of_instance(tx: Transaction, subject: ImportSubject, instance_key: str) -> ImportMark | None:
    """Return the mark of an instance, if it was imported."""
    return tx.row(ImportMark, _marks(subject).where(exchange_mark.c.instance_key == instance_key))


def latest(tx: Transaction, subject: ImportSubject, before: str) -> ImportMark | None:
    """Return the mark of the newest imported instance before another."""
    found = _marks(subject).where(exchange_mark.c.instance_key < before)
    return tx.row(ImportMark, found.order_by(exchange_mark.c.instance_key.desc()).limit(1))


def record(tx: Transaction, run_id: int, subject: ImportSubject, mark: ImportMark) -> None:
    """Write down what a run has imported, instead of what an earlier one had."""
    tx.execute(_RECORDED, {**asdict(subject), **asdict(mark), "run_id": run_id})


def _marks(subject: ImportSubject) -> sa.Select[tuple[object, ...]]:
    columns = [exchange_mark.c[name] for name in ImportMark.__dataclass_fields__]
    return sa.select(*columns).where(*(exchange_mark.c[name] == value for name, value in asdict(subject).items()))


_KEY = tuple(exchange_mark.primary_key.columns)
_NEW = ", ".join(f"{each.name} = excluded.{each.name}" for each in exchange_mark.c if not each.primary_key)
_RECORDED = InsertOr(exchange_mark, f"({', '.join(each.name for each in _KEY)}) DO UPDATE SET {_NEW}")
