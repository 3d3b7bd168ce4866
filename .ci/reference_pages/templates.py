"""The part of expressions.md about path templates and table URIs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from reference_pages.markdown import code, codes, meanings, prose, table
from toolkit.el import PathPeriod, PathTemplate, TableUri, format_instant
from toolkit.el.fields import GRANULARITY, Field, render_field

_TEMPLATES = """
A location is an absolute path, or a URI, with date fields, variables and globs. Date fields include `${YEAR}` and leave
no gap down to the finest one, in whatever order they stand. They are in the feed's `path_timezone`, UTC unless it says
otherwise. A path that the template renders parses back to the period with that name.
"""
_VARIABLES = """
Any other `${name}` is a variable: one name without slashes. Its value comes from the feed's `properties`, then from the
cluster's, then `${cluster.name}` and `${cluster.colo}`.
"""
_GLOBS = "Globs match within one name, never across a slash, and never a name that begins with `.feedctl`:"
_NON_CONFORMING = "A path conforms when all of it matches, and its date exists. What does not conform is never touched:"
_TABLES = """
A table feed names a table and its partition, `catalog:DATABASE:TABLE#KEY=VALUE;KEY=VALUE`. The first key is the dated
one. Values have date fields and variables, no globs.
"""
_RENDERED = (
    ("/data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}", "UTC"),
    ("/data/clicks/${YEAR}-${MONTH}-${DAY}", "America/Los_Angeles"),
    ("s3a://logs/${region}/${YEAR}${MONTH}", "UTC"),
    ("/data/${DAY}.${MONTH}.${YEAR}/part-${HOUR}${MINUTE}.csv", "UTC"),
)
_VALUES = {"region": "eu"}
_TABLE = "catalog:logs:clicks#ds=${YEAR}-${MONTH}-${DAY};region=${region}"
_NAMES = ("a.csv", "b.csv", "c.csv", "ab.csv", "a.txt")
_GLOB_MEANINGS: Mapping[str, str] = {
    "*": "any text, also none",
    "?": "one character",
    "[ab]": "one of these characters",
    "[a-b]": "one character of this range",
    "[!ab]": "one character that is not among these",
    "{a,ab}": "one of these texts",
}
_REFUSED = (
    ("/data/${YEAR}/${MONTH}/${DAY}", "/data/2026/02/30"),
    ("/data/${YEAR}/${MONTH}/${DAY}", "/data/2026/3/18"),
    ("/data/${YEAR}/${MONTH}/${DAY}", "/data/2026/03/18/part-0"),
    ("/data/${YEAR}/${YEAR}-${MONTH}", "/data/2026/2025-12"),
    ("/data/${YEAR}/${MONTH}", "/data/2026/.feedctl-hold"),
)


def template_blocks(instant: datetime) -> Iterator[str]:
    """The sections, with examples at an instant."""
    yield from ("## Path templates", _TEMPLATES, _fields(instant), _VARIABLES, _rendered(instant))
    yield from (_GLOBS, _globs(), _NON_CONFORMING, _refused())
    yield from ("## Table URIs", _TABLES, _table_uri(instant))


def _fields(instant: datetime) -> str:
    words = meanings(Field)
    rows = (
        [code(f"${{{each}}}"), words[each.name], code(render_field(each, instant)), code(GRANULARITY[each])]
        for each in Field
    )
    return table(("field", "how it is written", "example", "as the finest, one name is"), rows)


def _rendered(instant: datetime) -> str:
    rows = (_rendered_row(PathTemplate(text, timezone).bind(_VALUES), instant) for text, timezone in _RENDERED)
    header = ("template", "path time zone", f"path of {code(format_instant(instant))}", "its period")
    return table(header, rows) + "\n\n" + f"({_bound_words()})"


def _bound_words() -> str:
    return ", ".join(f"{code(f'${{{name}}}')} is {code(value)} here" for name, value in _VALUES.items())


def _rendered_row(template: PathTemplate, instant: datetime) -> list[str]:
    path = template.render(instant)
    return [code(template.text), template.timezone, code(path), _period(template.parse(path))]


def _period(period: PathPeriod | None) -> str:
    return "none" if period is None else f"{code(format_instant(period.first))} to {code(format_instant(period.end))}"


def _globs() -> str:
    return table(("glob", "what it matches", "example", "matches", "does not match"), map(_glob_row, _GLOB_MEANINGS))


def _glob_row(glob: str) -> list[str]:
    template = PathTemplate(f"/data/${{YEAR}}/{glob}.csv")
    matching = [name for name in _NAMES if template.parse(f"/data/2026/{name}")]
    others = [name for name in _NAMES if name not in matching]
    return [code(glob), _GLOB_MEANINGS[glob], code(f"{glob}.csv"), codes(matching), codes(others)]


def _refused() -> str:
    rows = ([code(text), code(path), prose(PathTemplate(text).explain(path))] for text, path in _REFUSED)
    return table(("template", "path", "why it does not conform"), rows)


def _table_uri(instant: datetime) -> str:
    uri = TableUri.parse(_TABLE).bind(_VALUES)
    partition = uri.render(instant)
    cells = [code(uri.text), codes(f"{key}={value}" for key, value in partition.items()), _period(uri.parse(partition))]
    return table(("table URI", f"partition of {code(format_instant(instant))}", "its period"), [cells])
