"""Who held which lease from when to when, by the database's clock, as the holders themselves say."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from toolkit.ledger.columns import Choice, Number, UtcTime
from toolkit.ledger.database import Transaction
from toolkit.ledger.tables import lease
from toolkit.ledger.vocabulary import LeaseMode

held = sa.Table(
    "held",
    sa.MetaData(),
    sa.Column("resource", sa.Text, primary_key=True),
    sa.Column("run_id", Number, primary_key=True, autoincrement=False),
    sa.Column("mode", Choice(LeaseMode), nullable=False),
    sa.Column("fence", Number, nullable=False),
    sa.Column("began_at", UtcTime, nullable=False),
    sa.Column("expires_at", UtcTime, nullable=False),
    sa.Column("ended_at", UtcTime),
)
"""A holder that was killed has no `ended_at`: nobody else may hold the resource before its lease has expired."""

_OVERLAPS = Path(__file__).with_name("ledger_overlaps.sql")


def holding(tx: Transaction, run_id: int) -> None:
    """Note that a run holds what it has leased."""
    columns = (lease.c.resource, lease.c.run_id, lease.c.mode, lease.c.fence)
    mine = sa.select(*columns, sa.literal(tx.now(), UtcTime()), lease.c.expires_at).where(lease.c.run_id == run_id)
    tx.execute(sa.insert(held).from_select(["resource", "run_id", "mode", "fence", "began_at", "expires_at"], mine))


def renewed(tx: Transaction, run_id: int) -> None:
    """Note until when a run holds it now."""
    until = sa.select(sa.func.max(lease.c.expires_at)).where(lease.c.run_id == run_id).scalar_subquery()
    tx.execute(
        sa.update(held).where(held.c.run_id == run_id).values(expires_at=sa.func.coalesce(until, held.c.expires_at))
    )


def let_go(tx: Transaction, run_id: int) -> None:
    """Note that a run is about to give back what it has leased."""
    tx.execute(sa.update(held).where(held.c.run_id == run_id).values(ended_at=tx.now()))


def overlaps(connection: sa.Connection) -> list[str]:
    """Pairs of runs that held a resource at the same time, at least one of them alone; and fences given twice."""
    found = connection.exec_driver_sql(_OVERLAPS.read_text()).all()
    return [" ".join(map(str, row)) for row in found]
