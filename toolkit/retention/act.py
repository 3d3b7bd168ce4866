"""Doing what a plan says, and nothing else (DESIGN section 1): batch by batch, each written down before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from toolkit.retention.crew import Crew, Crews
from toolkit.retention.pace import side_by_side
from toolkit.retention.parents import Above, Chain, EmptiedParents
from toolkit.retention.recording import Departures, new_item
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.retention.settling import Settled
from toolkit.retention.units import Way
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import Step

if TYPE_CHECKING:
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.progress import Progress
    from toolkit.retention.removal import Removal
    from toolkit.retention.removed import UnitRemoved
    from toolkit.retention.units import Batch, Unit
    from toolkit.runs.active_run import ActiveRun

_DIVIDED_ELSEWHERE = frozenset({Way.BULK, Way.SPREAD})
"""These have threads or machines of their own, so that one at a time is enough."""


@dataclass(kw_only=True)
class Eviction:
    """Removes the items of one feed's plan.

    The calling thread writes down what the threads of a crew do: while they work on a batch, what became of the one
    before, and what the one after is about to do. So nothing begins that is not written down, and hardly anything
    waits for the writing.

    Attributes:
        items: in their order, which keeps what shares a directory together.
        batches: that the items are divided into.
        removal: removes units.
        run: is told what is about to be done, and what was done.
        progress: told how many items are over.
        rate: so many changes a second a remote store is asked for.
        results: what became of each item so far, and of parents that could not be removed.
        notes: for the user.
    """

    items: Sequence[PlanItem]
    batches: Sequence[Batch]
    removal: Removal
    run: ActiveRun
    progress: Progress
    rate: float = inf
    results: list[ItemResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _above: Above = field(init=False)
    _departures: Departures = field(init=False)
    _done: dict[int, UnitRemoved] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._above, self._departures = Above(self.items), Departures(self.items)

    @property
    def stopped(self) -> Stopped | None:
        """Why the run was ended before its time, if it was."""
        return self.removal.gate.stopped

    def work(self) -> None:
        """Work on all items, batch by batch; after a stop the rest is left as it is."""
        with Crews(on_error=self._end_threads) as crews:
            self._work(crews)

    def _end_threads(self) -> None:
        """A thread that is still at work must not begin anything, since nobody would write it down."""
        self.removal.gate.stop(Stopped(reason="interrupted", interrupted=True))

    def _work(self, crews: Crews) -> None:
        pending = Step()
        may_begin = self._record(self._with_next(pending, 0))
        for number, batch in enumerate(self.batches):
            if not may_begin:
                self._leave(batch)
                continue
            crew = self._crew_of(batch, crews)
            shift = crew.start(self._remove, batch.units, at_once=_threads_for(batch))
            may_begin = self._record(self._with_next(pending, number + 1))
            shift.wait()
            pending = self._settled(batch, crew)
        self._record(pending)

    def _with_next(self, step: Step, number: int) -> Step:
        if number >= len(self.batches):
            return step
        positions = self.batches[number].positions
        return replace(step, intended=[new_item(position, self.items[position]) for position in positions])

    def _record(self, step: Step) -> bool:
        """Write a step down; False: what it intends must not begin, and is not written down as such.

        What was written down as intended is given to the crew, also when the run was stopped meanwhile: then nothing of
        it begins, and that is written down as well. After the last effect nobody is asked: a run that was told to stop
        when all was done has done it.
        """
        may_begin = bool(step.intended) and self.removal.gate.may_begin()
        written = step if may_begin else step.without_next
        try:
            if written.settled or written.intended or written.beside:
                self.run.record(written)
        except Stopped as stopped:
            self.removal.gate.stop(stopped)
            return False
        return may_begin

    def _crew_of(self, batch: Batch, crews: Crews) -> Crew:
        base = self.items[batch.positions.start].base
        parallel = self.removal.storage(base).capabilities.parallel
        return crews.of(base, side_by_side(parallel, inf if base.is_local else self.rate))

    def _leave(self, batch: Batch) -> None:
        for position in batch.positions:
            self.results.append(ItemResult.skipped(self.items[position], SkipReason.STOPPED))
        self.progress.advance(len(batch.positions))

    def _remove(self, unit: Unit) -> None:
        """What the threads do."""
        self._done[unit.positions.start] = self.removal.remove(unit)
        self.progress.advance(len(unit.positions))

    def _settled(self, batch: Batch, crew: Crew) -> Step:
        settled = Settled()
        for unit in batch.units:
            done = self._done.pop(unit.positions.start)
            settled.add_unit(unit, done, self._above, self._departures)
            self.notes.extend([done.note] if done.note else [])
        self._remove_parents(settled.chains, crew)
        settled.add_parents()
        self.results.extend(settled.results)
        return settled.step

    def _remove_parents(self, chains: Sequence[Chain], crew: Crew) -> None:
        def all_at_once(work: Callable[[Chain], None], level: Sequence[Chain]) -> None:
            crew.start(work, level).wait()

        gate, storage = self.removal.gate, self.removal.storage
        EmptiedParents(storage=storage, gate=gate, side_by_side=all_at_once).remove(chains)


def _threads_for(batch: Batch) -> int | None:
    """None: all."""
    return 1 if any(unit.way in _DIVIDED_ELSEWHERE for unit in batch.units) else None
