"""The runs that late data leads to: which instances run again, and by which workflow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el.frequency import shift
from toolkit.planning.late_schedule import late_workflow
from toolkit.process_runner.slots import InstanceQueue, QueuedInstance
from toolkit.process_runner.targets import ProcessTarget

if TYPE_CHECKING:
    from toolkit.planning.process_io import ProcessSite
    from toolkit.process_runner.due import Known
    from toolkit.process_runner.late_checks import CheckedInstance


def late_line(site: ProcessSite, checked: Iterable[CheckedInstance], known: Known, now: datetime) -> InstanceQueue:
    """The instances that run again, oldest first.

    Args:
        site: the process on its cluster.
        checked: what was found to be late.
        known: the newest attempt of each instance, as it was before that was looked at: what has run
            since is not run once more.
        now: of the wall clock, UTC.
    """
    candidates = (_candidate(site, each, known, now) for each in checked)
    return InstanceQueue(candidates=tuple(candidates), at_once=site.process.parallel)


def _candidate(site: ProcessSite, each: CheckedInstance, known: Known, now: datetime) -> QueuedInstance:
    own = site.process
    target = ProcessTarget(
        site=replace(site, process=replace(own, workflow=late_workflow(own, each.changed))),
        nominal_time=each.due.nominal_time,
        waits_until=shift(now, own.effective_timeout, 1, own.timezone),
        is_forced=True,
        late=each,
    )
    newest = known.get(each.due.instance_key)
    seen = 0 if newest is None else newest.run_id if newest.status.is_terminal else newest.run_id - 1
    return QueuedInstance(target=target, seen=seen)
