"""Hints for values that come from Airflow, Oozie or a shell: the word that feedctl uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_FIELDS = "${YEAR}, ${MONTH}, ${DAY}, ${HOUR} and ${MINUTE}"

_UNITS: Mapping[str, tuple[str, int]] = {
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
_UNIT_FIRST = re.compile(r"([A-Za-z]+)\s*\(?\s*([0-9]{1,6})\s*\)?")
_COUNT_FIRST = re.compile(r"([0-9]{1,6})\s*([A-Za-z]+)")
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
    if plain.casefold() in _WORDS:
        return _meant(_WORDS[plain.casefold()])
    counted, named = _COUNT_FIRST.fullmatch(plain), _UNIT_FIRST.fullmatch(plain)
    count, name = counted.groups() if counted else reversed(named.groups()) if named else ("", "")
    folded = name.casefold()
    unit, times = _UNITS.get(name) or _UNITS.get(folded) or _UNITS.get(folded.removesuffix("s"), ("", 0))
    return _meant(f"{unit}({int(count) * times})") if unit and int(count) else ""


def _meant(text: str) -> str:
    return f"did you mean {text}?"


_WRAPPED = re.compile(r"\$\{\s*([a-zA-Z]+\(.*\))\s*\}")


def _expression(text: str) -> str:
    wrapped = _WRAPPED.fullmatch(text.strip())
    if wrapped is not None:
        return f'write it without ${{}}: "{wrapped[1]}"'
    if "{{" in text:
        return "feedctl has no {{ ... }}: today(0,0) is the day of the run, yesterday(0,0) the one before"
    if "(" in text and ")" not in text:
        return 'put quotes around it: between { and } a comma ends a value that has none, as in start: "today(-1,0)"'
    return ""


_SHELL = re.compile(r"\$([A-Za-z]\w*)")


def _template(text: str) -> str:
    shell = _SHELL.search(text)
    if "{{" in text or re.search(r"%[YmdHM]|\$\{yy", text, re.IGNORECASE):
        return f"write dates as {_FIELDS}"
    if shell is None:
        return ""
    name = shell[1].upper()
    if name in _DAYS:
        return f"write dates as {_FIELDS}"
    return _meant(f"${{{name if f'${{{name}}}' in _FIELDS else shell[1]}}}")


_DAYS = frozenset({"DATE", "DS", "DT", "TODAY", "YESTERDAY"})


_HINTS: Mapping[str, Callable[[str], str]] = {
    "frequency": _frequency,
    "el": _expression,
    "path-template": _template,
    "table-uri": _template,
}
