"""Rules about time zones: local times that exist once, days that begin at midnight, dates in paths that are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from toolkit.el import Frequency, InstanceSequence, OutOfRange, format_instant, load_zone, localize
from toolkit.el.fields import COARSE_TO_FINE, Field
from toolkit.el.zones import to_local
from toolkit.entities import Feed, Process
from toolkit.linter.clock_changes import ClockChange, clock_changes, year_from
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext
from toolkit.linter.rules.paths import Names, shared_at_changes

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
            midnight = _meant_midnight(entity.clusters[position].validity.start, entity.timezone)
            at = "midnight" if _belongs_at_midnight(entity, midnight, time) else "noon"
            yield Hit(
                subject=entity.name,
                pointer=("clusters", position, "validity", "start"),
                message=message,
                hint=f"start at a local time at which the clocks of {entity.timezone} are never changed, such as {at}",
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


def local_midnight(context: LintContext) -> Iterator[Hit]:
    """The days and months of a zone begin at its midnight."""
    repository = context.repository
    entities: list[Feed | Process] = [*repository.feeds.values(), *repository.processes.values()]
    for entity in entities:
        starts = [each.validity.start for each in entity.clusters]
        for position, start in enumerate(starts if _steps_in_zone(entity.frequency, entity.timezone) else ()):
            meant = _meant_midnight(start, entity.timezone)
            if meant == start or (isinstance(entity, Feed) and _is_path_midnight(entity, start)):
                continue
            if _is_quiet(entity, meant, context.time):
                if isinstance(entity, Feed) or _is_a_slip(start, entity.timezone):
                    hint = f"start: {format_instant(meant)} is midnight in {entity.timezone}"
                    yield _midnight_hit(entity, position, start, hint)
            elif _is_midnight(start) and _is_other_day(start, entity.timezone):
                noon = localize(start.replace(hour=12, tzinfo=None), load_zone(entity.timezone))
                hint = (
                    f"start: {format_instant(noon)} is noon in {entity.timezone}, whose clocks are changed at midnight"
                )
                yield _midnight_hit(entity, position, start, hint)


def _is_path_midnight(feed: Feed, start: datetime) -> bool:
    """Return whether a start is midnight in the zone of the feed's paths, another one: `path-timezone` has that."""
    if feed.path_timezone in {feed.timezone, "UTC"}:
        return False
    try:
        return _is_midnight(to_local(start, load_zone(feed.path_timezone)))
    except OutOfRange:  # the first hours of year 1 have no local time in the west
        return False


def _belongs_at_midnight(entity: Feed | Process, midnight: datetime, time: datetime) -> bool:
    """Return whether days begin at midnight: those of a feed, in a zone that does not change its clocks just then."""
    return isinstance(entity, Feed) and _is_quiet(entity, midnight, time)


def _is_quiet(entity: Feed | Process, midnight: datetime, time: datetime) -> bool:
    """Return whether the zone does not change its clocks at midnight."""
    return not any(_odd_slots(InstanceSequence(midnight, entity.frequency, entity.timezone), time))


def _is_midnight(time: datetime) -> bool:
    return (time.hour, time.minute) == (0, 0)


def _is_other_day(start: datetime, timezone: str) -> bool:
    """Return whether the written day is not the local one."""
    return to_local(start, load_zone(timezone)).date() != start.date()


def _is_a_slip(start: datetime, timezone: str) -> bool:
    """Return whether midnight UTC was written for local midnight: processes run at noon, but not at night."""
    is_night = to_local(start, load_zone(timezone)).hour < _MORNING
    return _is_midnight(start) and (is_night or _is_other_day(start, timezone))


_MORNING = 6


def _meant_midnight(start: datetime, timezone: str) -> datetime:
    """The local midnight of the day that is written, for midnight UTC; else the nearest one. Some days have none."""
    zone = load_zone(timezone)
    try:
        near = start.replace(tzinfo=None) if _is_midnight(start) else to_local(start, zone) + _DAY / 2
        day = near.replace(hour=0, minute=0)
        found = localize(day, zone)
        return found if to_local(found, zone) == day else localize(day + _DAY, zone)
    except (OutOfRange, OverflowError):  # the ends of the calendar
        return start


def _midnight_hit(entity: Feed | Process, position: int, start: datetime, hint: str) -> Hit:
    local = to_local(start, load_zone(entity.timezone))
    return Hit(
        subject=entity.name,
        pointer=("clusters", position, "validity", "start"),
        message=(
            f"{format_instant(start)} is {local:%Y-%m-%d %H:%M} in {entity.timezone}, not midnight: "
            f"every instance begins at {local:%H:%M} there"
        ),
        hint=hint,
    )


def path_zone(context: LintContext) -> Iterator[Hit]:
    """The date in a path is the day that the instance stands for."""
    for _, feed in sorted(context.repository.feeds.items()):
        zones = feed.timezone, feed.path_timezone
        if feed.frequency.elapsed is None and zones[0] != zones[1]:
            found = (_other_day(feed, each.name) for each in feed.clusters)
            instance = next((each for each in found if each is not None), None)
            if instance is not None:
                yield _zone_hit(feed, instance, context.time)


def _other_day(feed: Feed, cluster: str) -> datetime | None:
    """The first instance of some that has another date in the zone of paths; zones may differ in summer only."""
    steps = feed.instances_on(cluster)
    own, other = load_zone(steps.timezone), load_zone(feed.path_timezone)
    parts = _dated_by(feed.table_on(cluster) or feed.locations_on(cluster).data or "")
    try:
        some = islice(steps, _A_YEAR_OF_DAYS if parts else 0)
        return next((each for each in some if _date(each, own)[:parts] != _date(each, other)[:parts]), None)
    except OutOfRange:
        return None


_A_YEAR_OF_DAYS = 366


def _dated_by(text: str) -> int:
    """Return the smallest date field of a template: paths of months have no days."""
    return sum(f"${{{field}}}" in text for field in (Field.YEAR, Field.MONTH, Field.DAY))


def _date(instant: datetime, zone: ZoneInfo) -> tuple[int, int, int]:
    local = to_local(instant, zone)
    return local.year, local.month, local.day


def _zone_hit(feed: Feed, instance: datetime, time: datetime) -> Hit:
    is_midnight = any(_is_path_midnight(feed, each.validity.start) for each in feed.clusters)
    meant = f"timezone: {feed.path_timezone}, in which the validity begins at midnight; or " if is_midnight else ""
    own, named = (to_local(instance, load_zone(zone)) for zone in (feed.timezone, feed.path_timezone))
    pairs = [pair for each in feed.clusters for pair in _shared(feed, each.name, time)]
    shared = f"; {' and '.join(map(format_instant, pairs[0]))} have one path, where clocks change" if pairs else ""
    return Hit(
        subject=feed.name,
        pointer=("table",) if feed.is_table else ("locations", "data"),
        message=(
            f"the feed steps in {feed.timezone} and its paths are dated in {feed.path_timezone}: the instance of "
            f"{own:%Y-%m-%d} lies in the path of {named:%Y-%m-%d}{shared}"
        ),
        hint=f"{meant}path_timezone: {feed.timezone}, before there is data; with data the old paths are left behind",
    )


def _shared(feed: Feed, cluster: str, time: datetime) -> tuple[tuple[datetime, datetime], ...]:
    """Return the instances that have one path on a cluster because clocks are changed."""
    text = feed.table_on(cluster) or feed.locations_on(cluster).data or ""
    finest = next((field for field in reversed(COARSE_TO_FINE) if f"${{{field}}}" in text), None)
    if finest is None:
        return ()
    names = Names(finest=finest, timezone=feed.path_timezone)
    return shared_at_changes(feed.instances_on(cluster), names, feed.timezone, time)


CHECKS: Mapping[str, Check] = {
    "local-midnight": local_midnight,
    "path-timezone": path_zone,
    "clock-change-slot": clock_change_slot,
}
