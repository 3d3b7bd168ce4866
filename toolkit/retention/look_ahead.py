"""Listing directories before the walk comes to them: a remote store answers many at once as fast as one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.retention.directories import Directory

if TYPE_CHECKING:
    from toolkit.retention.find import Step
    from toolkit.retention.listing_threads import ListingThreads

_LONGEST = 1_000
"""No more steps than this wait in line in one directory."""

Scan = Callable[[Directory], "Iterator[Step]"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LookAhead:
    """Gives what is in directories, in the order of the walk, and has those that come next listed meanwhile.

    Nothing is listed that the walk would not list. An error comes out where the walk reaches its directory.

    Attributes:
        scan: lists one directory.
        is_passage: whether only known names are looked for in a directory, so that it alone leads nowhere.
        holds_instances: whether there is nothing to look ahead to in it.
        threads: None: one directory after the other.
        window: so many directories of one parent are listed ahead.
    """

    scan: Scan
    is_passage: Callable[[Directory], bool]
    holds_instances: Callable[[Directory], bool]
    threads: ListingThreads | None
    window: int

    def steps_in(self, directory: Directory) -> Iterator[Step]:
        """What is in a directory, in order."""
        if self.threads is None:
            return self.scan(directory)
        read, directory.read = directory.read, None
        steps = self.scan(directory) if read is None else iter(read())
        return steps if self.holds_instances(directory) else self._ahead(steps, self.threads)

    def _ahead(self, steps: Iterator[Step], threads: ListingThreads) -> Iterator[Step]:
        line: deque[Step] = deque()
        waiting = 0
        for step in steps:
            line.append(step)
            if isinstance(step, Directory):
                waiting += 1
                if step.read is None:
                    step.read = threads.submit(partial(self._read, step))
            while waiting >= self.window or len(line) > _LONGEST:
                first = line.popleft()
                waiting -= isinstance(first, Directory)
                yield first
        yield from line

    def _read(self, directory: Directory) -> list[Step]:
        """Everything in a directory; of a passage also what is behind it, or each of them would be waited for."""
        steps = list(self.scan(directory))
        if self.is_passage(directory):
            for step in steps:
                if isinstance(step, Directory):
                    step.read = _known(self._read(step))
        return steps


def _known(steps: list[Step]) -> Callable[[], list[Step]]:
    return lambda: steps
