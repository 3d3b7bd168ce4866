"""An hourly process for tests, what the ledger has of its instances, and how runs of it ended."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from tests.unit.planning.entities import cluster, process
from toolkit.actions.model import ItemResult, Problem
from toolkit.actions.result import TargetResult
from toolkit.el import Frequency, format_instant
from toolkit.entities import Order, Process, Retry, RetryPolicy
from toolkit.entities.trigger import Trigger
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.ledger.runs.instances import NewestAttempt
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.planner import MISSING_INPUTS, blank_plan
from toolkit.process_runner.targets import InstanceResult, ProcessTarget, StepItem
from toolkit.runs.recorder import RecordedRun

MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)
KEYS = [format_instant(MIDNIGHT + timedelta(hours=hour)) for hour in range(24)]
TWICE = Retry(policy=RetryPolicy.EXP_BACKOFF, delay=Frequency.parse("minutes(10)"), attempts=2)


def site(
    *,
    order: Order = Order.FIFO,
    parallel: int = 1,
    retry: Retry | None = None,
    schedule: ScheduleMode = ScheduleMode.ONLY,
    trigger: Trigger | None = None,
) -> ProcessSite:
    made: Process = process(start="2026-03-01T00:00Z")
    own = replace(made, order=order, parallel=parallel, retry=retry, schedule=schedule, trigger=trigger)
    return ProcessSite(process=own, cluster=cluster(), feeds={})


def attempt(
    hour: int,
    status: RunStatus,
    *,
    run_id: int = 7,
    retry: int | None = None,
    retry_at: datetime | None = None,
    created_at: datetime = MIDNIGHT,
    number: int = 1,
) -> tuple[str, NewestAttempt]:
    """Return what the ledger has of an instance, by its key."""
    has_begun = status not in {RunStatus.WAITING, RunStatus.READY, RunStatus.SKIPPED}
    found = NewestAttempt(
        instance_key=KEYS[hour], run_id=run_id, attempt=number, status=status, cause=None, retry=retry,
        retry_at=retry_at, created_at=created_at, started_at=created_at if has_begun else None, ended_at=None,
    )  # fmt: skip
    return KEYS[hour], found


@dataclass
class HandClock:
    """A clock that is moved by hand."""

    at: datetime = MIDNIGHT + timedelta(days=1)

    def now(self) -> datetime:
        return self.at


def ended(
    target: ProcessTarget,
    code: str = "",
    *,
    failed: Problem | None = None,
    skipped: str = "",
    waits: bool = False,
    run_id: int = 1,
) -> InstanceResult:
    """The end of a run: its step succeeded, unless something is said."""
    item = StepItem(name="main", engine=None, path="run.sh", instance_key=target.instance_key)
    plan = replace(
        blank_plan(target),
        failed=failed,
        skipped=Problem(code=skipped, message="") if skipped else None,
        waiting=Problem(code=MISSING_INPUTS, message="") if waits else None,
    )
    key = RunKey(life_cycle=LifeCycle.EXECUTION, entity="sample", cluster="primary", instance_key=target.instance_key)
    items = (ItemResult.failed(item, code, "") if code else ItemResult.done(item),)
    has_run = failed is None and not skipped and not waits
    return TargetResult(plan=plan, items=items if has_run else (), run=RecordedRun(key=key, run_id=run_id, attempt=1))
