"""The next attempt of a run key.

Attempts are numbered without gaps and only the newest can be open. So whoever loses a race for the next number looks at
the newest attempt again and finds another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import sqlalchemy as sa

from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.tables import run
from toolkit.ledger.transaction import Transaction
from toolkit.ledger.vocabulary import RunStatus

_NOT_BEGUN = (RunStatus.WAITING, RunStatus.READY)


def add(tx: Transaction, key: RunKey, newest: Run | None, origin: Origin, values: Mapping[str, object]) -> Run | None:
    """Insert the attempt after the newest; None when another one is in its way, which has been added meanwhile.

    No index is named: of two that insert at once, the loser may meet the other in whichever index comes first.
    """
    row = {**asdict(key), **asdict(origin), "attempt": newest.attempt + 1 if newest else 1, **values}
    insert = tx.upsert(run).values(**row).on_conflict_do_nothing()
    added = tx.execute(insert.returning(run)).mappings().first()
    return None if added is None else Run(**added)


def update(tx: Transaction, found: Run, values: Mapping[str, object]) -> Run:
    """Change other columns of an attempt than its status."""
    statement = sa.update(run).where(run.c.run_id == found.run_id).values(**values).returning(run)
    return Run(**tx.execute(statement).mappings().one())


def is_still_not_begun(tx: Transaction, found: Run) -> bool:
    """Whether an attempt waits or is ready; then its row is locked.

    To be asked before its status changes: from a status that it has got since, the change may be legal and yet not what
    is meant.
    """
    row = sa.select(run.c.run_id).where(run.c.run_id == found.run_id, run.c.status.in_(_NOT_BEGUN))
    return tx.execute(tx.locked(row)).first() is not None


def job_of(newest: Run | None) -> dict[str, object]:
    """What makes the next attempt a job of the same process, and of the same target batch if that is not made yet."""
    if newest is None:
        return {}
    target = None if newest.status is RunStatus.SUCCEEDED else newest.target_batch_id
    return {"process_id": newest.process_id, "mode": newest.mode, "target_batch_id": target}
