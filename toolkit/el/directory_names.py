"""The names of one directory, read quickly: what `DatedPattern.step` and `reach` say, which define the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias
from zoneinfo import ZoneInfo

from toolkit.el.canonical_path import is_name
from toolkit.el.errors import OutOfRange
from toolkit.el.fields import LENGTH, Field, render_field
from toolkit.el.periods import Span, date_spans
from toolkit.el.tokens import DateField, Literal
from toolkit.el.zones import to_local

if TYPE_CHECKING:
    from toolkit.el.pattern import DatedPattern
    from toolkit.el.segment import Found

NameReader: TypeAlias = Callable[[str], tuple[Span, ...] | None]
"""From a name to the instants that it, and names below it, can stand for; empty when it does not conform or names no
date that exists, None while the year is not known."""

_NO_SPANS: tuple[Span, ...] = ()
_PARTS = len(Field)
_MARGIN = timedelta(days=2)
"""More than local times ever went back: a day, where the date line was crossed."""


def name_reader(pattern: DatedPattern, known: Found, depth: int) -> NameReader:
    """Reads the names of a directory.

    Args:
        pattern: of the template.
        known: what the names above say.
        depth: the index of the segment that the names belong to.
    """
    dates = pattern.plain_dates[depth]
    if dates is None:
        return _general(pattern, known, depth)
    above = tuple(int(known.fields[field]) for field in dates.above)
    length = LENGTH.get(dates.finest)
    if pattern.zone.key == "UTC" and length is not None:
        return _in_utc(dates, above, length, pattern.zone)
    return _in_zone(dates, above, pattern.zone)


def start_name(pattern: DatedPattern, known: Found, depth: int, instant: datetime) -> str:
    """A name that sorts before all names of a directory that can stand for anything at or after the instant.

    Empty where nothing can be said: names that do not sort as their dates do, and directories of other dates.
    """
    if not pattern.chronological[depth]:
        return ""
    try:
        local = to_local(instant, pattern.zone) - _MARGIN
    except (OutOfRange, OverflowError):
        return ""
    if any(render_field(field, local) != value for field, value in known.fields.items()):
        return ""
    return pattern.segments[depth].render(local, {})


@dataclass(frozen=True, slots=True)
class PlainDates:
    """A segment of literals and date fields alone, below names that say all coarser fields.

    Attributes:
        above: the coarser fields.
        finest: its own finest field.
        regex: of a name.
        groups: positions of the regex's groups, from the coarsest of its own fields to the finest.
    """

    above: tuple[Field, ...]
    finest: Field
    regex: re.Pattern[str]
    groups: tuple[int, ...]


def plain_dates(pattern: DatedPattern) -> Iterator[PlainDates | None]:
    """For each segment, what is needed to read its names quickly; None: they have to be read the general way."""
    above: list[Field] = []
    for segment in pattern.segments:
        own = tuple(field for field in pattern.fields if field in segment.fields)
        is_plain = all(isinstance(token, (Literal, DateField)) for token in segment.tokens)
        is_next = (*above, *own) == pattern.fields[: len(above) + len(own)]
        if own and is_plain and is_next and len(own) == len(segment.fields):
            groups = tuple(segment.fields.index(field) for field in own)
            yield PlainDates(tuple(above), own[-1], segment.regex, groups)
        else:
            yield None
        above.extend(field for field in own if field not in above)


def _general(pattern: DatedPattern, known: Found, depth: int) -> NameReader:
    def read(name: str) -> tuple[Span, ...] | None:
        found = pattern.step(known, depth, name) if is_name(name) else None
        return _NO_SPANS if found is None else pattern.reach(found)

    return read


def _in_utc(dates: PlainDates, above: tuple[int, ...], length: timedelta, zone: ZoneInfo) -> NameReader:
    """Without a time zone's rules a date begins and ends by arithmetic."""
    fullmatch, groups = dates.regex.fullmatch, dates.groups

    def read(name: str) -> tuple[Span, ...] | None:
        match = fullmatch(name)
        if match is None:
            return _NO_SPANS
        texts = match.groups()
        values = (*above, *[int(texts[group]) for group in groups])
        try:
            year, month, day, hour, minute = (*values, 0, 0)[:_PARTS]
            first = datetime(year, month, day, hour, minute, tzinfo=UTC)
            return ((first, first + length),)
        except (ValueError, OverflowError):
            return date_spans(values, zone)

    return read


def _in_zone(dates: PlainDates, above: tuple[int, ...], zone: ZoneInfo) -> NameReader:
    fullmatch, groups = dates.regex.fullmatch, dates.groups

    def read(name: str) -> tuple[Span, ...] | None:
        match = fullmatch(name)
        if match is None:
            return _NO_SPANS
        texts = match.groups()
        return date_spans((*above, *[int(texts[group]) for group in groups]), zone)

    return read
