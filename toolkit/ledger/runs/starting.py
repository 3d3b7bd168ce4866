"""How every action starts: safe mode, suspended entity, leases, row, in this order (DESIGN section 1, layer runs)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.database import Transaction
from toolkit.ledger.runs import attempts, leases
from toolkit.ledger.runs.leases import Cleared, Wanted
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.status import IsGone, never_known
from toolkit.ledger.state import start_check


@dataclass(frozen=True, kw_only=True, slots=True)
class StartRequest:
    """What is to start.

    Attributes:
        key: what is run.
        origin: who runs it.
        leases: what it needs; a run without any has no owner that could be missed.
        lease_seconds: from now until they expire.
    """

    key: RunKey
    origin: Origin
    leases: tuple[Wanted, ...]
    lease_seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """A run that has started.

    Attributes:
        run: its row.
        expires_at: when its leases expire, by the database's clock.
        taken_over: runs whose owners were found dead on the way; they are KILLED now.
    """

    run: Run
    expires_at: datetime
    taken_over: tuple[Run, ...] = ()


def start(tx: Transaction, request: StartRequest, is_gone: IsGone = never_known) -> Started:
    """Start a run, or change nothing.

    Args:
        tx: the transaction.
        request: what is to start.
        is_gone: asked about the owner of a lease that is in the way.

    Raises:
        SafeModeIsOn: nothing starts at present.
        EntityIsSuspended: nothing of this entity starts here.
        LeaseHeld: another run holds what it needs.
        RunIsActive: the same key runs already.
        InstanceSuspended: somebody suspended this instance before it began.
        InstanceKilled: somebody killed this instance before it began.
    """
    key = request.key
    start_check.check(tx, key.entity, key.cluster)
    cleared = leases.clear(tx, request.leases, starting=key, is_gone=is_gone)
    run = attempts.begin(tx, key, request.origin, at=cleared.at)
    expires_at = leases.give(tx, run.run_id, cleared, request.lease_seconds)
    return Started(run=run, expires_at=expires_at, taken_over=cleared.killed)


def start_many(tx: Transaction, requests: Sequence[StartRequest]) -> tuple[Run | None, ...]:
    """Start the runs that nothing stands against, with about ten statements for all of them.

    Returns:
        For each request its run, or None when something is in its way or has to be put away first, of others or of an
        earlier request: then `start` does that, or says why it does not start.
    """
    places = {(each.key.entity, each.key.cluster) for each in requests}
    allowed = start_check.startable(tx, places)
    asked = [each for each in requests if (each.key.entity, each.key.cluster) in allowed]
    cleared = leases.clear_many(tx, [each.leases for each in asked])
    clear: dict[RunKey, tuple[StartRequest, Cleared]] = {}
    for each, found in zip(asked, cleared, strict=True):
        if found is not None:
            clear.setdefault(each.key, (each, found))
    if not clear:
        return (None,) * len(requests)
    at = next(iter(clear.values()))[1].at
    begun = attempts.begin_new(tx, {key: each.origin for key, (each, _) in clear.items()}, at)
    leases.give_many(tx, [(run.run_id, clear[key][1], clear[key][0].lease_seconds) for key, run in begun.items()])
    return tuple(begun.get(each.key) if clear.get(each.key, (None,))[0] is each else None for each in requests)
