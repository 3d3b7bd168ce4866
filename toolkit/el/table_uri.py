"""Table URIs: a table of a catalog and the partition of an instant (Falcon entity specification, Catalog Storage)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import Protocol, overload
from urllib.parse import unquote

from toolkit.el.errors import ElError
from toolkit.el.fields import Field
from toolkit.el.pattern import NOTHING_KNOWN
from toolkit.el.periods import PathPeriod
from toolkit.el.segment import Segment
from toolkit.el.template_text import TemplateText
from toolkit.el.tokens import Glob, tokenize

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _ReadUri(Protocol):
    def __call__(self, text: str, timezone: str = "UTC") -> TableUri: ...


class _ReadPartition(Protocol):
    def __call__(self, spec: Mapping[str, str] | str) -> PathPeriod | None: ...


class _Parse:
    """A name for two readings: the class reads a URI's text, a URI reads a partition."""

    @overload
    def __get__(self, uri: None, owner: type[TableUri]) -> _ReadUri: ...
    @overload
    def __get__(self, uri: TableUri, owner: type[TableUri]) -> _ReadPartition: ...
    def __get__(self, uri: TableUri | None, owner: type[TableUri]) -> _ReadUri | _ReadPartition:
        return owner if uri is None else uri.period_of


class TableUri(TemplateText):
    """A table and a template of its partitions; the first key is the dated one.

    A partition's keys are those of the URI in whatever case either is written: Hive has no others than in lower case.

    `TableUri.parse(text)` reads a URI; `uri.parse(spec)` reads a partition of it (see `period_of`).

    Args:
        text: ``catalog:database:table#key=value;key=value``, values with date fields and user variables.
        timezone: the zone of the date fields (a feed's `path_timezone`), default UTC.
        bound: values of user variables that are already known; they count as literal text.

    Raises:
        ElError: a malformed text, with the position and what was expected.
    """

    parse = _Parse()

    def __post_init__(self) -> None:
        super().__post_init__()
        if Field.YEAR not in self.segments[0].fields:
            position = self.text.index("#") + 1
            found = self.partition_keys[0]
            raise ElError(text=self.text, position=position, found=found, expected="a dated first key (with ${YEAR})")

    @property
    def database(self) -> str:
        """The database of the table."""
        return self._parts.database

    @property
    def table(self) -> str:
        """The name of the table, without its database."""
        return self._parts.table

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """The partition keys that the URI names, in its order."""
        return tuple(self._parts.values)

    def render(self, instant: datetime, variables: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """The partition of an instant: key to value, in the order of the URI.

        Raises:
            ElError: a variable without a value, or a value that is not one name.
        """
        return dict(zip(self.partition_keys, self.pattern.render(instant, variables), strict=True))

    def period_of(self, spec: Mapping[str, str] | str) -> PathPeriod | None:
        """The period that a partition stands for, or None when it does not conform.

        Args:
            spec: key to value, or the text ``key=value`` joined by ``/`` (a partition's name in Hive, with ``%``
                escapes) or by ``;``. Keys that the URI does not name may have any value.
        """
        values = _values(spec)
        known = NOTHING_KNOWN
        for depth, key in enumerate(self._lower_keys):
            step = self.pattern.step(known, depth, values[key]) if key in values else None
            if step is None:
                return None
            known = step
        return self.pattern.period(known)

    def explain(self, spec: Mapping[str, str] | str) -> str:
        """Why a partition does not conform, or that it does."""
        values = _values(spec)
        for key, segment in zip(self.partition_keys, self.pattern.segments, strict=True):
            value = values.get(key.lower())
            if value is None:
                return f"has no key '{key}', expected {key}={segment.expectation}"
            if segment.match(value) is None:
                return f"{key} is '{value}', expected {segment.expectation}"
        if self.period_of(values) is None:
            return f"the values contradict each other, or the date does not exist in {self.timezone}"
        return "conforms"

    def _segments(self) -> Iterator[Segment]:
        return (value.bind(self.bound) for value in self._parts.values.values())

    @cached_property
    def _lower_keys(self) -> tuple[str, ...]:
        return tuple(key.lower() for key in self.partition_keys)

    @cached_property
    def _parts(self) -> _Parts:
        reader = _Reader(self.text)
        reader.skip("catalog:")
        database = reader.take(_NAME, "a database name")
        reader.skip(":")
        table = reader.take(_NAME, "a table name")
        reader.skip("#")
        return _Parts(database, table, dict(reader.partitions()))


@dataclass(frozen=True)
class _Parts:
    database: str
    table: str
    values: dict[str, Segment]


@dataclass
class _Reader:
    """Reads a table URI from left to right."""

    text: str
    at: int = 0

    def skip(self, literal: str) -> None:
        if not self.text.startswith(literal, self.at):
            raise self._error(repr(literal))
        self.at += len(literal)

    def take(self, shape: re.Pattern[str], what: str) -> str:
        match = shape.match(self.text, self.at)
        if match is None:
            raise self._error(what)
        self.at = match.end()
        return match.group()

    def partitions(self) -> Iterator[tuple[str, Segment]]:
        seen: set[str] = set()
        while True:
            start, key = self.at, self.take(_KEY, "a partition key")
            if key.lower() in seen:
                raise ElError(text=self.text, position=start, found=key, expected="each partition key once")
            seen.add(key.lower())
            self.skip("=")
            yield key, self._value()
            if self.at == len(self.text):
                return
            self.skip(";")

    def _value(self) -> Segment:
        start = self.at
        self.at = end if (end := self.text.find(";", start)) >= 0 else len(self.text)
        value = self.text[start : self.at]
        if "=" in value:  # a key written twice, or another separator than `;`; Hive escapes it in names
            position = start + value.index("=")
            expected = "a value without '=': KEY=VALUE;KEY=VALUE"
            raise ElError(text=self.text, position=position, found=self.text[position:], expected=expected)
        tokens = tuple(tokenize(value, whole=self.text, offset=start))
        if not tokens or any(isinstance(token, Glob) for token in tokens):
            raise ElError(text=self.text, position=start, found=value, expected="a value without globs")
        return Segment(tokens, self.text)

    def _error(self, expected: str) -> ElError:
        expected = f"{expected} as in catalog:DATABASE:TABLE#KEY=VALUE;KEY=VALUE"
        return ElError(text=self.text, position=self.at, found=self.text[self.at :], expected=expected)


def _values(spec: Mapping[str, str] | str) -> dict[str, str]:
    """The values of a partition by key in lower case; in a text Hive escapes special characters as ``%XX``."""
    if not isinstance(spec, str):
        return {key.lower(): value for key, value in spec.items()}
    pairs = (pair.partition("=") for pair in re.split("[;/]", spec))
    return {key.lower(): unquote(value) for key, _, value in pairs}
