"""Sets of instances as runs of positions in their sequence: counting them never walks over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Positions:
    """Positions of instances; the runs are sorted, not empty, and don't touch.

    Args:
        runs: ranges of step 1.
    """

    runs: tuple[range, ...] = ()

    @classmethod
    def of(cls, *runs: range) -> Positions:
        """The positions of any ranges of step 1, overlapping or not."""
        merged: list[range] = []
        for run in sorted((run for run in runs if run), key=lambda run: run.start):
            if merged and run.start <= merged[-1].stop:
                merged[-1] = range(merged[-1].start, max(merged[-1].stop, run.stop))
            else:
                merged.append(run)
        return cls(tuple(merged))

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    @property
    def first(self) -> int:
        """The lowest position; an IndexError when there is none."""
        return self.runs[0].start

    @property
    def last(self) -> int:
        """The highest position; an IndexError when there is none."""
        return self.runs[-1].stop - 1

    def minus(self, others: Positions) -> Positions:
        """These positions without the others."""
        return Positions(tuple(piece for run in self.runs for piece in _pieces(run, others)))

    def both(self, others: Positions) -> Positions:
        """The positions that are among the others too."""
        return self.minus(self.minus(others))


def _pieces(run: range, others: Positions) -> Iterator[range]:
    start = run.start
    for other in others.runs:
        if other.start >= run.stop:
            break
        if start < other.start:
            yield range(start, other.start)
        start = max(start, other.stop)
    if start < run.stop:
        yield range(start, run.stop)
