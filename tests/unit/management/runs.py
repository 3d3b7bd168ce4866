"""Runs of the management tests."""

from __future__ import annotations

from tests.contract.ledger.samples import begun, changed, key
from toolkit.el import parse_instant
from toolkit.ledger.database import Ledger
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import LifeCycle, RunStatus
from toolkit.management.locations import RequestedRange
from toolkit.management.questions import InstanceList


def execution(ledger: Ledger, instance: str, status: RunStatus = RunStatus.SUCCEEDED, name: str = "count_job") -> Run:
    """A run of a process on primary, with that status."""
    return _with_status(ledger, instance, status, name, LifeCycle.EXECUTION)


def eviction(ledger: Ledger, instance: str, status: RunStatus = RunStatus.SUCCEEDED) -> Run:
    """An eviction of clicks on primary, with that status."""
    return _with_status(ledger, instance, status, "clicks", LifeCycle.EVICTION)


def requested(start: str | None = None, end: str | None = None) -> RequestedRange:
    """What `--start` and `--end` say."""
    return RequestedRange(
        start=None if start is None else parse_instant(start), end=None if end is None else parse_instant(end)
    )


def states(found: InstanceList) -> list[tuple[str, str, int]]:
    """Instance, status and attempt of each row."""
    return [(row.instance_key, row.status, row.attempt) for row in found.rows]


def _with_status(ledger: Ledger, instance: str, status: RunStatus, name: str, life_cycle: LifeCycle) -> Run:
    run = begun(ledger, key(instance, entity=name, life_cycle=life_cycle))
    return run if status is RunStatus.RUNNING else changed(ledger, run, status)
