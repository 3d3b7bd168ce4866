"""Rules about SLAs: deadlines that never come, or come too late, limits and calendars without an effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from toolkit.el import Frequency, OutOfRange, format_instant, shift
from toolkit.entities import Calendar, Feed, FeedCluster, FeedSla, Pointer, Repository
from toolkit.entities.source_files import CALENDARS_FOLDER
from toolkit.linter.durations import length_words, shortest
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext
from toolkit.planning.sla import NoDeadline, feed_moments, is_day_off

_LOOKED_AT = timedelta(days=366)
"""Deadlines of instances in so long a time are looked at, which has every weekday and each holiday of a year."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class _DeadlineYear:
    """Deadlines of the instances of a year.

    Attributes:
        comes: False: a deadline never comes.
        longest: the instance that waits longest for its high limit, with that limit; None: none is expected.
    """

    comes: bool = True
    longest: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _DeadlineUse:
    """An SLA with a deadline, where it counts.

    Attributes:
        pointer: of the SLA.
        calendar: None: every day counts.
    """

    feed: Feed
    there: FeedCluster
    pointer: Pointer
    sla: FeedSla
    calendar: Calendar | None

    def year(self, now: datetime) -> _DeadlineYear:
        """Return the deadlines of a year from today on."""
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return _year(self.sla, self.feed.timezone, self.calendar, day)


def _uses(repository: Repository) -> Iterator[_DeadlineUse]:
    """Yield the deadlines, by feed and cluster; one with an unknown calendar does not load."""
    for feed in repository.feeds.values():
        for index, each in enumerate(feed.clusters):
            sla = feed.sla_on(each.name)
            if sla is not None and sla.deadline is not None:
                pointer: Pointer = (*(("clusters", index) if each.sla else ()), "sla")
                calendar = repository.calendars.get(sla.deadline.calendar or "")
                yield _DeadlineUse(feed=feed, there=each, pointer=pointer, sla=sla, calendar=calendar)


@lru_cache(maxsize=4096)
def _year(sla: FeedSla, timezone: str, calendar: Calendar | None, first: datetime) -> _DeadlineYear:
    """Cached: thousands of feeds have few SLAs."""
    found: list[tuple[datetime, datetime]] = []
    try:
        for number in range(_LOOKED_AT // _DAY):
            instant = first + number * _DAY
            if not is_day_off(sla.deadline, instant, calendar):
                high_at = feed_moments(sla, instant, timezone, calendar).high_at
                found += [] if high_at is None else [(instant, high_at)]
    except (NoDeadline, OutOfRange):
        return _DeadlineYear(comes=False)
    return _DeadlineYear(longest=max(found, key=lambda each: each[1] - each[0], default=None))


def deadline_never(context: LintContext) -> Iterator[Hit]:
    """Find deadlines that no day of their calendar meets."""
    seen: set[tuple[str, Pointer]] = set()
    for use in _uses(context.repository):
        place = (use.feed.name, use.pointer)
        if place not in seen and (message := _never(use, context.time)):
            hint = "correct the cron expression, or the weekdays and holidays of the calendar"
            yield Hit(subject=use.feed.name, pointer=(*use.pointer, "deadline", "cron"), message=message, hint=hint)
        seen.add(place)


def _never(use: _DeadlineUse, now: datetime) -> str:
    deadline = use.sla.deadline
    cron, name = (deadline.cron, deadline.calendar) if deadline else ("", None)
    days = f"on a day of the calendar {name}" if name else "a day that exists"
    year = use.year(now)
    if not year.comes:
        return f"no time of {cron!r} is {days}: the deadline never comes"
    if year.longest is None:
        return f"the calendar {name} leaves out every day of the next year: no instance is expected"
    return ""


def deadline_too_late(context: LintContext) -> Iterator[Hit]:
    """Find deadlines after the retention limit or the late cut-off of an instance."""
    seen: set[tuple[str, Pointer, str]] = set()
    for use in _uses(context.repository):
        for what, length in _limits(use):
            late = _after(use, length, context.time)
            if late is not None and (use.feed.name, use.pointer, what) not in seen:
                seen.add((use.feed.name, use.pointer, what))
                instant, high_at = late
                yield Hit(
                    subject=use.feed.name,
                    pointer=(*use.pointer, "deadline"),
                    message=(
                        f"the instance of {format_instant(instant)} is in time until {format_instant(high_at)}, "
                        f"after {what} of {length}"
                    ),
                    hint=f"expect each instance within {length_words(shortest(length))}, or raise the limit",
                    on_key=True,
                )


def _limits(use: _DeadlineUse) -> Iterator[tuple[str, Frequency]]:
    if use.there.retention is not None:
        yield f"the retention limit on {use.there.name}", use.there.retention.limit
    if use.feed.late_arrival is not None:
        yield "the late cut-off", use.feed.late_arrival.cut_off


def low_after_deadline(context: LintContext) -> Iterator[Hit]:
    """Find SLAs with a deadline and `low` alone, of which high comes first."""
    seen: set[tuple[str, Pointer]] = set()
    for use in _uses(context.repository):
        place = (use.feed.name, use.pointer)
        if place not in seen and use.sla.low is not None and use.sla.high is None:
            message = f"low is {use.sla.low} after the deadline, at which an instance is missing already"
            hint = "add high, which counts from the deadline too, or move the deadline and remove low"
            yield Hit(subject=use.feed.name, pointer=(*use.pointer, "low"), message=message, hint=hint)
        seen.add(place)


def _after(use: _DeadlineUse, limit: Frequency, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the instance that waits longest and its high limit, if it is deleted before that."""
    found = use.year(now).longest
    if found is None:
        return None
    try:
        gone = shift(found[0], limit, 1, use.feed.timezone)
    except OutOfRange:
        return None
    return found if found[1] > gone else None


def min_rows_unknown(context: LintContext) -> Iterator[Hit]:
    """Find least numbers of rows of instances whose rows are not counted."""
    for feed in context.repository.feeds.values():
        seen: set[Pointer] = set()
        for index, each in enumerate(feed.clusters):
            sla = feed.sla_on(each.name)
            pointer: Pointer = (*(("clusters", index) if each.sla else ()), "sla", "min_rows")
            if sla is not None and sla.min_rows is not None and each.ingest is None and pointer not in seen:
                seen.add(pointer)
                message = f"min_rows has no effect on {each.name}: rows are known only where `ingest` writes the table"
                hint = "use min_bytes, or a suite with expect_table_row_count_to_be_between"
                yield Hit(subject=feed.name, pointer=pointer, message=message, hint=hint, on_key=True)


def unused_calendar(context: LintContext) -> Iterator[Hit]:
    """Find calendars that no deadline names."""
    repository = context.repository
    slas = [sla for feed in repository.feeds.values() for sla in (feed.sla, *(each.sla for each in feed.clusters))]
    used = {sla.deadline.calendar for sla in slas if sla is not None and sla.deadline is not None}
    for name in sorted(repository.calendars):
        if name not in used and not context.is_incomplete:
            message = f"the calendar {name} is named by no deadline"
            hint = "name it in sla.deadline of a feed, or remove it"
            yield Hit(subject=f"{CALENDARS_FOLDER}/{name}.yaml", pointer=(), message=message, hint=hint)


CHECKS: Mapping[str, Check] = {
    "deadline-never": deadline_never,
    "deadline-too-late": deadline_too_late,
    "low-after-deadline": low_after_deadline,
    "min-rows-unknown": min_rows_unknown,
    "unused-calendar": unused_calendar,
}
