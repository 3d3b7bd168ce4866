"""docs/reference/expressions.md: functions, frequencies, path templates and table URIs, with computed examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from reference_pages.markdown import code, codes, meanings, page, prose, table
from reference_pages.templates import template_blocks
from toolkit.el import (
    Frequency,
    Function,
    InstanceSequence,
    Unit,
    UnreadyRange,
    evaluate,
    format_instant,
    parse_instant,
    resolve,
    resolve_range,
)
from toolkit.el.functions import Parameter

_NOMINAL = parse_instant("2026-03-18T09:40Z")
_HOURLY = InstanceSequence(parse_instant("2026-01-01T00:00Z"), Frequency.parse("hours(1)"))
_MISSING = frozenset(map(parse_instant, ("2026-03-18T09:00Z", "2026-03-18T10:00Z")))

_INTRODUCTION = f"""
Every example on this page is computed by feedctl itself. The nominal time is `{format_instant(_NOMINAL)}`, a Wednesday;
the time zone is UTC where none is named. `feedctl el eval EXPRESSION --time INSTANT --timezone ZONE` computes your own.
"""
_FUNCTIONS = f"""
A function means a time relative to the nominal time, in the time zone of the process. It truncates first, then adds
years, months and days by the calendar, then hours and minutes as elapsed time. Arguments are whole numbers, which may
be negative, and none may be left out.

In the examples of `latest` and `future` the feed is hourly, and all of its instances are available but these:
{codes(map(format_instant, sorted(_MISSING)))}.
"""
_ZONES = "Days begin where the time zone says, also on those with 23 or 25 hours:"
_RANGES = """
The `start` and `end` of a process's input name the first and the last instance, both included. A time that is no
instance means the instance immediately before it; what lies before the feed's validity does not exist. For the hourly
feed of above:
"""
_FREQUENCIES = """
The count is a whole number above 0. Instances are counted from the start of the validity, so that months from the 31st
come back to the 31st.
"""

_EXAMPLES: Mapping[Function, str] = {
    Function.NOW: "now(-1,-30)",
    Function.TODAY: "today(-3,-20)",
    Function.YESTERDAY: "yesterday(6,0)",
    Function.CURRENT_WEEK: "currentWeek('MON',0,0)",
    Function.LAST_WEEK: "lastWeek('WED',12,0)",
    Function.CURRENT_MONTH: "currentMonth(9,0,0)",
    Function.LAST_MONTH: "lastMonth(-1,0,0)",
    Function.CURRENT_YEAR: "currentYear(1,14,0,0)",
    Function.LAST_YEAR: "lastYear(11,30,23,59)",
    Function.LATEST: "latest(-1)",
    Function.FUTURE: "future(1,5)",
    Function.INSTANCE_TIME: "instanceTime()",
}
_ZONED = (
    ("today(0,0)", "2026-03-18T09:40Z", "America/Los_Angeles"),
    ("today(0,0)", "2026-03-29T12:00Z", "Europe/Berlin"),
    ("today(12,0)", "2026-03-29T12:00Z", "Europe/Berlin"),
)
_RANGED = (
    ("today(0,0)", "today(3,30)"),
    ("latest(-2)", "latest(0)"),
    ("future(0,5)", "future(2,5)"),
    ("today(8,0)", "now(0,0)"),
    ("future(0,1)", "future(2,1)"),
)
_SEQUENCES: Mapping[Unit, tuple[str, str, str]] = {
    Unit.MINUTES: ("minutes(15)", "2026-03-18T09:40Z", "UTC"),
    Unit.HOURS: ("hours(6)", "2026-03-28T18:00Z", "Europe/Berlin"),
    Unit.DAYS: ("days(1)", "2026-03-27T23:00Z", "Europe/Berlin"),
    Unit.MONTHS: ("months(1)", "2026-01-31T00:00Z", "UTC"),
}


def expressions_page() -> str:
    """The page."""
    return page(
        "Expressions, frequencies, templates",
        _INTRODUCTION,
        "## Functions",
        _FUNCTIONS,
        _functions(),
        _parameters(),
        _ZONES,
        _zones(),
        "## Ranges",
        _RANGES,
        _ranges(),
        "## Frequencies",
        _FREQUENCIES,
        _frequencies(),
        *template_blocks(_NOMINAL),
    )


def _functions() -> str:
    words = meanings(Function)
    rows = ([code(each.signature), words[each.name], *map(code, _example(each))] for each in Function)
    return table(("function", "what it means", "example", "is"), rows)


def _example(function: Function) -> tuple[str, str]:
    text = _EXAMPLES[function]
    if not function.needs_availability:
        return text, format_instant(evaluate(text, _NOMINAL))
    instant = resolve(text, _NOMINAL, _HOURLY, availability=_is_available)
    return text, "waiting" if instant is None else format_instant(instant)


def _is_available(instance: datetime) -> bool:
    return instance not in _MISSING


def _parameters() -> str:
    words = meanings(Parameter)
    return table(("argument", "what it is"), ([code(each), words[each.name]] for each in Parameter))


def _zones() -> str:
    rows = ([*map(code, row), code(format_instant(evaluate(row[0], parse_instant(row[1]), row[2])))] for row in _ZONED)
    return table(("function", "nominal time", "time zone", "is"), rows)


def _ranges() -> str:
    return table(
        ("start", "end", "instances"), ([code(start), code(end), _range(start, end)] for start, end in _RANGED)
    )


def _range(start: str, end: str) -> str:
    found = resolve_range(start, end, _NOMINAL, _HOURLY, availability=_is_available)
    if isinstance(found, UnreadyRange):
        return f"waiting: {prose(found.reason)}"
    return codes(map(format_instant, found))


def _frequencies() -> str:
    words = meanings(Unit)
    rows = ([code(f"{each}(n)"), words[each.name], *_sequence(*_SEQUENCES[each])] for each in Unit)
    return table(("frequency", "what it counts", "example", "first instances"), rows)


def _sequence(frequency: str, start: str, timezone: str) -> Iterator[str]:
    instances = InstanceSequence(parse_instant(start), Frequency.parse(frequency), timezone)
    yield f"{code(frequency)} in {timezone}"
    yield codes(format_instant(instances[index]) for index in range(4))
