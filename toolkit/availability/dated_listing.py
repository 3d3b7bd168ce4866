"""Instances of a path feed that are there, found by listing: the cost is what is there, not how many could be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.el import is_name
from toolkit.el.pattern import NOTHING_KNOWN, name_reader
from toolkit.storage import FileKind, NotFound, WrongKind, find_status

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath, InstanceSequence, PathTemplate
    from toolkit.el.periods import Span
    from toolkit.el.segment import Found
    from toolkit.storage import FileSystem


@dataclass(frozen=True, kw_only=True, slots=True)
class DatedListing:
    """Lists the directories of a feed, from the years down to the instances.

    Attributes:
        sequence: the instances of the feed.
        template: of the data; the variables that it has left are one name each.
        base: the directory before its first variable.
        system: the store.
    """

    sequence: InstanceSequence
    template: PathTemplate
    base: CanonicalPath
    system: FileSystem

    def instants(self, periods: Sequence[Span]) -> set[datetime]:
        """Return the instances of the periods that have anything, be it a link; only such dates are listed.

        Raises:
            StorageError: the store refuses, or does not answer.
        """
        return set(self._below(self.base, self.template.base_depth, NOTHING_KNOWN, periods))

    def _below(self, path: CanonicalPath, depth: int, known: Found, periods: Sequence[Span]) -> Iterator[datetime]:
        read, is_last = name_reader(self.template.pattern, known, depth), depth == len(self.template.segments) - 1
        for name, kind in self._names(path, depth):
            spans = read(name)
            wanted = periods if spans is None else _common(spans, periods)
            if not wanted:
                continue
            if is_last:
                yield from (instant for first, end in wanted for instant in self.sequence.between(first, end))
            elif kind is not FileKind.FILE and (inner := self.template.step(known, depth, name)) is not None:
                yield from self._below(path.child(name), depth + 1, inner, wanted)

    def _names(self, path: CanonicalPath, depth: int) -> Iterator[tuple[str, FileKind]]:
        """Yield what is in a directory; below a literal name nothing has to be listed."""
        literal = self.template.segments[depth].literal
        if literal is not None:
            found = find_status(self.system, path.child(literal))
            yield from [] if found is None else [(literal, found.kind)]
            return
        try:
            yield from ((each.name, each.kind) for each in self.system.list(path) if is_name(each.name))
        except (NotFound, WrongKind):
            return


def _common(spans: Sequence[Span], periods: Sequence[Span]) -> list[Span]:
    """Return the periods as far as they are within the spans; both are in order."""
    found = []
    for first, end in spans:
        for start, stop in periods:
            if start >= end:
                break
            if stop > first:
                found.append((max(first, start), min(end, stop)))
    return found
