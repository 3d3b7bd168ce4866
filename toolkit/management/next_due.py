"""Next times at which actions have something to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from toolkit.el import format_instant, shift
from toolkit.entities import Process
from toolkit.entities.trigger_vocabulary import ScheduleMode
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.management.locations import locations_of

if TYPE_CHECKING:
    from toolkit.ledger.runs.queries import Subject
    from toolkit.management.overview import OverviewRow, Watched

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueAction:
    """Next time of an action.

    Attributes:
        instance_key: the instance that is due then; empty: none in particular, as of an eviction.
    """

    subject: Subject
    instance_key: str = ""
    due_at: datetime


def next_due(actions: Iterable[tuple[Watched, OverviewRow]], at: datetime) -> Iterator[DueAction]:
    """Yield the next time after an instant of each action; what is overdue, suspended or over has none.

    Args:
        actions: each with its state.
        at: the instant.
    """
    for watched, row in actions:
        if row.suspension is None and at < watched.validity.end:
            found = _eviction(watched, row) if row.life_cycle is LifeCycle.EVICTION else _instance(watched, at)
            if found is not None and found.due_at > at:
                yield found


def _eviction(watched: Watched, row: OverviewRow) -> DueAction | None:
    """Return the next run by the cadence; before the first success that is when the entity becomes valid."""
    last = None if row.last_success is None else row.last_success.ended_at
    cadence = watched.cadence
    due_at = watched.due_from if last is None else shift(last, cadence.frequency, 1, cadence.timezone)
    return DueAction(subject=watched.subject, due_at=due_at)


def _instance(watched: Watched, at: datetime) -> DueAction | None:
    """Return the next instance; updates of data, which start some processes, have no time."""
    entity, subject, delay = watched.entity, watched.subject, watched.delay
    if isinstance(entity, Process) and entity.schedule is ScheduleMode.NEVER:
        return None
    for location in locations_of(entity, subject.life_cycle, (subject.cluster,)):
        if location.counterpart != subject.counterpart or location.sequence is None:
            continue
        begin = at if delay is None else shift(at, delay, -1, entity.timezone)
        instant = location.sequence.at_or_after(max(begin + _MICROSECOND, watched.validity.start))
        if instant is None or instant >= watched.validity.end:
            return None
        due_at = instant if delay is None else shift(instant, delay, 1, entity.timezone)
        return DueAction(subject=subject, instance_key=format_instant(instant), due_at=due_at)
    return None
