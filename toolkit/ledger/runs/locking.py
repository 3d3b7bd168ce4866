"""Runs locked for a command that decides by their state."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from toolkit.ledger.parts import in_parts
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import process, run
from toolkit.ledger.transaction import Transaction


def lock(tx: Transaction, runs: Collection[Run]) -> None:
    """Lock the rows of these runs until the transaction ends: first the processes that jobs belong to, then the runs.

    Each in the order of the numbers, as all that works on jobs does. What was read before may be out of date by then:
    read it again.
    """
    _lock(tx, process.c.process_id, {each.process_id for each in runs if each.process_id is not None})
    _lock(tx, run.c.run_id, {each.run_id for each in runs})


def _lock(tx: Transaction, column: sa.Column[int], numbers: Collection[int]) -> None:
    for part in in_parts(sorted(numbers)):
        tx.execute(tx.locked(sa.select(column).where(column.in_(part)).order_by(column))).all()
