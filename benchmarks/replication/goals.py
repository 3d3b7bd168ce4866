"""Goals of replication beside its peers, and the report of all figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.replication.contestants import BARE, DISTCP_NAME, DISTCP_TUNED, OUR_CALL, OURS, OURS_PLAIN, Stage
from benchmarks.replication.race import Figures, Result
from benchmarks.replication.shapes import Shape

_NOTHING, _LARGE = 3.0, 2.0
_SMALL: Mapping[str, float] = {DISTCP_NAME: 5.0, DISTCP_TUNED: 5.0, BARE: 0.8}
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
        return f"{word} {self.what}: {least}{self.found:.2f} times as fast as {self.peer} (goal: {self.wanted:g})"


def wanted(shape: Shape, stage: Stage) -> Mapping[str, float]:
    """How many times as fast as whom; nobody: the figure is for information."""
    if stage in {Stage.NOTHING, Stage.LISTED}:
        return {DISTCP_NAME: _NOTHING}
    if shape.size > _SMALL_BYTES:
        return {DISTCP_NAME: _LARGE}
    return _SMALL if stage is Stage.ALL else {}


def verdicts(shape: Shape, found: Result) -> Iterator[Verdict]:
    """Return all goals of a shape, of the whole process and of the call alone; a void figure reaches none."""
    for stage in Stage:
        at = Stage.LISTED if stage is Stage.NOTHING else stage
        for name, goal in wanted(shape, stage).items():
            peer = found.get((at, name))
            if peer is not None:
                yield from _verdicts(f"{shape.name}, {stage}", found, stage, peer, name, goal)


def _verdicts(what: str, found: Result, stage: Stage, peer: Figures, name: str, goal: float) -> Iterator[Verdict]:
    for ours, how in ((OURS, "whole process"), (OURS_PLAIN, "whole process, by python")):
        whole = found.get((stage, ours))
        ratio = peer.whole / whole.whole if whole else 0.0
        yield Verdict(what=f"{what}, {how}", found=ratio, wanted=goal, is_least=peer.is_over, peer=name)
    call = found.get((stage, OUR_CALL))
    ratio = (peer.inside or 0) / call.inside if call and call.inside else 0.0
    yield Verdict(what=f"{what}, the call", found=ratio, wanted=goal, is_least=peer.is_over, peer=name)


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
