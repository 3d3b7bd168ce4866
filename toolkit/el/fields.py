"""The date fields of path templates and table URIs: names, widths, ranges and order (DESIGN section 3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from toolkit.el.frequency import Frequency, Unit


class Field(StrEnum):
    """A dated part of a name, coarsest first."""

    YEAR = "YEAR"
    """Four digits, 0001 to 9999."""
    MONTH = "MONTH"
    """Two digits, 01 to 12."""
    DAY = "DAY"
    """Two digits, 01 to the length of the month."""
    HOUR = "HOUR"
    """Two digits, 00 to 23."""
    MINUTE = "MINUTE"
    """Two digits, 00 to 59."""


COARSE_TO_FINE = tuple(Field)

REGEX = {
    Field.YEAR: "[0-9]{4}",
    Field.MONTH: "(?:0[1-9]|1[0-2])",
    Field.DAY: "(?:0[1-9]|[12][0-9]|3[01])",
    Field.HOUR: "(?:[01][0-9]|2[0-3])",
    Field.MINUTE: "[0-5][0-9]",
}

RANGE_IN_WORDS = {
    Field.YEAR: "four digits",
    Field.MONTH: "01 to 12",
    Field.DAY: "01 to 31",
    Field.HOUR: "00 to 23",
    Field.MINUTE: "00 to 59",
}

GRANULARITY = {
    Field.YEAR: Frequency(unit=Unit.MONTHS, count=12),
    Field.MONTH: Frequency(unit=Unit.MONTHS, count=1),
    Field.DAY: Frequency(unit=Unit.DAYS, count=1),
    Field.HOUR: Frequency(unit=Unit.HOURS, count=1),
    Field.MINUTE: Frequency(unit=Unit.MINUTES, count=1),
}

LENGTH = {
    Field.DAY: timedelta(days=1),
    Field.HOUR: timedelta(hours=1),
    Field.MINUTE: timedelta(minutes=1),
}
"""Length of the fields whose values are all equally long, by the local clock."""


FORMS = {field: f"{{0.{field.lower()}:0{4 if field is Field.YEAR else 2}d}}" for field in Field}
"""Forms of the fields of a local time in names, zero-padded: texts whose `format` takes that time."""


def render_field(field: Field, local: datetime) -> str:
    """The field of a local time as it stands in a name, zero-padded."""
    return FORMS[field].format(local)


def next_start(field: Field, local: datetime) -> datetime:
    """The naive local time at which the field's next value begins; saturates at the end of the calendar.

    Args:
        field: the finest field of the name.
        local: the naive local time at which the present value begins.
    """
    try:
        if field in LENGTH:
            return local + LENGTH[field]
        if field is Field.MONTH and local.month < 12:  # noqa: PLR2004 - the months of a year
            return local.replace(month=local.month + 1)
        return local.replace(year=local.year + 1, month=1)
    except (OverflowError, ValueError):
        return datetime.max.replace(microsecond=0, second=0)  # noqa: DTZ901 - names are local times
