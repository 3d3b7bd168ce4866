"""Runs as the tests want them, and calls as transactions of their own."""

from __future__ import annotations

from toolkit.ledger.database import Ledger
from toolkit.ledger.runs import attempts, leases, queries, run_start, status
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.runs.rows import Origin, Run, RunKey
from toolkit.ledger.runs.run_start import Started, StartRequest
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle, RunStatus

ORIGIN = Origin(who="ada", snapshot="c0ffee", host="edge1", pid=4711, log_location="/logs/1")
LEASE_SECONDS = 60.0


def key(
    instance: str = "2026-03-20T12:00Z",
    *,
    entity: str = "clicks",
    cluster: str = "primary",
    life_cycle: LifeCycle = LifeCycle.EVICTION,
    counterpart: str = "",
) -> RunKey:
    """The key of a run; by default an eviction of clicks on primary."""
    return RunKey(life_cycle=life_cycle, entity=entity, cluster=cluster, instance_key=instance, counterpart=counterpart)


def alone(*resources: str) -> tuple[Wanted, ...]:
    """Exclusive leases."""
    return tuple(Wanted(resource=each) for each in resources)


def beside(*resources: str) -> tuple[Wanted, ...]:
    """Shared leases."""
    return tuple(Wanted(resource=each, mode=LeaseMode.SHARED) for each in resources)


def begun(ledger: Ledger, of: RunKey | None = None) -> Run:
    """A run that has begun, without leases."""
    return ledger.write(lambda tx: attempts.begin(tx, of or key(), ORIGIN))


def started(ledger: Ledger, of: RunKey | None = None, wanted: tuple[Wanted, ...] = alone("evict/clicks")) -> Started:
    """A run that has started with leases."""
    request = StartRequest(key=of or key(), origin=ORIGIN, leases=wanted, lease_seconds=LEASE_SECONDS)
    return ledger.write(lambda tx: run_start.start(tx, request))


def changed(ledger: Ledger, run: Run, to: RunStatus, reason: str | None = None) -> Run:
    """The run with another status."""
    return ledger.write(lambda tx: status.change(tx, run.run_id, to, reason=reason))


def owned(ledger: Ledger, run: Run) -> bool:
    """Return whether the run has a live owner."""
    return ledger.read(lambda tx: leases.is_owned(tx, run.run_id))


def found(ledger: Ledger, run: Run) -> Run:
    """The run as it is now."""
    return ledger.read(lambda tx: queries.get(tx, run.run_id))
