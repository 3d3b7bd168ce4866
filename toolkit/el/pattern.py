"""A sequence of named segments that carries one date: the core of path templates and table URIs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar
from zoneinfo import ZoneInfo

from toolkit.el.directory_names import PlainDates, plain_dates
from toolkit.el.errors import ElError
from toolkit.el.fields import COARSE_TO_FINE, GRANULARITY, Field
from toolkit.el.frequency import Frequency
from toolkit.el.instants import to_utc
from toolkit.el.periods import PathPeriod, Span, date_spans
from toolkit.el.segment import Found, Segment
from toolkit.el.zones import to_local

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
        """What is known after one more name.

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
