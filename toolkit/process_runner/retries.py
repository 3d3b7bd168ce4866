"""When an instance that failed is tried again by itself (DESIGN section 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.actions.model import INTERRUPTED, TIMED_OUT, SkipReason
from toolkit.actions.validation import QUALITY_FAILED, QUALITY_UNKNOWN
from toolkit.el.frequency import shift
from toolkit.el.waits import WaitPolicy, retry_waits
from toolkit.process_runner.codes import HOPELESS
from toolkit.process_runner.planner import INVALID
from toolkit.result import Outcome, Status

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.entities import Process
    from toolkit.process_runner.targets import InstanceResult


_BLOCKED = frozenset({QUALITY_FAILED, QUALITY_UNKNOWN})


def retry_at(process: Process, retries: int, result: InstanceResult, ended: datetime) -> datetime | None:
    """When an instance is tried again; None: it is not.

    Args:
        process: whose policy counts.
        retries: so many times it was tried again already.
        result: how it ended; what was killed is never tried again, nor what another try cannot help.
        ended: when, UTC; each wait is counted from the failure before it.
    """
    retry = process.retry
    if retry is None or retries >= retry.attempts or not _can_help(result, on_timeout=retry.on_timeout):
        return None
    wait = retry_waits(WaitPolicy(retry.policy), retry.delay, retries + 1)[retries]
    return shift(ended, wait, 1, process.timezone)


def _can_help(result: InstanceResult, *, on_timeout: bool) -> bool:
    if result.stopped is not None:
        return result.stopped.status is not Status.KILLED
    failed = result.plan.failed
    if failed is not None:
        return on_timeout if failed.code == TIMED_OUT else failed.code not in {INVALID, *_BLOCKED}
    codes = {each.code for each in result.items if each.outcome is Outcome.FAILED}
    return bool(codes) and codes.isdisjoint({HOPELESS, INTERRUPTED, SkipReason.REFUSED})
