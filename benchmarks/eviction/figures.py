"""What was measured of each contestant, and how it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.timing import Took

_UNKNOWN = "-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run that did what it should.

    Args:
        took: its seconds.
        calls: how often it called each method of the NameNode.
        left: empty directories that it left behind.
    """

    took: Took
    calls: Counter[str]
    left: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Durations of all runs of a contestant over one tree.

    Args:
        runs: those that did what they should.
        void: why there are none.
    """

    runs: Sequence[Run]
    void: str | None = None

    @property
    def whole(self) -> float | None:
        """Median seconds of the process."""
        return _median(self._wholes())

    @property
    def inside(self) -> float | None:
        """Median seconds of the call."""
        return _median(self._insides())

    @property
    def imports(self) -> float | None:
        """Median seconds of loading what it needs."""
        return _median([run.took.imports for run in self.runs if run.took.imports is not None])

    def line(self, ours: Figures) -> str:
        """Seconds, median and least, each with its ratio to ours; then the calls."""
        if self.void is not None:
            return f"NO FIGURE: {self.void}"
        calls = ", ".join(f"{count} {name}" for name, count in sorted(self.runs[-1].calls.items()))
        left = f"; leaves {self.runs[-1].left} empty directories" if self.runs[-1].left else ""
        whole = _seconds(self.whole, self._wholes(), ours.whole)
        return f"{whole}  {_seconds(self.inside, self._insides(), ours.inside)}  {calls}{left}"

    def _wholes(self) -> list[float]:
        return [run.took.whole for run in self.runs]

    def _insides(self) -> list[float]:
        return [run.took.inside for run in self.runs if run.took.inside is not None]


def table(figures: Mapping[str, Figures], ours: str, our_call: str) -> Iterator[str]:
    """A line for each contestant; ratios are to our whole process, and to our call.

    Args:
        figures: by name.
        ours: the name whose whole process is 1.
        our_call: the name whose call is 1.
    """
    nothing = Figures(runs=())
    base = Figures(runs=_mixed(figures.get(ours, nothing).runs, figures.get(our_call, nothing).runs))
    width = max(map(len, figures))
    yield f"  {'':{width}}  {'whole process (least)':^25}  {'the call (least)':^25}  calls of the NameNode"
    for name, each in figures.items():
        yield f"  {name:{width}}  {each.line(base)}"


def _mixed(wholes: Sequence[Run], insides: Sequence[Run]) -> tuple[Run, ...]:
    """Runs with the whole of the one and the inside of the other."""
    pairs = zip(wholes, insides, strict=False)
    return tuple(
        Run(took=Took(whole=one.took.whole, inside=other.took.inside), calls=other.calls, left=0)
        for one, other in pairs
    )


def _median(seconds: Sequence[float]) -> float | None:
    return median(seconds) if seconds else None


def _seconds(middle: float | None, all_of_them: Iterable[float], ours: float | None) -> str:
    if middle is None:
        return f"{_UNKNOWN:^25}"
    ratio = f"{middle / ours:6.2f}x" if ours else f"{_UNKNOWN:>7}"
    return f"{middle:7.2f} s ({min(all_of_them):6.2f}) {ratio}"
