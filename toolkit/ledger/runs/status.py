"""The one place where the status of a run changes (DESIGN section 6; `TRANSITIONS` says what may follow what)."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.errors import IllegalTransition
from toolkit.ledger.runs import ending
from toolkit.ledger.runs.finding import ACTIVE, get
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import TRANSITIONS, RunStatus


def change(
    tx: Transaction, run_id: int, to: RunStatus, *, reason: str | None = None, exit_code: int | None = None
) -> Run:
    """Give a run another status; the row stays locked until the transaction ends.

    Leases are for who runs, or is suspended: a run that ends or waits again gives them back. When it ends, its open
    requests count as honoured, and a job's steps end with it.

    Args:
        tx: the transaction.
        run_id: which run.
        to: the new status.
        reason: why; stays until the next change.
        exit_code: of the process, when it is over.

    Raises:
        UnknownRun: there is no such run.
        IllegalTransition: its status does not allow it; nothing was changed.
    """
    legal = [old for old, followers in TRANSITIONS.items() if to in followers]
    now = tx.now()
    statement = (
        sa.update(run)
        .where(run.c.run_id == run_id, run.c.status.in_(legal))
        .values(status=to, reason=reason, exit_code=exit_code, **_consequences(to, now))
        .returning(run)
    )
    row = tx.execute(statement).mappings().first()
    if row is None:
        found = get(tx, run_id)
        raise IllegalTransition(subject=str(found), old=found.status, new=to)
    changed = Run(**row)
    if to not in ACTIVE:
        ending.tidy(tx, changed, now)
    return changed


def resume(tx: Transaction, run_id: int) -> Run:
    """Lead a suspended run back to where it was suspended: waiting, ready or running.

    Raises:
        UnknownRun: there is no such run.
        IllegalTransition: it is not suspended; nothing was changed.
    """
    found = tx.row(Run, tx.locked(sa.select(run).where(run.c.run_id == run_id))) or get(tx, run_id)
    if found.suspended_from is None:
        raise IllegalTransition(subject=str(found), old=found.status, new=RunStatus.RUNNING)
    return change(tx, run_id, found.suspended_from)


def _consequences(to: RunStatus, now: datetime) -> dict[str, object]:
    """What else changes with the status."""
    values: dict[str, object] = {"suspended_from": run.c.status if to is RunStatus.SUSPENDED else None}
    if to is RunStatus.RUNNING:
        values["started_at"] = sa.func.coalesce(run.c.started_at, sa.literal(now, run.c.started_at.type))
    if to.is_terminal:
        values["ended_at"] = now
    return values
