"""A cron of the tests' own: which minutes an expression fires in, by the clock of a zone (crontab(5))."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
_LEAST = (0, 0, 1, 1, 0)
_MOST = (59, 23, 31, 12, 6)


class CronClock:
    """An expression by a clock.

    Args:
        expression: five fields.
        zone: of the clock.
    """

    def __init__(self, expression: str, zone: str) -> None:
        self.fields = expression.split()
        assert len(self.fields) == 5
        self.zone = ZoneInfo(zone)
        self.allowed = [_numbers(*each) for each in zip(self.fields, _LEAST, _MOST, strict=True)]

    def fires_at(self, instant: datetime) -> bool:
        """Return whether it fires in a UTC minute."""
        local = instant.astimezone(self.zone)
        minute, hour, day, month, weekday = self.allowed
        on_day, on_weekday = local.day in day, local.isoweekday() % 7 in weekday
        is_either = self.fields[2] != "*" and self.fields[4] != "*"
        is_its_day = on_day or on_weekday if is_either else on_day and on_weekday
        return local.minute in minute and local.hour in hour and local.month in month and is_its_day

    def first_from(self, instant: datetime, within: timedelta) -> datetime | None:
        """The first minute from one on in which it fires; None: none within a time."""
        at = instant
        while at < instant + within:
            if self.fires_at(at):
                return at
            local = at.astimezone(self.zone)
            at += MINUTE * (1 if local.hour in self.allowed[1] else 60 - local.minute)
        return None


def _numbers(field: str, least: int, most: int) -> set[int]:
    found: set[int] = set()
    for part in field.split(","):
        if part.startswith("*"):
            found |= set(range(least, most + 1, int(part[2:] or 1) if part != "*" else 1))
        else:
            assert least <= int(part) <= most, field
            found.add(int(part))
    return found
