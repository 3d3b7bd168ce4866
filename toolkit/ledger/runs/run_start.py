"""Start of every run: safe mode, suspended entity, number of runs, leases, row (DESIGN section 1, layer runs)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.database import Transaction
from toolkit.ledger.runs import attempts, leases, queries
from toolkit.ledger.runs.errors import TooManyRun
from toolkit.ledger.runs.leases import Cleared, Wanted
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.status import IsGone, never_known
from toolkit.ledger.state import start_check
from toolkit.ledger.vocabulary import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class StartTerms:
    """On which terms a run starts that several processes may want to start, each by what it saw before.

    Attributes:
        most: so many runs of the entity may be under way on the cluster, this one among them; None: any number.
        seen: the number of the last attempt that was over when the start was decided on, 0 when there was none: what
            has run since then is not run once more. None: it is.
        is_forced: it starts at the first step, whatever succeeded before.
        retry: which retry of a failure it is, from 1; None: none.
        cause: why it starts when no person asked for it; then it leaves an attempt alone that a person has ordered.
    """

    most: int | None = None
    seen: int | None = None
    is_forced: bool = False
    retry: int | None = None
    cause: str | None = None


FREELY = StartTerms()
"""Whatever else runs or has run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StartRequest:
    """Request to start a run.

    Attributes:
        key: what is run.
        origin: who runs it.
        leases: what it needs; a run without any has no owner that could be missed.
        lease_seconds: from now until they expire.
        terms: what else has to be so.
    """

    key: RunKey
    origin: Origin
    leases: tuple[Wanted, ...]
    lease_seconds: float
    terms: StartTerms = FREELY


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
        TooManyRun: as many runs of the entity as may be are under way.
        LeaseHeld: another run holds what it needs.
        RunIsActive: the same key runs already.
        RunMeanwhile: it has run since the start was decided.
        RunIsOrdered: a person has ordered it, and this start has another cause.
        InstanceSuspended: this instance was suspended before it began.
        InstanceKilled: this instance was killed before it began.
    """
    key, terms = request.key, request.terms
    start_check.check(tx, key.entity, key.cluster)
    if terms.most is not None:
        refuse_crowd(tx, key, terms.most, is_gone)
    cleared = leases.clear(tx, request.leases, starting=key, is_gone=is_gone)
    seen = None if terms.seen is None else max(terms.seen, *(each.run_id for each in cleared.killed), 0)
    run = attempts.begin(
        tx,
        key,
        request.origin,
        is_forced=terms.is_forced,
        at=cleared.at,
        seen=seen,
        retry=terms.retry,
        cause=terms.cause,
    )
    expires_at = leases.give(tx, run.run_id, cleared, request.lease_seconds)
    return Started(run=run, expires_at=expires_at, taken_over=cleared.killed)


def refuse_crowd(tx: Transaction, key: RunKey, most: int, is_gone: IsGone) -> None:
    """Return when one more run may begin, or go on; who starts another one waits until this transaction is over.

    Those of dead owners do not count. They are left as they are: who starts their instance takes over from them.

    Raises:
        TooManyRun: enough are under way.
    """
    leases.lock(tx, [f"parallel/{key.life_cycle}/{key.entity}/{key.cluster}"])
    beside = {each.run_id: each for each in queries.active(tx, key.entity) if _is_beside(each, key)}
    if len(beside) < most:
        return
    under_way = sum(not is_gone(beside[run_id]) for run_id in leases.owned(tx, beside))
    if under_way >= most:
        raise TooManyRun(key=key, most=most, under_way=under_way)


def _is_beside(run: Run, key: RunKey) -> bool:
    """Return whether a run takes the place of another of the same kind; a run of the same key is found by its lease."""
    same = (run.life_cycle, run.cluster) == (key.life_cycle, key.cluster)
    return same and run.key != key and run.status is RunStatus.RUNNING


def start_many(tx: Transaction, requests: Sequence[StartRequest]) -> tuple[Run | None, ...]:
    """Start the runs that nothing stands against, with about ten statements for all of them.

    Returns:
        For each request its run, or None when something is in its way or has to be put away first, of others or of an
        earlier request: then `start` does that, or says why it does not start.
    """
    places = {(each.key.entity, each.key.cluster) for each in requests}
    allowed = start_check.startable(tx, places)
    allowed_requests = [
        each for each in requests if each.terms == FREELY and (each.key.entity, each.key.cluster) in allowed
    ]
    cleared = leases.clear_many(tx, [each.leases for each in allowed_requests])
    clear: dict[RunKey, tuple[StartRequest, Cleared]] = {}
    for each, found in zip(allowed_requests, cleared, strict=True):
        if found is not None:
            clear.setdefault(each.key, (each, found))
    if not clear:
        return (None,) * len(requests)
    at = next(iter(clear.values()))[1].at
    begun = attempts.begin_new(tx, {key: each.origin for key, (each, _) in clear.items()}, at)
    leases.give_many(tx, [(run.run_id, clear[key][1], clear[key][0].lease_seconds) for key, run in begun.items()])
    return tuple(begun.get(each.key) if clear.get(each.key, (None,))[0] is each else None for each in requests)
