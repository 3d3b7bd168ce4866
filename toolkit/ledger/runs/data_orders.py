"""Attempts that updates of data order: rows that are ready, which the next start takes."""

from __future__ import annotations

from collections.abc import Mapping

from toolkit.ledger.database import Transaction
from toolkit.ledger.runs.attempts import job_of, may_follow, undo_retries
from toolkit.ledger.runs.rows import RUN_KEY, Origin, Run, RunKey
from toolkit.ledger.statements import if_new
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import RunStatus


def order_by_data(
    tx: Transaction, orders: Mapping[RunKey, Origin], known: Mapping[RunKey, Run], cause: str
) -> dict[RunKey, Run]:
    """Order attempts of instances whose data was updated: READY rows, which the next `begin` takes.

    An instance that ran before starts at the first step again, since what it read is not the same any more.

    Args:
        tx: the transaction.
        orders: who orders each.
        known: the newest attempts of those keys that have one, as `queries.newest_of` returns them.
        cause: why, for people.

    Returns:
        The ordered attempts. A key is left out when its newest attempt is not over, was killed before it began, or was
        added by another process meanwhile.
    """
    at = tx.now()
    rows = [
        {
            **{name: getattr(key, name) for name in RUN_KEY},  # `asdict` takes ten times as long
            **{name: getattr(origin, name) for name in _ORIGIN},
            **_NO_JOB,
            **job_of(known.get(key)),
            "attempt": known[key].attempt + 1 if key in known else 1,
            "status": RunStatus.READY,
            "is_forced": key in known,
            "cause": cause,
            "created_at": at,
        }
        for key, origin in orders.items()
        if key not in known or may_follow(known[key])
    ]
    if not rows:
        return {}
    added = [Run(**row) for row in tx.execute(if_new(run), rows).mappings()]
    undo_retries(tx, (known[each.key] for each in added if each.key in known))
    return {each.key: each for each in added}


_ORIGIN = tuple(Origin.__dataclass_fields__)


_NO_JOB: Mapping[str, object] = dict.fromkeys(("process_id", "mode", "target_batch_id"))
