"""The instances of a benchmark, as paths: hourly ones, the oldest of which go. Nothing here touches a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

END = datetime(2025, 1, 1, 7, tzinfo=UTC)
"""The hour that evictions are made for, after the last instance, within a day."""
FIRST = datetime(1971, 1, 1, 7, tzinfo=UTC)
"""No instance is earlier: Gobblin keeps for ever what is before 1970. A million hours go on into the future instead."""
HOUR = timedelta(hours=1)
FILE = "part-0"
"""The zero-byte file in each instance."""


class Layout(StrEnum):
    """How the directories of instances are named."""

    TREE = "YYYY/MM/DD/HH"
    """One level each for year, month, day and hour."""
    FLAT = "yyyy-MM-dd-HH"
    """All files in one directory."""

    @property
    def template(self) -> str:
        """As feedctl and Falcon write it."""
        years, rest = "${YEAR}", ("${MONTH}", "${DAY}", "${HOUR}")
        return self._separator.join((years, *rest))

    @property
    def pattern(self) -> str:
        """As Java's date formats want it."""
        return self._separator.join(("yyyy", "MM", "dd", "HH"))

    @property
    def _separator(self) -> str:
        return "/" if self is Layout.TREE else "-"

    def rendered(self, hour: datetime) -> str:
        """The path of an instance below the root of its tree."""
        return self._separator.join((f"{hour.year}", f"{hour.month:02}", f"{hour.day:02}", f"{hour.hour:02}"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """So many hourly instances, up to `END` or from `FIRST` on; each is a directory with one file in it.

    Args:
        layout: how they are named.
        instances: how many there are.
        expired: how many of them, the oldest, have to go.
    """

    layout: Layout
    instances: int
    expired: int

    @property
    def root(self) -> str:
        """The directory that holds all of them and nothing else."""
        return f"/eviction/{self.layout.name.lower()}-{self.instances}"

    @property
    def template(self) -> str:
        """The path of an instance, with variables."""
        return f"{self.root}/{self.layout.template}"

    @property
    def everything(self) -> range:
        """The numbers of all instances, the oldest first."""
        return range(self.instances)

    @property
    def going(self) -> range:
        """The numbers of those that have to go."""
        return range(self.expired)

    @property
    def staying(self) -> range:
        """The numbers of those that have to stay."""
        return range(self.expired, self.instances)

    @property
    def oldest_kept(self) -> datetime:
        """The hour of the first that stays."""
        return self._hour(self.expired)

    def paths(self, numbers: Iterable[int]) -> Iterator[str]:
        """The directories of instances."""
        return (f"{self.root}/{self.layout.rendered(self._hour(number))}" for number in numbers)

    def siblings(self, numbers: range) -> Mapping[str, Sequence[str]]:
        """Each directory that holds instances, and their names in it."""
        return _siblings(self, numbers)

    def directories(self, numbers: range) -> int:
        """How many directories there are with these instances: the root, those between, and the instances."""
        between = {each for parent in self.siblings(numbers) for each in _ancestors(parent, self.root)}
        return 1 + len(between) + len(numbers)

    def dropped_whole(self) -> Iterator[str]:
        """As few directories as possible that hold everything that goes and nothing that stays."""
        if self.layout is Layout.FLAT:
            yield from self.paths(self.going)
            return
        cut, last = self.layout.rendered(self.oldest_kept).split("/"), ""
        for path in self.paths(self.going):
            top = f"{self.root}/{_shortest_before(path.removeprefix(f'{self.root}/').split('/'), cut)}"
            if top != last:
                yield top
            last = top

    def _hour(self, number: int) -> datetime:
        return max(FIRST, END - HOUR * self.instances) + HOUR * number


@lru_cache(maxsize=2)
def _siblings(tree: Tree, numbers: range) -> Mapping[str, Sequence[str]]:
    """Kept: a million names take seconds, and are wanted before and after each run."""
    split = (path.rpartition("/") for path in tree.paths(numbers))
    return {parent: [name for _, _, name in each] for parent, each in groupby(split, key=itemgetter(0))}


def _ancestors(path: str, root: str) -> Iterator[str]:
    """The path and what is above it, strictly below the root."""
    while len(path) > len(root):
        yield path
        path = path.rpartition("/")[0]


def _shortest_before(names: list[str], cut: list[str]) -> str:
    """The fewest leading names that already differ from those of the first instance that stays."""
    same = next(depth for depth, (name, other) in enumerate(zip(names, cut, strict=True)) if name != other)
    return "/".join(names[: same + 1])
