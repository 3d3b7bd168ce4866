"""How every action starts: safe mode, suspended entity, leases, row, in this order (DESIGN section 1, layer runs)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from toolkit.ledger.runs import attempts, leases
from toolkit.ledger.runs.clearing import Wanted, clear
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.state import gate
from toolkit.ledger.transaction import Transaction


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


def start(tx: Transaction, request: StartRequest) -> Started:
    """Start a run, or change nothing.

    Raises:
        SafeModeIsOn: nothing starts at present.
        EntityIsSuspended: nothing of this entity starts here.
        LeaseHeld: another run holds what it needs.
        RunIsActive: the same key runs already.
        InstanceSuspended: somebody suspended this instance before it began.
        InstanceKilled: somebody killed this instance before it began.
    """
    key = request.key
    gate.check(tx, key.entity, key.cluster)
    cleared = clear(tx, request.leases, starting=key)
    run = attempts.begin(tx, key, request.origin, at=cleared.at)
    expires_at = leases.give(tx, run.run_id, cleared, request.lease_seconds)
    return Started(run=run, expires_at=expires_at, taken_over=cleared.killed)
