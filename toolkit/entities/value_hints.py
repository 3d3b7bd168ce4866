"""Hints for values that come from Airflow, Oozie or a shell: the word that feedctl uses."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from toolkit.el.frequency import Unit
from toolkit.el.functions import Function, Parameter

_FIELDS = "${YEAR}, ${MONTH}, ${DAY}, ${HOUR} and ${MINUTE}"

_UNITS: Mapping[str, tuple[str, int]] = {
    "s": ("seconds", 1),
    "sec": ("seconds", 1),
    "second": ("seconds", 1),
    "M": ("months", 1),
    "m": ("minutes", 1),
    "min": ("minutes", 1),
    "minute": ("minutes", 1),
    "h": ("hours", 1),
    "hr": ("hours", 1),
    "hour": ("hours", 1),
    "d": ("days", 1),
    "day": ("days", 1),
    "w": ("days", 7),
    "week": ("days", 7),
    "month": ("months", 1),
    "quarter": ("months", 3),
    "y": ("months", 12),
    "year": ("months", 12),
}
_SHORTEST = "minutes(1)"
_UNIT_FIRST = re.compile(r"([A-Za-z]+)\s*\(?\s*([0-9]{1,6})\s*\)?")
_COUNT_FIRST = re.compile(r"([0-9]{1,6})\s*([A-Za-z]+)")
_ISO = re.compile(r"P(?:([0-9]{1,6})([DWMY])|T([0-9]{1,6})([HMS]))")
_CLOCK = re.compile(r"([0-9]{1,3}):([0-9]{2})(?::[0-9]{2})?")
_LONGEST = 40
_WORDS: Mapping[str, str] = {
    "hourly": "hours(1)",
    "daily": "days(1)",
    "weekly": "days(7)",
    "monthly": "months(1)",
    "yearly": "months(12)",
}


def value_hint(form: str, text: object) -> str:
    """Return a hint for a value that does not have the format of its schema; empty: there is no hint.

    Args:
        form: the schema's format, for example ``frequency``.
        text: the value.
    """
    hint = _HINTS.get(form)
    return "" if hint is None or not isinstance(text, str) else hint(text)


def unquoted_hint(line: str) -> str:
    """Return a hint for a line that a template makes invalid YAML, or YAML with another meaning."""
    if "{{" in line:
        return f"feedctl has no {{{{ ... }}}}: dates in paths are {_FIELDS}, times of inputs today(0,0) or now(-1,0)"
    return "put quotes around a value with ${...} in it" if "${" in line else ""


def _frequency(text: str) -> str:
    plain = text.strip()[:_LONGEST]  # the patterns below go over blanks more than once
    word = _WORDS.get(plain.casefold().removeprefix("@"))
    if word is not None:
        return _meant(word)
    if plain.isdecimal():
        return without_unit(plain)
    if re.search(r"\s(?://|--)", plain):
        return "a comment begins with a blank and #"
    return _of_cron(plain) or _of_duration(plain) or _of_words(plain)


def without_unit(count: str) -> str:
    """Return a hint for a frequency that is a number alone."""
    return f"name the unit: minutes({count}), hours({count}), days({count}) or months({count})"


_CRON_FIELDS = 5
_EVERY = re.compile(r"\*/([0-9]{1,4})")


def _of_cron(text: str) -> str:
    """Return a hint for a cron expression, by its coarsest field that is not a star."""
    fields = text.split()
    if len(fields) != _CRON_FIELDS or not all(re.fullmatch(r"[0-9*/,A-Za-z?-]+", each) for each in fields):
        return ""
    minute, hour, day, month, weekday = fields
    if month not in "*?":
        meant = "months(12)"
    elif day not in "*?":
        meant = "months(1)"
    elif weekday not in "*?":
        meant = "days(7)"
    elif found := _EVERY.fullmatch(hour):
        meant = f"hours({int(found[1])})"
    elif hour != "*":
        meant = "days(1)"
    else:
        found = _EVERY.fullmatch(minute)
        meant = f"minutes({int(found[1])})" if found else _SHORTEST if minute == "*" else "hours(1)"
    return f"a frequency is no cron text: did you mean {meant}? The start of the validity sets the time of day"


def _of_duration(text: str) -> str:
    """Return a hint for a duration of ISO 8601, or hours and minutes on a clock."""
    iso, clock = _ISO.fullmatch(text), _CLOCK.fullmatch(text)
    if iso is not None:
        count, letter = (iso[1], f"P{iso[2]}") if iso[1] else (iso[3], f"T{iso[4]}")
        unit, times = _ISO_UNITS[letter]
        return _counted(unit, int(count) * times)
    if clock is None:
        return ""
    hours, minutes = int(clock[1]), int(clock[2])
    return _counted("minutes", hours * 60 + minutes) if minutes else _counted("hours", hours)


_ISO_UNITS: Mapping[str, tuple[str, int]] = {
    "PD": ("days", 1),
    "PW": ("days", 7),
    "PM": ("months", 1),
    "PY": ("months", 12),
    "TH": ("hours", 1),
    "TM": ("minutes", 1),
    "TS": ("seconds", 1),
}


def _of_words(plain: str) -> str:
    counted, named = _COUNT_FIRST.fullmatch(plain), _UNIT_FIRST.fullmatch(plain)
    count, name = counted.groups() if counted else reversed(named.groups()) if named else ("", "")
    folded = name.casefold()
    unit, times = _UNITS.get(name) or _UNITS.get(folded) or _UNITS.get(folded.removesuffix("s"), ("", 0))
    near = "" if unit or not count else next(iter(get_close_matches(folded, list(Unit), n=1, cutoff=_ALIKE)), "")
    return _counted(unit or near, int(count) * (times or 1)) if unit or near else ""


def _counted(unit: str, count: int) -> str:
    if unit == "seconds" or not count:
        return f"the shortest frequency is {_SHORTEST if unit == 'seconds' else f'{unit}(1)'}"
    return _meant(f"{unit}({count})")


def _meant(text: str) -> str:
    return f"did you mean {text}?"


_WRAPPED = re.compile(r"\$\{\s*([a-zA-Z]+\(.*\))\s*\}")


def _expression(text: str) -> str:
    wrapped = _WRAPPED.fullmatch(text.strip())
    if wrapped is not None:
        return f'write it without ${{}}: "{wrapped[1]}"'
    if "{{" in text:
        return "feedctl has no {{ ... }}: today(0,0) is the day of the run, yesterday(0,0) the one before"
    if text.strip() in list(Function):
        return _meant(_called(Function(text.strip())))
    if "(" in text and ")" not in text:
        return 'put quotes around it: between { and } a comma ends a value that has none, as in start: "today(-1,0)"'
    return ""


def _called(function: Function) -> str:
    """Return a call of a function that a person wrote without arguments."""
    usual = {Parameter.WEEKDAY: "MON", Parameter.LIMIT: "1"}
    return f"{function}({','.join(usual.get(each, '0') for each in function.parameters)})"


_SHELL = re.compile(r"\$([A-Za-z]\w*)")
_FOREIGN_DATE = re.compile(r"\{\{|%[YmdHM](?![0-9a-f])|\$\{yy|(?<![A-Za-z])yyyy(?![A-Za-z])", re.IGNORECASE)
"""`%D0%B0` is a letter in an address, and no day."""
_BRACED = re.compile(r"(?<!\$)\{(YEAR|MONTH|DAY|HOUR|MINUTE)\}")
_NAMED = re.compile(r"\$\{(\w+)\}")


def foreign_date(text: str) -> str:
    """Return a hint for a template with a date in another notation; empty: it has none."""
    return f"write dates as {_FIELDS}" if _FOREIGN_DATE.search(text) else ""


def _template(text: str) -> str:
    return foreign_date(text) or _shape_hint(text) or _of_shell(text) or _misspelt_field(text)


def _shape_hint(text: str) -> str:
    braced = _BRACED.search(text)
    if braced is not None:
        return _meant(f"${{{braced[1]}}}")
    if unicodedata.category(text[:1] or " ") in {"Pi", "Pf", "Ps"} and not text.startswith(("{", "[")):
        return "use plain quotes: the text begins with a typographic one"
    is_relative = re.match(r"\w[^:]*/", text) is not None
    return f"begin it with a slash, or with a store: /{text.partition('/')[0]}/..." if is_relative else ""


def _of_shell(text: str) -> str:
    shell = _SHELL.search(text)
    if shell is None:
        return ""
    name = shell[1].upper()
    if name in _DAYS:
        return f"write dates as {_FIELDS}"
    return _meant(f"${{{name if f'${{{name}}}' in _FIELDS else shell[1]}}}")


def _misspelt_field(text: str) -> str:
    fields = _NAMED.findall(_FIELDS)
    for name in _NAMED.findall(text):
        near = () if name in fields else get_close_matches(name.upper(), fields, n=1, cutoff=_ALIKE)
        if near:
            return _meant(f"${{{near[0]}}}")
    return ""


_ALIKE = 0.7
_DAYS = frozenset({"DATE", "DS", "DT", "TODAY", "YESTERDAY"})


def _instant(text: str) -> str:
    day = _DAY.fullmatch(text.strip())
    if day is not None:
        return _meant(f"{day[0]}T00:00Z")
    return "write it as YEAR-MONTH-DAYTHOUR:MINUTEZ, in UTC: 2026-03-01T06:40Z"


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

_HINTS: Mapping[str, Callable[[str], str]] = {
    "frequency": _frequency,
    "el": _expression,
    "path-template": _template,
    "table-uri": _template,
    "instant": _instant,
}
