"""Rows of runs, written straight into the table, for tests that read many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import timedelta

import sqlalchemy as sa

from tests.databases.ledgers import START
from toolkit.el import format_instant
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

_STATUSES = (
    RunStatus.SUCCEEDED,
    RunStatus.FAILED,
    RunStatus.KILLED,
    RunStatus.SUCCEEDED,
    RunStatus.RUNNING,
    RunStatus.TIMED_OUT,
    RunStatus.SUCCEEDED,
    RunStatus.READY,
    RunStatus.SUSPENDED,
)
ENTITIES = ("clicks", "orders")
CLUSTERS = ("backup", "primary")
LIFE_CYCLES = (LifeCycle.EVICTION, LifeCycle.EXECUTION)
_BEGUN = frozenset(RunStatus) - {RunStatus.WAITING, RunStatus.READY}


def assorted() -> list[Run]:
    """Two entities on two clusters in two life cycles, 12 instances each, with one to three attempts."""
    runs: list[Run] = []
    for entity in ENTITIES:
        for cluster in CLUSTERS:
            for life_cycle in LIFE_CYCLES:
                runs += _instances(entity, cluster, life_cycle, len(runs) + 1)
    return runs


def instance(number: int) -> str:
    """The instance key of a number of hours after the first."""
    return format_instant(START + timedelta(hours=number))


def store(ledger: Ledger, runs: Sequence[Run]) -> None:
    """Insert the rows as they are."""
    ledger.write(lambda tx: tx.execute(sa.insert(run), [asdict(each) for each in runs]))


def _instances(entity: str, cluster: str, life_cycle: LifeCycle, first_id: int) -> Iterator[Run]:
    number = first_id
    for hours in range(12):
        attempts = 1 + (number + hours) % 3
        for attempt in range(1, attempts + 1):
            status = _STATUSES[number % len(_STATUSES)] if attempt == attempts else RunStatus.FAILED
            yield _run(number, entity, cluster, life_cycle, instance(hours), attempt, status)
            number += 1


def _run(
    number: int, entity: str, cluster: str, life_cycle: LifeCycle, key: str, attempt: int, status: RunStatus
) -> Run:
    begun = START + timedelta(seconds=number * 37 % 100)
    return Run(
        run_id=number,
        life_cycle=life_cycle,
        entity=entity,
        cluster=cluster,
        counterpart="",
        instance_key=key,
        attempt=attempt,
        status=status,
        suspended_from=RunStatus.RUNNING if status is RunStatus.SUSPENDED else None,
        is_forced=False,
        process_id=None,
        mode=None,
        target_batch_id=None,
        target_marking=None,
        snapshot=None,
        digest=None,
        versions=None,
        who="ada",
        host=None,
        pid=None,
        owner_mark=None,
        application_id=None,
        log_location=None,
        exit_code=None,
        reason=None,
        created_at=START,
        started_at=begun if status in _BEGUN else None,
        heartbeat_at=None,
        ended_at=begun + timedelta(seconds=number * 13 % 50) if status.is_terminal else None,
    )
