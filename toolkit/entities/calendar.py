"""Calendars of deadlines (``calendars/NAME.yaml``): the days that count."""

from dataclasses import dataclass
from datetime import date

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""Names of weekdays in calendars, by `date.weekday`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Calendar:
    """A calendar; its name is the file's.

    Attributes:
        weekdays: the weekdays that count, by their names in `WEEKDAYS`.
        holidays: days that do not count, whatever their weekday.
    """

    name: str
    description: str | None = None
    weekdays: tuple[str, ...] = WEEKDAYS[:5]
    holidays: tuple[date, ...] = ()

    def has(self, day: date) -> bool:
        """Return whether a day counts."""
        return WEEKDAYS[day.weekday()] in self.weekdays and day not in self.holidays
