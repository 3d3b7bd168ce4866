"""What feedctl has to reach beside the others, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.eviction.contestants import (
    BARE,
    FALCON_NAME,
    FALCON_QUICK,
    FLOOR,
    GOBBLIN_NAME,
    GOBBLIN_QUICK,
    OUR_CALL,
    OURS,
    OURS_QUICK,
)
from benchmarks.eviction.figures import Figures
from benchmarks.eviction.trees import Layout, Tree

_FASTER_THAN_PEERS = {100_000: 5.0, 1_000_000: 20.0}
_BARE_LOOPS = 2.0
_QUICK_PEERS = {FALCON_NAME: FALCON_QUICK, GOBBLIN_NAME: GOBBLIN_QUICK}


class Measure(StrEnum):
    """What is compared."""

    WHOLE = "whole process"
    """From the start of a process to its end."""
    QUICK = "whole process, all with a quick JVM"
    """With options of Java that make a short run shorter, the same ones for feedctl and for its peers."""
    CALL = "the call"
    """Without the start of Java or Python, and without imports."""


_OURS = {Measure.WHOLE: OURS, Measure.QUICK: OURS_QUICK, Measure.CALL: OUR_CALL}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A goal and what was found.

    Args:
        tree: over which.
        measure: of what.
        goal: what is compared with what.
        found: the figure.
        wanted: the figure that it has to reach.
        is_met: whether it does.
    """

    tree: Tree
    measure: Measure
    goal: str
    found: float
    wanted: float
    is_met: bool

    def __str__(self) -> str:
        word = "met   " if self.is_met else "MISSED"
        where = f"{self.tree.instances:,} {self.tree.layout}, {self.measure}"
        return f"{word} {where}: {self.goal} {self.found:.2f} (goal: {self.wanted:.2f})"


def verdicts(tree: Tree, figures: Mapping[str, Figures]) -> Iterator[Verdict]:
    """Yield all goals of a tree whose contestants were measured."""
    wholes = {name: each.whole for name, each in figures.items() if each.whole is not None}
    calls = {name: each.inside for name, each in figures.items() if each.inside is not None}
    for measure, ours, seconds in ((Measure.WHOLE, OURS, wholes), (Measure.CALL, OUR_CALL, calls)):
        if ours in seconds:
            yield from _against_peers(tree, measure, seconds[ours], seconds)
            yield from _against_loop(tree, measure, seconds[ours], seconds)
    if OURS_QUICK in wholes:
        alike = {name: wholes[quick] for name, quick in _QUICK_PEERS.items() if quick in wholes}
        yield from _against_peers(tree, Measure.QUICK, wholes[OURS_QUICK], alike)
    if OUR_CALL in calls:
        yield from _against_floor(tree, calls[OUR_CALL], calls)
    for measure, ours in _OURS.items():
        if ours in figures and figures[ours].void is not None:
            goal = "runs that evict exactly what they should:"
            yield Verdict(tree=tree, measure=measure, goal=goal, found=0, wanted=1, is_met=False)


def _against_peers(tree: Tree, measure: Measure, ours: float, seconds: Mapping[str, float]) -> Iterator[Verdict]:
    wanted = _FASTER_THAN_PEERS.get(tree.instances)
    for peer in (FALCON_NAME, GOBBLIN_NAME):
        if wanted is not None and peer in seconds:
            found = seconds[peer] / ours
            yield Verdict(
                tree=tree,
                measure=measure,
                goal=f"times as fast as {peer}",
                found=found,
                wanted=wanted,
                is_met=found >= wanted,
            )


def _against_loop(tree: Tree, measure: Measure, ours: float, seconds: Mapping[str, float]) -> Iterator[Verdict]:
    if BARE in seconds:
        found = ours / seconds[BARE]
        yield Verdict(
            tree=tree,
            measure=measure,
            goal="times the seconds of the bare loop",
            found=found,
            wanted=_BARE_LOOPS,
            is_met=found <= _BARE_LOOPS,
        )


def _against_floor(tree: Tree, ours: float, seconds: Mapping[str, float]) -> Iterator[Verdict]:
    """The whole process is none of this: where little goes, most of it is the start of Java."""
    if tree.layout is Layout.TREE and {BARE, FLOOR} <= seconds.keys():
        middle = (seconds[BARE] + seconds[FLOOR]) / 2
        yield Verdict(
            tree=tree,
            measure=Measure.CALL,
            goal="seconds, nearer to the floor than to the bare loop:",
            found=ours,
            wanted=middle,
            is_met=ours <= middle,
        )
