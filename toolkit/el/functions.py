"""The functions of the expression language and their arguments (DESIGN section 3; Falcon overview, EL expressions)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from types import MappingProxyType


class Function(StrEnum):
    """Function of an expression, relative to the nominal time."""

    NOW = "now"
    """The nominal time itself, not truncated."""
    TODAY = "today"
    """The start of the nominal time's day."""
    YESTERDAY = "yesterday"
    """The start of the day before."""
    CURRENT_WEEK = "currentWeek"
    """The start of the most recent day of that name, today included."""
    LAST_WEEK = "lastWeek"
    """Seven calendar days before `currentWeek`."""
    CURRENT_MONTH = "currentMonth"
    """The start of the month, and days from there."""
    LAST_MONTH = "lastMonth"
    """The start of the month before, and days from there."""
    CURRENT_YEAR = "currentYear"
    """The start of the year, and months and days from there."""
    LAST_YEAR = "lastYear"
    """The start of the year before, and months and days from there."""
    LATEST = "latest"
    """The n-th newest available instance at or before the nominal time; `latest(0)` is the newest."""
    FUTURE = "future"
    """The n-th available instance at or after the nominal time, within `limit` grid steps."""
    INSTANCE_TIME = "instanceTime"
    """The nominal time, for properties."""

    @property
    def needs_availability(self) -> bool:
        """True if the answer depends on which instances are available."""
        return self in (Function.LATEST, Function.FUTURE)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments that the function takes, all of them compulsory."""
        return _PARAMETERS[self]

    @property
    def signature(self) -> str:
        """The call as the documentation writes it: `now(hours, minutes)`."""
        return f"{self}({', '.join(self.parameters)})"


class Parameter(StrEnum):
    """Meaning of an argument."""

    WEEKDAY = "weekday"
    """SUN, MON, TUE, WED, THU, FRI or SAT; quotes are optional."""
    MONTHS = "months"
    """Calendar months to add."""
    DAYS = "days"
    """Calendar days to add."""
    HOURS = "hours"
    """Elapsed hours to add."""
    MINUTES = "minutes"
    """Elapsed minutes to add."""
    RANK = "rank"
    """0 for the newest available instance, -1 for the one before it, and so on."""
    COUNT = "count"
    """0 for the first available instance, 1 for the next, and so on."""
    LIMIT = "limit"
    """The number of grid steps to look ahead."""


class Weekday(IntEnum):
    """The days of the week, numbered as `datetime.weekday` does."""

    MON = 0
    """Monday."""
    TUE = 1
    """Tuesday."""
    WED = 2
    """Wednesday."""
    THU = 3
    """Thursday."""
    FRI = 4
    """Friday."""
    SAT = 5
    """Saturday."""
    SUN = 6
    """Sunday."""


_CLOCK = (Parameter.HOURS, Parameter.MINUTES)
_WEEK = (Parameter.WEEKDAY, *_CLOCK)
_MONTH = (Parameter.DAYS, *_CLOCK)
_YEAR = (Parameter.MONTHS, *_MONTH)
_PARAMETERS: Mapping[Function, tuple[Parameter, ...]] = MappingProxyType(
    {
        Function.NOW: _CLOCK,
        Function.TODAY: _CLOCK,
        Function.YESTERDAY: _CLOCK,
        Function.CURRENT_WEEK: _WEEK,
        Function.LAST_WEEK: _WEEK,
        Function.CURRENT_MONTH: _MONTH,
        Function.LAST_MONTH: _MONTH,
        Function.CURRENT_YEAR: _YEAR,
        Function.LAST_YEAR: _YEAR,
        Function.LATEST: (Parameter.RANK,),
        Function.FUTURE: (Parameter.COUNT, Parameter.LIMIT),
        Function.INSTANCE_TIME: (),
    }
)
