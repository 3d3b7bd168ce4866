"""Partition expressions: which sub-directories of an instance a source has (Falcon overview, Replication)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from toolkit.el.segment import Segment
from toolkit.el.tokens import DateField, Variable, tokenize


@dataclass(frozen=True)
class PartitionExpression:
    """A partition expression such as ``*/${cluster.colo}``: one part for each of the feed's first partitions.

    Args:
        text: names, globs and variables between slashes; the schema has checked it.
    """

    text: str

    @cached_property
    def parts(self) -> tuple[Segment, ...]:
        """The parts, outermost first.

        Raises:
            ElError: a malformed part.
        """
        return tuple(self._segments())

    @property
    def variables(self) -> Iterator[Variable]:
        """The variables, each with its position in the text."""
        return (token for part in self.parts for token in part.tokens if isinstance(token, Variable))

    @property
    def has_expression(self) -> bool:
        """Whether a part of it is more than names and globs."""
        return any(isinstance(token, Variable | DateField) for part in self.parts for token in part.tokens)

    def bind(self, variables: Mapping[str, str]) -> tuple[Segment, ...]:
        """The parts with the values of the variables; those without a value stay.

        Args:
            variables: values by name, for example those of `Feed.variables_on`.

        Raises:
            ElError: a value that is not one name.
        """
        return tuple(part.bind(variables) for part in self.parts)

    def _segments(self) -> Iterator[Segment]:
        offset = 0
        for part in self.text.split("/"):
            yield Segment(tuple(tokenize(part, whole=self.text, offset=offset)), self.text)
            offset += len(part) + 1
