"""Removing very many items of an object store on other machines, wave by wave (DESIGN section 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.errors import Unavailable
from toolkit.retention.bulk import Bulk
from toolkit.retention.gate import CalledOff, Gate
from toolkit.retention.one_by_one import is_gone, unanswered
from toolkit.retention.remote_deletion import TOO_LATE, DeletionTask, PathAnswer, delete_paths
from toolkit.retention.removed import Removed, UnitRemoved
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.retention.units import BULK
from toolkit.runs.errors import PauseAsked, Stopped
from toolkit.storage import NotFound, StorageSpec, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.spread import Spread
    from toolkit.storage import FileSystem

WAVE = 2000
"""So many items are written down and sent out before the next ones are."""
_TASK = 100
_TASKS_A_MACHINE = 4
_LONGEST_SECONDS = 600.0


@dataclass(frozen=True, kw_only=True)
class SpreadMeans:
    """What spreading needs; given to a run that may spread.

    Attributes:
        opened: the machines, made ready when it is first called (a SparkContext takes seconds); raises `Unavailable`
            when there are none now.
        above: only evictions of more instances than this are spread (`executors_above`).
        rate: so many changes a second the store is asked for, over all machines (`delete_rate`).
        spec_of: how the store that a path is on is opened anywhere.
    """

    opened: Callable[[], Spread]
    above: int
    rate: float
    spec_of: Callable[[CanonicalPath], StorageSpec]


@dataclass(kw_only=True)
class Spreading:
    """Removes waves of items on other machines.

    Attributes:
        storage: the store that a path is on.
        gate: asked before each wave, and while it is under way.
        first: the feed's availability flag; empty: it has none.
        means: the machines.
        seconds_left: of the run's lease.
        check: asked while a wave is under way; raises `PauseAsked` instead of resting, since the machines would not.
        wall_clock: seconds of the clock that machines share.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    gate: Gate
    first: str
    means: SpreadMeans
    seconds_left: Callable[[], float]
    check: Callable[[], None]
    wall_clock: Callable[[], float] = time.time
    _lost: Unavailable | None = field(default=None, init=False)

    def remove(self, items: Sequence[PlanItem]) -> UnitRemoved:
        """Remove a wave of items of one base; without machines, from here."""
        base = items[0].base
        refusal = self.gate.refusal(base, must_look=True)
        if refusal is not None:
            return UnitRemoved([Removed(refusal.of(item)) for item in items])
        try:
            spread = self._spread()
        except Unavailable as error:
            note = f"nothing was spread over other machines: {error}"
            return UnitRemoved(self._from_here(items), note=note)
        refusal = self.gate.refusal(base, must_look=True)  # getting machines ready may have taken minutes
        if refusal is not None:
            return UnitRemoved([Removed(refusal.of(item)) for item in items])
        return UnitRemoved(self._remove(spread, base, items))

    def _spread(self) -> Spread:
        if self._lost is not None:
            raise self._lost
        try:
            return self.means.opened()
        except Unavailable as error:
            self._lost = error
            raise

    def _from_here(self, items: Sequence[PlanItem]) -> list[Removed]:
        bulk = Bulk(storage=self.storage, gate=self.gate, first=self.first)
        parts = (items[at : at + BULK] for at in range(0, len(items), BULK))
        return [removed for part in parts for removed in bulk.remove(part)]

    def _remove(self, spread: Spread, base: CanonicalPath, items: Sequence[PlanItem]) -> list[Removed]:
        answers: dict[CanonicalPath, PathAnswer] = {}
        late = "the machines had no time left for it"
        try:
            self._ask(spread, base, [item.path for item in items], answers)
        except Unavailable as error:
            self._lost, late = error, str(error)
        except CalledOff as called_off:
            late = f"the work was {called_off}"
        except Stopped as stopped:
            self.gate.stop(stopped)
            late = "the run was stopped, and the work was called off"
        return [self._removed(item, answers.get(item.path), late) for item in items]

    def _ask(
        self,
        spread: Spread,
        base: CanonicalPath,
        paths: Sequence[CanonicalPath],
        answers: dict[CanonicalPath, PathAnswer],
    ) -> None:
        """Ask until every path has an answer, or a round brings none; what was too late before may be half done.

        A round that is called off for a pause of the run is followed by another one when the run goes on.
        """
        waiting, left, is_first = list(paths), len(paths) + 1, True
        while waiting and len(waiting) < left:
            if not is_first:
                self._rest(base)
            left = len(waiting)
            try:
                for answer in spread.run(
                    delete_paths, self._tasks(base, waiting, spread), check=lambda: self._check(base)
                ):
                    is_ours = answer.code == NotFound.code and not is_first
                    answers[answer.path] = answer._replace(code="") if is_ours else answer
            except PauseAsked:
                left += 1
            is_first = False
            waiting = [path for path in waiting if path not in answers or answers[path].code == TOO_LATE]

    def _tasks(self, base: CanonicalPath, paths: Sequence[CanonicalPath], spread: Spread) -> list[DeletionTask]:
        size = min(_TASK, max(1, len(paths) // (spread.parallel * _TASKS_A_MACHINE)))
        spec, rate = self.means.spec_of(base), self.means.rate / spread.parallel
        issued_at, seconds_left = self.wall_clock(), min(self.seconds_left(), _LONGEST_SECONDS)
        return [
            DeletionTask(
                spec=spec,
                base=base,
                first=self.first,
                paths=tuple(paths[at : at + size]),
                issued_at=issued_at,
                seconds_left=seconds_left,
                rate=rate,
            )
            for at in range(0, len(paths), size)
        ]

    def _rest(self, base: CanonicalPath) -> None:
        """A run that is asked to pause does so here, where no machine works; much may have happened meanwhile."""
        refusal = self.gate.refusal(base, must_look=True)
        if refusal is not None:
            raise CalledOff(refusal=refusal)

    def _check(self, base: CanonicalPath) -> None:
        self.check()
        refusal = self.gate.hold(base)
        if refusal is not None:
            raise CalledOff(refusal=refusal)

    def _removed(self, item: PlanItem, answer: PathAnswer | None, late: str) -> Removed:
        if answer is None or answer.code == TOO_LATE:
            result = ItemResult.failed(item, "interrupted", f"{late}; the next run sees how much was done")
            return Removed(result, is_open=True)
        if not answer.code:
            return Removed(ItemResult.done(item))
        if answer.code == NotFound.code:
            return Removed(ItemResult.skipped(item, SkipReason.ALREADY_GONE))
        if answer.code == Unreachable.code:
            return unanswered(item, answer.message)
        result = ItemResult.failed(item, answer.code, answer.message)
        return Removed(result, is_gone=is_gone(self.storage(item.base), item) is True)
