"""A dated path template as a pattern: from names to the periods that they stand for, quickly for plain dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from toolkit.el.canonical_path import is_name
from toolkit.el.errors import ElError, OutOfRange
from toolkit.el.fields import COARSE_TO_FINE, GRANULARITY, LENGTH, Field, render_field
from toolkit.el.frequency import Frequency
from toolkit.el.instants import to_utc
from toolkit.el.periods import PathPeriod, Span, date_spans
from toolkit.el.segment import Found, Segment
from toolkit.el.tokens import DateField, Literal
from toolkit.el.zones import to_local

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


Key = TypeVar("Key")

NOTHING_KNOWN = Found({}, {})


@dataclass(frozen=True)
class DatedPattern:
    """Segments whose date fields together name one period (DESIGN section 8).

    Args:
        segments: the names, outermost first.
        zone: the zone of the date fields.
        whole: the template's text, for errors.

    Raises:
        ElError: date fields without YEAR, or with a gap down to the finest.
    """

    segments: tuple[Segment, ...]
    zone: ZoneInfo
    whole: str

    def __post_init__(self) -> None:
        if self.fields and (gap := self._first_gap()) is not None:
            finest = self.fields[-1]
            found, expected = f"${{{finest}}} without ${{{gap}}}", f"every field from ${{YEAR}} down to ${{{finest}}}"
            position = max(self.whole.find(f"${{{finest}}}"), 0)
            raise ElError(text=self.whole, position=position, found=found, expected=expected)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The date fields, coarsest first, each once."""
        present = {field for segment in self.segments for field in segment.fields}
        return tuple(field for field in COARSE_TO_FINE if field in present)

    @property
    def granularity(self) -> Frequency | None:
        """The length of the period that a name stands for; None without date fields."""
        return GRANULARITY[self.fields[-1]] if self.fields else None

    @property
    def variables(self) -> frozenset[str]:
        """The names of the user variables that are not bound."""
        return frozenset(name for segment in self.segments for name in segment.variables)

    @cached_property
    def chronological(self) -> tuple[bool, ...]:
        """For each segment, whether its names sort as their dates do below one and the same parent."""
        above: list[Field] = []
        answers = []
        for segment in self.segments:
            answers.append(segment.chronological(above))
            above.extend(segment.fields)
        return tuple(answers)

    @cached_property
    def plain_dates(self) -> tuple[PlainDates | None, ...]:
        """For each segment, what `name_reader` needs to read its names quickly."""
        return tuple(plain_dates(self))

    def bind(self, variables: Mapping[str, str]) -> DatedPattern:
        """The pattern with the known variables replaced by their values."""
        return DatedPattern(tuple(segment.bind(variables) for segment in self.segments), self.zone, self.whole)

    def render(self, instant: datetime, variables: Mapping[str, str]) -> Iterator[str]:
        """The names of an instant, one for each segment.

        Raises:
            ElError: the instant is naive, or its local time is outside the calendar.
        """
        local = to_local(to_utc(instant), self.zone)
        return (segment.render(local, variables) for segment in self.segments)

    def step(self, known: Found, depth: int, name: str) -> Found | None:
        """Return the fields and variables known after one more name.

        Args:
            known: what the names above say.
            depth: the index of the name's segment.
            name: the name.

        Returns:
            The names' fields and variables together, or None when this name does not conform or contradicts them.
        """
        found = self.segments[depth].match(name)
        if found is None or _contradict(known.fields, found.fields) or _contradict(known.variables, found.variables):
            return None
        return Found({**known.fields, **found.fields}, {**known.variables, **found.variables})

    def reach(self, known: Found) -> tuple[Span, ...] | None:
        """The instants that names below can stand for, given what the names so far say.

        Returns:
            Runs of instants; empty when the date does not exist; None while the year is not known.
        """
        prefix = []
        for field in self.fields:
            if field not in known.fields:
                break
            prefix.append(int(known.fields[field]))
        return date_spans(tuple(prefix), self.zone) if prefix else None

    def period(self, known: Found) -> PathPeriod | None:
        """The period of a complete name; None without date fields, or when the date does not exist in the zone."""
        spans = self.reach(known)
        return PathPeriod(spans=spans, variables=known.variables) if spans else None

    def _first_gap(self) -> Field | None:
        upto = COARSE_TO_FINE[: COARSE_TO_FINE.index(self.fields[-1])]
        return next((field for field in upto if field not in self.fields), None)


def _contradict(known: Mapping[Key, str], found: Mapping[Key, str]) -> bool:
    return any(known.get(key, value) != value for key, value in found.items())
