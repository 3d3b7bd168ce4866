"""Rules about time zones: local times that exist once, days that begin at midnight, dates in paths that are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from toolkit.el import Frequency, InstanceSequence, format_instant, load_zone, localize
from toolkit.el.zones import to_local
from toolkit.entities import Feed, Process
from toolkit.linter.clock_changes import ClockChange, clock_changes, year_from
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext

_DAY = timedelta(days=1)


def clock_change_slot(context: LintContext) -> Iterator[Hit]:
    """The local time at which a feed or a process steps exists once on every day."""
    repository = context.repository
    entities: list[Feed | Process] = [*repository.feeds.values(), *repository.processes.values()]
    for entity in entities:
        if _steps_in_zone(entity.frequency, entity.timezone):
            yield from _slot_hits(entity, context.time)


def _steps_in_zone(frequency: Frequency, timezone: str) -> bool:
    return frequency.elapsed is None and timezone != "UTC"


def _slot_hits(entity: Feed | Process, time: datetime) -> Iterator[Hit]:
    seen: set[str] = set()
    names = [each.name for each in entity.clusters]
    for position, name in enumerate(names):
        found = list(_odd_slots(entity.instances_on(name), time))
        message = f"clocks are changed in {entity.timezone}: {'; '.join(found)}"
        if found and message not in seen:
            seen.add(message)
            yield Hit(
                subject=entity.name,
                pointer=("clusters", position, "validity", "start"),
                message=message,
                hint=f"start at a local time at which the clocks of {entity.timezone} are never changed, such as noon",
            )


def _odd_slots(steps: InstanceSequence, time: datetime) -> Iterator[str]:
    """The slots of the coming year that do not exist, or come twice, in words."""
    zone = load_zone(steps.timezone)
    clock = to_local(steps.start, zone) - to_local(steps.start, zone).replace(hour=0, minute=0)
    for change in clock_changes(steps.timezone, *year_from(time)):
        for slot in _slots(change, clock):
            if localize(slot, zone) in steps:
                yield _words(change, slot, localize(slot, zone), steps)


def _slots(change: ClockChange, clock: timedelta) -> Iterator[datetime]:
    """The local times of this time of day that the change makes come twice, or never."""
    first, end = change.local
    day = first.replace(hour=0, minute=0, second=0)
    while day < end:
        if first <= day + clock < end:
            yield day + clock
        day += _DAY


def _words(change: ClockChange, slot: datetime, instant: datetime, steps: InstanceSequence) -> str:
    local = f"{slot:%Y-%m-%d %H:%M}"
    if change.is_set_back:
        return f"{local} comes twice, and the instance is its first, {format_instant(instant)}"
    shifted = to_local(instant, load_zone(steps.timezone))
    return f"{local} does not exist, and the instance is {format_instant(instant)}, {shifted:%H:%M} there"


CHECKS: Mapping[str, Check] = {
    "clock-change-slot": clock_change_slot,
}
