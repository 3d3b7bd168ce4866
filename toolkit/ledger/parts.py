"""Long lists for the database in parts, since a statement takes only so many values."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

SIZE = 400
"""Below the 500 selects that SQLite joins with UNION ALL, and the 999 values that an old one takes."""


def in_parts(values: Collection[T], size: int = SIZE) -> Iterator[list[T]]:
    """The values in lists of at most so many; none when there are none."""
    left = iter(values)
    while part := list(islice(left, size)):
        yield part
