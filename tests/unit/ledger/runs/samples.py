"""Runs that never saw a database."""

from __future__ import annotations

from datetime import UTC, datetime

from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)


def a_run(
    status: RunStatus = RunStatus.RUNNING,
    *,
    reason: str | None = None,
    host: str | None = "edge1",
    pid: int | None = 4711,
    owner_mark: str | None = None,
    counterpart: str = "",
) -> Run:
    """The second attempt of an eviction."""
    return Run(
        run_id=12,
        life_cycle=LifeCycle.EVICTION,
        entity="clicks",
        cluster="primary",
        counterpart=counterpart,
        instance_key="2026-03-20T12:00Z",
        attempt=2,
        status=status,
        suspended_from=None,
        is_forced=False,
        process_id=None,
        mode=None,
        target_batch_id=None,
        target_marking=None,
        snapshot=None,
        digest=None,
        versions=None,
        who="ada",
        host=host,
        pid=pid,
        owner_mark=owner_mark,
        application_id=None,
        log_location=None,
        exit_code=None,
        reason=reason,
        created_at=NOON,
        started_at=NOON,
        heartbeat_at=None,
        ended_at=None,
    )
