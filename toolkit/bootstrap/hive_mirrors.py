"""Mirrors of databases, wired."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from toolkit.bootstrap.hive import catalog_of
from toolkit.hive.mirror_events import CURSOR, EventCursor
from toolkit.hive.mirror_recovery import EarlierRuns
from toolkit.ledger.runs.counters import newest
from toolkit.ledger.runs.queries import Subject, over, unsuccessful
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.process_runner.hive_mirrors import HiveMirrors

if TYPE_CHECKING:
    from toolkit.entities import Cluster
    from toolkit.ledger.database import Ledger
    from toolkit.planning.delete_limits import DeleteLimits

_RUNS = 5
"""So many runs of a mirror are looked at for what they left."""


def hive_mirrors(
    ledger: Ledger | None,
    cluster: Callable[[str], Cluster],
    limits: DeleteLimits,
    *,
    approve: str | None,
    is_dry_run: bool,
) -> HiveMirrors:
    """Return the action of mirrors of databases.

    Args:
        ledger: knows earlier runs; None: a dry run before the first run.
        cluster: the cluster of a name.
        limits: of what a run drops.
        approve: digest of a removal that may exceed the limits.
        is_dry_run: nothing is changed.
    """
    return HiveMirrors(
        cluster=cluster,
        catalog=catalog_of,
        earlier=partial(_earlier_runs, ledger),
        limits=limits,
        approve=approve,
        is_dry_run=is_dry_run,
    )


def _earlier_runs(ledger: Ledger | None, mirror: str, cluster: str) -> EarlierRuns:
    """Return what the ledger keeps of a mirror; a dry run before the first run has no ledger."""
    if ledger is None:
        return EarlierRuns()
    subject = Subject(entity=mirror, life_cycle=LifeCycle.EXECUTION, cluster=cluster)
    counted = ledger.read(lambda tx: newest(tx, subject, CURSOR))
    dead = ledger.read(lambda tx: unsuccessful(tx, subject, _RUNS))
    return EarlierRuns(
        cursor=EventCursor.of(counted), dead=dead, over=lambda ids: ledger.read(lambda tx: over(tx, subject, ids))
    )
