"""What happens to a run whose owner is found dead: its lease expired by the database's clock, and somebody noticed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa

from toolkit.ledger.runs import status
from toolkit.ledger.runs.finding import is_of
from toolkit.ledger.runs.rows import Run, RunKey
from toolkit.ledger.tables import lease, run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus
from toolkit.ledger.wording import moment


def put_away(
    tx: Transaction, run_ids: Collection[int], at: datetime, starting: RunKey | None = None
) -> tuple[Run, ...]:
    """Take all leases from those of the runs that have an expired one; a run that was RUNNING is KILLED.

    One that is suspended stays so, without an owner: whoever suspended it meant it.

    Args:
        tx: the transaction, which has locked the resources.
        run_ids: runs that seem to have an expired lease.
        at: the present instant by the database's clock.
        starting: the key of a run that is to begin in this transaction; an attempt that waits for that is locked too.

    Returns:
        The runs that were killed.
    """
    owners = _locked(tx, run_ids, starting)
    # Only now is it certain: a heartbeat locks the run's row too, and may just have come.
    expired = _expired(tx, run_ids, at)
    tx.execute(sa.delete(lease).where(lease.c.run_id.in_(expired)))
    dead = (each for each in owners if each.run_id in expired and each.status is RunStatus.RUNNING)
    return tuple(
        status.change(tx, each.run_id, RunStatus.KILLED, reason=_reason(expired[each.run_id])) for each in dead
    )


def _expired(tx: Transaction, run_ids: Collection[int], at: datetime) -> dict[int, datetime]:
    """When the first lease of each run expired, if one has."""
    first = sa.func.min(lease.c.expires_at)
    statement = sa.select(lease.c.run_id, first).where(lease.c.run_id.in_(run_ids)).group_by(lease.c.run_id)
    rows = tx.execute(statement.having(first <= at)).tuples()
    return {run_id: expired_at for run_id, expired_at in rows}  # noqa: C416 - dict() takes a result for a mapping


def _reason(expired_at: datetime) -> str:
    return f"its lease expired at {moment(expired_at)}: its owner died or was cut off"


def _locked(tx: Transaction, run_ids: Collection[int], starting: RunKey | None) -> list[Run]:
    """All rows that this transaction will change, in one go: everybody locks runs in the order of their numbers."""
    in_question: list[sa.ColumnElement[bool]] = [run.c.run_id.in_(run_ids)]
    if starting is not None:
        in_question.append(is_of(starting) & run.c.status.in_([RunStatus.WAITING, RunStatus.READY]))
    rows = sa.select(run).where(sa.or_(*in_question)).order_by(run.c.run_id)
    return list(tx.rows(Run, tx.locked(rows)))
