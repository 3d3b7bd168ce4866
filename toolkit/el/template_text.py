"""Text with date fields and user variables, which path templates and table URIs share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Self

from toolkit.el.fields import Field
from toolkit.el.frequency import Frequency
from toolkit.el.pattern import DatedPattern
from toolkit.el.segment import Segment
from toolkit.el.zones import load_zone


@dataclass(frozen=True)
class TemplateText(ABC):
    """A template; a malformed text is refused when it is made, not at first use.

    Args:
        text: as the user wrote it.
        timezone: the zone of the date fields (a feed's `path_timezone`).
        bound: values of user variables that are already known; they count as literal text.

    Raises:
        ElError: a malformed text, with the position and what was expected.
    """

    text: str
    timezone: str = "UTC"
    bound: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", MappingProxyType(dict(self.bound)))
        _ = self.pattern

    def __reduce__(self) -> tuple[type[Self], tuple[str, str, dict[str, str]]]:
        return type(self), (self.text, self.timezone, dict(self.bound))

    def __hash__(self) -> int:
        return hash((self.text, self.timezone, frozenset(self.bound.items())))

    @cached_property
    def pattern(self) -> DatedPattern:
        """The names of the template and the date that they carry."""
        return DatedPattern(tuple(self._segments()), load_zone(self.timezone), self.text)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The names, outermost first."""
        return self.pattern.segments

    @property
    def fields(self) -> tuple[Field, ...]:
        """The date fields, coarsest first."""
        return self.pattern.fields

    @property
    def dated(self) -> bool:
        """True if there are date fields."""
        return bool(self.pattern.fields)

    @property
    def granularity(self) -> Frequency | None:
        """The length of the period that one name stands for (``months(12)`` for a year); None when undated."""
        return self.pattern.granularity

    @property
    def variables(self) -> frozenset[str]:
        """The names of the user variables without a value."""
        return self.pattern.variables

    def bind(self, variables: Mapping[str, str]) -> Self:
        """Return the template with these variables' values as literal text; other variables are ignored.

        Raises:
            ElError: a value is not one name, or two parts of a name still have an open length.
        """
        own = self.variables
        known = {name: value for name, value in variables.items() if name in own}
        bound = type(self)(self.text, self.timezone, {**self.bound, **known}) if known else self
        for segment in bound.segments:
            segment.refuse_open()
        return bound

    @abstractmethod
    def _segments(self) -> Iterator[Segment]:
        """The names of the text, outermost first, with the bound variables replaced."""
