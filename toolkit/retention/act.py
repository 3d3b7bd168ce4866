"""Doing what a plan says, and nothing else (DESIGN section 1): batch by batch, each written down before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.result import Outcome
from toolkit.retention.recording import Departures, new_item, settled_item
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import Step

if TYPE_CHECKING:
    from toolkit.ledger.events import NewEvent
    from toolkit.ledger.runs.items import NewItem, SettledItem
    from toolkit.retention.plan import PlanItem
    from toolkit.retention.progress import Progress
    from toolkit.retention.removal import Removal
    from toolkit.runs.active_run import ActiveRun

BATCH = 100
"""So many items are written down before the first of them begins."""

_LOOKED_FOR_PARENTS = frozenset({SkipReason.ALREADY_GONE.value, SkipReason.NOT_EMPTY.value, ""})


@dataclass(kw_only=True)
class Eviction:
    """Removes the items of one feed's plan one after the other.

    Attributes:
        items: in their order, which keeps what shares a directory together.
        removal: removes one.
        run: is told what is about to be done, and what was done.
        results: what became of each item so far, and of parents that could not be removed.
    """

    items: Sequence[PlanItem]
    removal: Removal
    run: ActiveRun
    results: list[ItemResult] = field(default_factory=list)
    _departures: Departures = field(init=False)

    def __post_init__(self) -> None:
        self._departures = Departures(self.items)

    @property
    def stopped(self) -> Stopped | None:
        """Why the run was ended before its time, if it was."""
        return self.removal.stopped

    def work(self, progress: Progress) -> None:
        """Work on all items, batch by batch; after a stop the rest is left as it is.

        Between two batches one record is written: what became of the first, and what the second is about to do.
        """
        batches = [range(at, min(at + BATCH, len(self.items))) for at in range(0, len(self.items), BATCH)]
        may_begin = bool(batches) and self._record(Step(intended=self._new_items(batches[0])))
        for number, batch in enumerate(batches):
            if not may_begin:
                self._leave(batch, progress)
                continue
            step = self._work_on(batch, progress)
            following = batches[number + 1] if number + 1 < len(batches) else range(0)
            may_begin = self._record(replace(step, intended=self._new_items(following)))

    def _new_items(self, batch: range) -> list[NewItem]:
        return [new_item(position, self.items[position]) for position in batch]

    def _record(self, step: Step) -> bool:
        """Write a step down; False: what it intends must not begin, and is not written down as such.

        After the last effect nobody is asked: a run that was told to stop when all was done has done it.
        """
        may_begin = not step.intended or self.removal.may_begin()
        if not may_begin and not step.settled:
            return False
        try:
            self.run.record(step if may_begin else step.without_next)
        except Stopped as stopped:
            self.removal.stopped = self.removal.stopped or stopped
        return self.removal.stopped is None

    def _leave(self, batch: range, progress: Progress) -> None:
        for position in batch:
            self.results.append(ItemResult.skipped(self.items[position], SkipReason.STOPPED))
            progress.advance()

    def _work_on(self, batch: range, progress: Progress) -> Step:
        settled: list[SettledItem] = []
        events: list[NewEvent] = []
        beside: list[tuple[NewItem, SettledItem]] = []
        for position in batch:
            result = self.removal.remove(self.items[position])
            self.results.append(result)
            settled.append(settled_item(position, result))
            events.extend(self._events_of(result))
            for parent in self._emptied_by(position, result):
                beside.append((new_item(position, parent.item), settled_item(position, parent)))
                self.results.extend([parent] if parent.outcome is Outcome.FAILED else [])
            progress.advance()
        return Step(settled=settled, events=events, beside=beside)

    def _emptied_by(self, position: int, result: ItemResult) -> Iterator[ItemResult]:
        if result.outcome is Outcome.FAILED or result.code not in _LOOKED_FOR_PARENTS:
            return iter(())
        following = self.items[position + 1] if position + 1 < len(self.items) else None
        return self.removal.remove_emptied_parents(result.item, following)

    def _events_of(self, result: ItemResult) -> Iterator[NewEvent]:
        """A removal that failed in its middle has taken the instance from its readers all the same."""
        is_done, failed = result.outcome is Outcome.DONE, result.outcome is Outcome.FAILED
        is_gone = is_done or result.code == SkipReason.ALREADY_GONE or (failed and self.removal.is_gone(result.item))
        event = self._departures.of(result.item, is_gone=is_gone, by_us=is_done or failed)
        if event is not None:
            yield event
