"""Values that a config repo should not have, and some that it may: for the fuzzer of the linter."""

from __future__ import annotations

import random
from collections.abc import Sequence

Node = dict[str, "Node"] | list["Node"] | str | int | float | bool | None

WORDS = (
    "", " ", "x", "clicks", "primary", "null", "~", "NO", "0x1f", "1e999", "-0", "nan", ".inf", "\u0000", "\u0085",
    "\u2028", "\ufeff", "\ufffd", "\U0001f600", "e\u0301", "\u202eabc", "İ", "ß", "٣", "a/b", "../x", "*", "?", "[a",
    "{a,b", "${", "${}", "${x}", "${env:HOME}", "${cluster.name}", "%s", "{0}", "\\", '"', "'", "#",
    "# feedctl: ignore[x]", "::error::",
    "a" * 4096, "a" * 5000, "9" * 400, "s3a://x:" * 500, "://x:${" * 600, "eyJaaaaaaaa-" * 300, "*a" * 12,
    "\n", "a\nb", "\t", "-", "---", "<<", "&a", "*a", "!!python/object:x", "@", "`",
)  # fmt: skip
NUMBERS = (0, -1, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.1, -0.0, 1e308, float("inf"), float("nan"))
DATES = ("2026-01-01T00:00Z", "2026-03-29T01:00Z", "2025-10-26T00:30Z", "2024-02-29T23:59Z", "2099-01-01T00:00Z")
ODD_DATES = (
    "2026-01-01T00:00Z", "0001-01-01T00:00Z", "9999-12-31T23:59Z", "2026-02-30T00:00Z", "2026-13-01T00:00Z",
    "2026-01-01", "2026-01-01T00:00", "2026-01-01T00:00+02:00", "10000-01-01T00:00Z", "2024-02-29T23:59Z",
    "2026-03-29T02:30Z", "1900-01-01T00:00Z", "2099-01-01T00:00Z", "2026-01-01T24:00Z", "-2026-01-01T00:00Z",
)  # fmt: skip
ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia")
ODD_ZONES = ("Africa/Monrovia", "Antarctica/Troll", "Europe/Nowhere", "utc", "../etc/passwd", "Etc/GMT+12")
UNITS = ("minutes", "hours", "days", "months")
COUNTS = ("1", "2", "5", "6", "15", "24", "45", "60", "90", "400", "1440")
ODD_COUNTS = ("0", "-1", "999999", "99999999", "99999999999999999999", "1.5", "", "x", "01", "\u0663")
FUNCTIONS = {
    "now": 2, "today": 2, "yesterday": 2, "currentMonth": 3, "lastMonth": 3, "currentYear": 4, "lastYear": 4,
    "latest": 1, "future": 2, "currentWeek": 3, "lastWeek": 3,
}  # fmt: skip
ODD_FUNCTIONS = ("tomorrow(0,0)", "now", "instanceTime()", "now(0,0", "today(,)", "currentWeek(MON,0,0)")
ARGUMENTS = ("0", "0", "-1", "1", "-24", "24", "30", "-90", "-720")
ODD_ARGUMENTS = ("-9999999", "99999999999999999999", "999999", "", " 0 ", "1.5", "now(0,0)", "-0")
DAYS = ("'SUN'", "'MON'", "'SAT'", "'XYZ'")
FIELDS = ("${YEAR}", "${MONTH}", "${DAY}", "${HOUR}", "${MINUTE}")
PIECES = (
    "/", "-", "", "data", "${region}", "*", "?", "[0-9]", "{a,b}", "${", "}", "..", "//", "é",
    "${cluster.colo}", "2026",
)  # fmt: skip
SLOW_PIECES = (
    "*a" * 12, "{a,aa}" * 40, "".join(f"${{v{number}}}" for number in range(30)), "${v}" * 30, "a-" * 120,
    "-".join(f"${{v{number}}}" for number in range(6)), "?" * 300 + "*", "[a-z]*" * 20, "{a,b,ab}" * 30 + "*",
)  # fmt: skip
"""Of names that backtracking never gets to the end of."""

SCHEMES = ("", "file://", "hdfs://nn:8020", "s3a://bucket", "S3://", "gopher://x", "hdfs:", "catalog:logs:clicks#ds=")
_ODD = 0.1
"""How often a value is one that no repo should have."""

KEYS = (
    "kind", "name", "feed", "start", "end", "clusters", "retention", "limit", "lint", "accept", "x", "<<", "",
    "name ",
)  # fmt: skip


def text(chance: random.Random) -> str:
    """A text of any of the sorts below."""
    return chance.choice((_word, date, frequency, expression, template, zone))(chance)


def value(chance: random.Random) -> Node:
    """A value of any type."""
    return chance.choice((_scalar, _scalar, text, text, _nested, _list, _mapping))(chance)


def frequency(chance: random.Random) -> str:
    """A frequency, mostly a right one."""
    return f"{chance.choice(UNITS)}({_one_of(COUNTS, ODD_COUNTS, chance)})"


def expression(chance: random.Random) -> str:
    """An EL expression, mostly a right one."""
    if chance.random() < _ODD:
        return chance.choice(ODD_FUNCTIONS)
    function, count = chance.choice(list(FUNCTIONS.items()))
    arguments = [_one_of(ARGUMENTS, ODD_ARGUMENTS, chance) for _ in range(count)]
    if function.endswith("Week"):
        arguments[0] = chance.choice(DAYS)
    return f"{function}({','.join(arguments)})"


def template(chance: random.Random) -> str:
    """A path template: dated or not, with or without gaps."""
    fields = list(FIELDS[: chance.randrange(6)])
    if chance.random() < _ODD:
        chance.shuffle(fields)
    parts = [part for field in fields for part in (field, _one_of(("/", "-", ""), PIECES, chance))]
    if chance.random() < _ODD:
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(SLOW_PIECES))
    return _one_of(("", "file://"), SCHEMES, chance) + _one_of(("/data/", "/"), PIECES, chance) + "".join(parts)


def date(chance: random.Random) -> str:
    """An instant, mostly a right one."""
    return _one_of(DATES, ODD_DATES, chance)


def zone(chance: random.Random) -> str:
    """A time zone, mostly a right one."""
    return _one_of(ZONES, ODD_ZONES, chance)


def _one_of(usual: Sequence[str], odd: Sequence[str], chance: random.Random) -> str:
    return chance.choice(odd if chance.random() < _ODD else usual)


def _scalar(chance: random.Random) -> Node:
    return chance.choice((None, True, False, *NUMBERS))


def _word(chance: random.Random) -> str:
    return chance.choice(WORDS)


def _nested(chance: random.Random) -> Node:
    node: Node = "deep"
    for _ in range(chance.choice((2, 20, 99, 101, 400))):
        node = [node] if chance.random() < 0.5 else {"a": node}
    return node


def _list(chance: random.Random) -> Node:
    return [text(chance) for _ in range(chance.randrange(4))]


def _mapping(chance: random.Random) -> Node:
    return {chance.choice(KEYS): text(chance) for _ in range(chance.randrange(4))}
