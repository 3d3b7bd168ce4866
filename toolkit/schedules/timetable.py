"""Timetable of an action, and the times of a cron expression that miss none of its instants (DESIGN section 3).

A cron expression knows minutes of an hour, hours of a day, days of a month or of a week, and months. What it cannot
say, as `minutes(7)` across hours, the 31st of each month, or midnight in a zone with daylight saving time, it says as
the next finer step: it then fires too often, never too late, and the action itself finds what is due.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache

from toolkit.el import Frequency, Unit, load_zone, shift, to_local
from toolkit.el.frequency import step_local

_HOUR, _DAY, _WEEK, _YEAR = 60, 24, 7, 12
"""Minutes, hours, days and months."""
_LEAST_MONTH = 28
_FIRST_YEAR, _END_YEAR = 2025, 2038
"""Offsets of a zone are those that it has in these years: what it had before no scheduler will meet."""
_SAMPLES = (2027, 2028)
"""A year, and a leap year."""
_RECENT = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class Timetable:
    """The instants at which an action has something to do: the grid of a frequency, and a delay after each.

    Attributes:
        start: the first instant of the grid, UTC.
        frequency: of the grid.
        timezone: where days and months are counted.
        delay: the action is due so long after an instant of the grid.
    """

    start: datetime
    frequency: Frequency
    timezone: str = "UTC"
    delay: Frequency | None = None

    @property
    def seconds(self) -> int:
        """The seconds from one instant to the next; of days and months the least."""
        return least_seconds(self.frequency)

    def __str__(self) -> str:
        where = "" if self.frequency.unit.is_elapsed else f" in {self.timezone}"
        return f"{self.frequency}{where}" + (f", {self.delay} after its time" if self.delay else "")


def least_seconds(frequency: Frequency) -> int:
    """Return the shortest length; days and months vary."""
    elapsed = frequency.elapsed
    if elapsed is None:
        elapsed = timedelta(days=frequency.count * (_LEAST_MONTH if frequency.unit is Unit.MONTHS else 1))
    return int(elapsed.total_seconds())


@dataclass(frozen=True, kw_only=True, slots=True)
class CronTimes:
    """The five fields of a cron expression, each as its rising numbers; a full one does not restrict.

    Attributes:
        weekdays: 0 is Sunday; restricted only when `days` is full, since cron takes either otherwise.
        is_exact: it fires for instants of the timetable alone; else more often.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...] = tuple(range(24))
    days: tuple[int, ...] = tuple(range(1, 32))
    months: tuple[int, ...] = tuple(range(1, 13))
    weekdays: tuple[int, ...] = tuple(range(7))
    is_exact: bool = True

    def __str__(self) -> str:
        """Return the text as cron writes it: ``0,30 */6 * * *``."""
        return " ".join((self.before_weekdays, field_text(self.weekdays, 0, 7)))

    @property
    def before_weekdays(self) -> str:
        """The first four fields: all crons agree on these."""
        fields = ((self.minutes, 0, 60), (self.hours, 0, 24), (self.days, 1, 31), (self.months, 1, 12))
        return " ".join(field_text(*each) for each in fields)


def field_text(numbers: tuple[int, ...], least: int, size: int) -> str:
    """A field: ``*``, ``*/15`` where that says it, else its numbers."""
    if len(numbers) == size:
        return "*"
    step = size // len(numbers)
    is_stepped = least == 0 and len(numbers) > 1 and numbers == tuple(range(0, size, step)) and size % step == 0
    return f"*/{step}" if is_stepped else ",".join(map(str, numbers))


@lru_cache(maxsize=_RECENT)
def cron_times(timetable: Timetable, clock: str) -> CronTimes:
    """Return the times of a cron that goes by a zone's clock; each instant is met by one less than a step after it.

    A clock with daylight saving time skips and repeats hours, and crons differ in what they then do; of an expression
    for every hour they all make one start for each hour that passes. So rarer instants are met by one.

    Args:
        timetable: when the action is due.
        clock: the time zone of the clock.
    """
    exact = _elapsed(timetable, clock) if timetable.frequency.unit.is_elapsed else _calendar(timetable, clock)
    if len(offsets(clock)) == 1 or len(exact.hours) == _DAY:
        return exact
    return CronTimes(minutes=exact.minutes, is_exact=False)


@cache
def offsets(zone_name: str) -> tuple[timedelta, ...]:
    """Return the distances of the zone's local time from UTC, now and in the next years; one without clock changes."""
    zone = load_zone(zone_name)
    day, end = datetime(_FIRST_YEAR, 1, 1, 12, tzinfo=UTC), datetime(_END_YEAR, 1, 1, tzinfo=UTC)
    count = (end - day).days
    found = {to_local(at, zone) - at.replace(tzinfo=None) for at in (day + timedelta(days=n) for n in range(count))}
    return tuple(sorted(found))


def _elapsed(timetable: Timetable, clock: str) -> CronTimes:
    start = shift(timetable.start, timetable.delay, 1, timetable.timezone) if timetable.delay else timetable.start
    time_of_day = start.replace(tzinfo=None, year=_SAMPLES[0], month=1, day=_WEEK)  # which day it was says nothing
    locals_ = [time_of_day + offset for offset in offsets(clock)]
    length = timetable.seconds // 60
    if length < _HOUR:
        step = _divisor(length, _HOUR)
        minutes = sorted({minute for local in locals_ for minute in range(local.minute % step, _HOUR, step)})
        return CronTimes(minutes=tuple(minutes), is_exact=step == length and len(minutes) == _HOUR // step)
    step = _divisor(length // _HOUR, _DAY)
    minutes = sorted({local.minute for local in locals_})
    hours = sorted({hour for local in locals_ for hour in range(local.hour % step, _DAY, step)})
    is_exact = step * _HOUR == length and len(minutes) * len(hours) * step == _DAY
    return CronTimes(minutes=tuple(minutes), hours=tuple(hours), is_exact=is_exact)


def _divisor(length: int, whole: int) -> int:
    """The longest step that is no longer, and that fits into the whole."""
    return max(step for step in range(1, min(length, whole) + 1) if whole % step == 0)


def _calendar(timetable: Timetable, clock: str) -> CronTimes:
    """Days and months: every local time that an instant can have, at each distance of both zones from UTC."""
    count, is_monthly = timetable.frequency.count, timetable.frequency.unit is Unit.MONTHS
    first = to_local(timetable.start, load_zone(timetable.timezone))
    locals_ = list(_months(first, count) if is_monthly else [_same_weekday(first)])
    found = sorted({at for local in locals_ for at in _on_clock(local, timetable, clock)})
    minutes, hours = _numbers(at.minute for at in found), _numbers(at.hour for at in found)
    is_once = len(minutes) == len(hours) == 1
    if is_monthly:
        days, months = _numbers(at.day for at in found), _numbers(at.month for at in found)
        is_exact = is_once and len(days) == 1 and _YEAR % count == 0
        return CronTimes(minutes=minutes, hours=hours, days=days, months=months, is_exact=is_exact)
    is_shifted = timetable.delay is not None and timetable.delay.unit is Unit.MONTHS  # to any day of the week
    if count % _WEEK or is_shifted:
        return CronTimes(minutes=minutes, hours=hours, is_exact=is_once and count == 1 and not is_shifted)
    weekdays = _numbers(at.isoweekday() % _WEEK for at in found)
    return CronTimes(minutes=minutes, hours=hours, weekdays=weekdays, is_exact=is_once and count == _WEEK)


def _same_weekday(first: datetime) -> datetime:
    return first + timedelta(days=(datetime(_SAMPLES[0], 1, 1) - first).days // _WEEK * _WEEK)  # noqa: DTZ001 - as local


def _months(first: datetime, count: int) -> Iterator[datetime]:
    """The instants of a year and of a leap year, by the calendar alone."""
    names = {(first.month - 1 + count * n) % _YEAR + 1 for n in range(_YEAR)}
    for year in _SAMPLES:
        for month in sorted(names):
            yield first.replace(year=year, month=month, day=min(first.day, monthrange(year, month)[1]))


def _on_clock(local: datetime, timetable: Timetable, clock: str) -> Iterator[datetime]:
    """A local time of the timetable's zone, with their delay, as the clock shows it at each distance from UTC."""
    delay = timetable.delay
    elapsed = timedelta() if delay is None else delay.elapsed
    if delay is not None and elapsed is None:
        local, elapsed = step_local(local, delay, 1), timedelta()
    for own in offsets(timetable.timezone):
        for offset in offsets(clock):
            yield local - own + (elapsed or timedelta()) + offset


def _numbers(values: Iterator[int]) -> tuple[int, ...]:
    return tuple(sorted(set(values)))
