"""What feedctl has to reach beside DistCp, and whether it does; and how all figures are printed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.replication.contestants import DISTCP_NAME, OUR_CALL, OURS, Stage
from benchmarks.replication.race import Result
from benchmarks.replication.shapes import Shape

_MANY_SMALL, _NOTHING, _LARGE = 5.0, 3.0, 1.0
_SMALL_BYTES = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A goal and what was found.

    Args:
        what: was done.
        found: times as fast as the peer.
        wanted: the figure that it has to reach.
        is_least: the peer was ended before its time, so that it is more than that.
        peer: its name.
    """

    what: str
    found: float
    wanted: float
    is_least: bool = False
    peer: str = DISTCP_NAME

    @property
    def is_met(self) -> bool:
        """It is."""
        return self.found >= self.wanted

    def __str__(self) -> str:
        word = "met   " if self.is_met else "MISSED"
        least = "at least " if self.is_least else ""
        return f"{word} {self.what}: {least}{self.found:.2f} times as fast as {self.peer} (goal: {self.wanted:.0f})"


def wanted(shape: Shape, stage: Stage) -> float | None:
    """How many times as fast as DistCp; None: no goal, the figure is for information."""
    if stage in {Stage.NOTHING, Stage.LISTED}:
        return _NOTHING
    if shape.size <= _SMALL_BYTES:
        return _MANY_SMALL if stage is Stage.ALL else None
    return _LARGE if stage is Stage.ALL else None


def verdicts(shape: Shape, found: Result) -> Iterator[Verdict]:
    """Return all goals of a shape, of the whole process and of the call alone; a void figure reaches none."""
    for stage in Stage:
        goal = wanted(shape, stage)
        if goal is None:
            continue
        peer = found.get((Stage.LISTED if stage is Stage.NOTHING else stage, DISTCP_NAME))
        whole, call = found.get((stage, OURS)), found.get((stage, OUR_CALL))
        what = f"{shape.name}, {stage}"
        if peer is not None:
            ratio = peer.whole / whole.whole if whole else 0.0
            yield Verdict(what=f"{what}, whole process", found=ratio, wanted=goal, is_least=peer.is_over)
            ratio = (peer.inside or 0) / call.inside if call and call.inside else 0.0
            yield Verdict(what=f"{what}, the call", found=ratio, wanted=goal, is_least=peer.is_over)


def table(found: Result) -> Iterator[str]:
    """A line for each contestant at each stage; ratios are to our whole process, and to our call."""
    width = max((len(name) for _, name in found), default=0)
    for stage in Stage:
        of = {name: figures for (at, name), figures in found.items() if at is stage}
        if not of:
            continue
        yield f"  {stage}"
        whole, call = of.get(OURS), of.get(OUR_CALL)
        for name, figures in of.items():
            left = _seconds(figures.whole, whole.whole if whole else None)
            over = "  ENDED, it takes longer" if figures.is_over else ""
            yield f"    {name:{width}}  {left}  {_seconds(figures.inside, call.inside if call else None)}{over}"


def _seconds(middle: float | None, ours: float | None) -> str:
    if middle is None:
        return f"{'-':^18}"
    return f"{middle:7.2f} s {middle / ours:6.2f}x" if ours else f"{middle:7.2f} s        "
