"""How cost grows with what there is: figures of whole processes at several sizes, kept as JSON."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.whole_process import run

RESULTS = Path(__file__).with_name("growth.json")
"""The figures of the last run in full size, from which docs/performance.md is made."""
LINEAR = 1.15
"""Exponents up to this are linear: figures of one run scatter."""
_QUICK_SECONDS = 10.0
_QUICK_ROUNDS = 5
_NOISE_SECONDS = 0.15
_NOISE_OF_START = 0.05
Command = Callable[[Path, int], list[str]]
"""Prepare an empty folder for a size, and return the command of the process."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contestant:
    """Somebody who does the work.

    Args:
        name: as it is printed.
        command: of the process that is measured.
        most: size up to which it is run.
        fine: exit codes.
    """

    name: str
    command: Command
    most: int = 10**9
    fine: tuple[int, ...] = (0,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Something that is done at several sizes.

    Args:
        action: what is done.
        unit: what is counted.
        sizes: the first is the start of a process, the others grow tenfold.
        contestants: ours first.
    """

    action: str
    unit: str
    sizes: tuple[int, ...]
    contestants: tuple[Contestant, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """Cost of a whole process at a size: seconds by the clock and of all its processors, and peak MiB."""

    size: int
    wall: float
    processor: float
    memory: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Growth:
    """Figures of one contestant, by size."""

    action: str
    unit: str
    name: str
    figures: tuple[Figure, ...]

    @property
    def exponent(self) -> float | None:
        """Power of the size by which time beyond the start grows over the last step; None: too little to tell."""
        return self._power([each.wall for each in self.figures], _NOISE_SECONDS)

    @property
    def memory_exponent(self) -> float | None:
        """As `exponent`, of memory."""
        return self._power([each.memory for each in self.figures], 10.0)

    def _power(self, costs: list[float], noise: float) -> float | None:
        if len(costs) < 3:  # noqa: PLR2004 - a start and two sizes
            return None
        start, before, last = costs[0], costs[-2], costs[-1]
        noise = max(noise, _NOISE_OF_START * start)
        if last - start < noise:
            return None
        sizes = self.figures[-1].size / self.figures[-2].size
        # A size before that is lost in the noise counts as the noise: the exponent is at least this.
        return math.log((last - start) / max(before - start, noise)) / math.log(sizes)


def measured(case: Case, rounds: int = 1) -> list[Growth]:
    """Return the figures of all contestants, who take turns at each size; of several rounds the quickest.

    Small sizes take up to five rounds, as many as begin within ten seconds of a contestant: the start that is
    subtracted from the others has to be right. Memory is the most of all rounds.
    """
    found: Mapping[str, list[Figure]] = {each.name: [] for each in case.contestants}
    for each in case.contestants:
        _figure(each, case.sizes[0])  # compiles Python's modules
    for size in case.sizes:
        for name, took in _rounds([each for each in case.contestants if size <= each.most], size, rounds).items():
            found[name].append(replace(min(took, key=lambda one: one.wall), memory=max(one.memory for one in took)))
    return [
        Growth(action=case.action, unit=case.unit, name=name, figures=tuple(figures)) for name, figures in found.items()
    ]


def _rounds(contestants: Sequence[Contestant], size: int, rounds: int) -> Mapping[str, list[Figure]]:
    found: Mapping[str, list[Figure]] = {each.name: [] for each in contestants}
    spent: dict[str, float] = defaultdict(float)
    for number in range(max(rounds, _QUICK_ROUNDS)):
        for each in contestants:
            if number < rounds or spent[each.name] < _QUICK_SECONDS:
                began = time.monotonic()
                found[each.name].append(_figure(each, size))
                spent[each.name] += time.monotonic() - began
    return found


def _figure(contestant: Contestant, size: int) -> Figure:
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        command = contestant.command(Path(name), size)
        began = time.perf_counter()
        processor, memory = run(command, contestant.fine)
        wall = time.perf_counter() - began
    return Figure(size=size, wall=round(wall, 3), processor=round(processor, 3), memory=round(memory))


def stored(found: list[Growth], place: Path = RESULTS) -> None:
    """Keep figures beside those of other actions that are there."""
    actions = {each.action for each in found}
    kept = [each for each in read(place) if each.action not in actions]
    place.write_text(json.dumps([asdict(each) for each in (*kept, *found)], indent=1) + "\n", encoding="utf-8")


def read(place: Path = RESULTS) -> list[Growth]:
    """Return the figures that are kept."""
    if not place.exists():
        return []
    return [
        Growth(**{**each, "figures": tuple(Figure(**one) for one in each["figures"])})
        for each in json.loads(place.read_text(encoding="utf-8"))
    ]
