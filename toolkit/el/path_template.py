"""Path templates: from an instant to a path, and from a path back to its period (DESIGN sections 3 and 8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property, lru_cache
from types import MappingProxyType

from toolkit.el.errors import ElError, refuse_credentials
from toolkit.el.fields import Field
from toolkit.el.instants import format_instant
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.el.periods import PathPeriod, Span
from toolkit.el.segment import OWN_PREFIX, Found, Segment
from toolkit.el.template_text import TemplateText
from toolkit.el.tokens import DateField, Literal, tokenize

_ROOT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:(?://[^/$*?\[\]{}]*|(?!//)))?(?=/)")

_SHARED = 4096
_LITERAL = re.compile(r"[^$\[\]{}*?]+")
_FIELDS = {f"${{{each}}}": each for each in Field}


@lru_cache(_SHARED)
def _shared_segment(name: str) -> Segment | None:
    """Most names of most templates are one text or one date field: they are alike, and nothing in them can be wrong."""
    if name in _FIELDS:
        return Segment((DateField(_FIELDS[name]),), name)
    return Segment((Literal(name),), name) if _LITERAL.fullmatch(name) else None


class PathTemplate(TemplateText):
    """A path with date fields, user variables and globs, such as ``/data/clicks/${YEAR}/${MONTH}/${DAY}``.

    Args:
        text: an absolute path, or a URI such as ``s3a://bucket/clicks/${YEAR}``.
        timezone: the zone of the date fields (a feed's `path_timezone`), default UTC.
        bound: values of user variables that are already known; they count as literal text.

    Raises:
        ElError: a malformed text, with the position and what was expected.
    """

    def __post_init__(self) -> None:
        refuse_credentials(self.text)
        super().__post_init__()

    @cached_property
    def root(self) -> str:
        """The scheme and authority in front of the path as written, or nothing."""
        match = _ROOT.match(self.text)
        if match is None:
            raise ElError(text=self.text, position=0, expected="an absolute path ('/...') or a URI ('hdfs://host/...')")
        return match.group()

    @cached_property
    def base_depth(self) -> int:
        """Return how many names stand before the first one with a variable part; all of them when there is none."""
        literal = [segment.literal is not None for segment in self.segments]
        return literal.index(False) if False in literal else len(literal)

    @cached_property
    def base(self) -> str:
        """The directory part before the first variable or glob; nothing at or above it is ever removed."""
        return self.root + "/" + "/".join(segment.text for segment in self.segments[: self.base_depth])

    def render(self, instant: datetime, variables: Mapping[str, str] = MappingProxyType({})) -> str:
        """The path of an instant.

        Args:
            instant: timezone-aware.
            variables: values of user variables, one name each.

        Raises:
            ElError: a variable without a value, or a value that is not one name.
        """
        return self.root + "/" + "/".join(self.pattern.render(instant, variables))

    def parse(self, path: str) -> PathPeriod | None:
        """The period that a path stands for; None when the path does not conform (`explain` says why)."""
        known = self._read(path)
        return known if known is None else self.pattern.period(known)

    def step(self, known: Found, depth: int, name: str) -> Found | None:
        """Return the fields and variables known after one more name; None: the name does not conform."""
        return self.pattern.step(known, depth, name)

    def reach(self, known: Found) -> tuple[Span, ...] | None:
        """The instants that anything below can stand for; empty for no such date, None while the year is open."""
        return self.pattern.reach(known)

    def explain(self, path: str) -> str:
        """Why a path does not conform, or the period that it stands for."""
        period = self.parse(path)
        if period is not None:
            return f"conforms: stands for {format_instant(period.first)} to {format_instant(period.end)}"
        return self._why_not(path)

    def _names(self, path: str) -> list[str] | None:
        if not path.startswith(self.root + "/"):
            return None
        return path[len(self.root) + 1 :].removesuffix("/").split("/")

    def _read(self, path: str) -> Found | None:
        names = self._names(path)
        if names is None or len(names) != len(self.segments):
            return None
        known: Found | None = NOTHING_KNOWN
        for depth, name in enumerate(names):
            known = known and self.pattern.step(known, depth, name)
        return known

    def _why_not(self, path: str) -> str:
        names = self._names(path)
        if names is None:
            return f"does not begin with '{self.root}/'"
        known = NOTHING_KNOWN
        for depth, (name, segment) in enumerate(zip(names, self.segments, strict=False)):
            step = self.pattern.step(known, depth, name)
            if step is None:
                return _unlike(depth, name, segment)
            known = step
        if len(names) != len(self.segments):
            return f"has {len(names)} names, the template has {len(self.segments)}"
        if not self.dated:
            return "the template has no date fields, so a path has no period"
        return f"the date {'-'.join(known.fields[field] for field in self.fields)} does not exist in {self.timezone}"

    def _segments(self) -> Iterator[Segment]:
        offset = len(self.root) + 1
        for name in self.text[offset:].removesuffix("/").split("/"):
            self._check_name(name, offset)
            shared = _shared_segment(name)
            yield shared or Segment(tuple(tokenize(name, whole=self.text, offset=offset)), self.text).bind(self.bound)
            offset += len(name) + 1

    def _check_name(self, name: str, offset: int) -> None:
        if not name or name in {".", ".."} or name.startswith(OWN_PREFIX) or "\0" in name:
            expected = f"a name that is not empty, '.', '..' or feedctl's own ('{OWN_PREFIX}...')"
            raise ElError(text=self.text, position=offset, found=repr(name), expected=expected)


def _unlike(depth: int, name: str, segment: Segment) -> str:
    if name.startswith(OWN_PREFIX):
        return f"name {depth + 1} '{name}' is feedctl's own"
    if segment.match(name) is None:
        return f"name {depth + 1} is '{name}', expected {segment.expectation}"
    return f"name {depth + 1} '{name}' contradicts the names before it"
