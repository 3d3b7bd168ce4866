"""Batches of one run of an instance: what they share, and the steps that are not reached."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied
from toolkit.actions.attempt import UNKNOWN
from toolkit.actions.model import ItemResult, Problem
from toolkit.availability import DATA_ERRORS
from toolkit.errors import Unavailable
from toolkit.process_runner.codes import NOT_REACHED
from toolkit.process_runner.late_checks import noted
from toolkit.process_runner.targets import CLEAR, END, PREPARE, PUBLISH, STEP, StepItem
from toolkit.result import Outcome
from toolkit.runs.errors import PauseRequested

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.availability import DataAccess
    from toolkit.ledger.batches.rows import FeedInstance
    from toolkit.ledger.batches.updates import JobUpdates
    from toolkit.ledger.jobs.rows import JobRef
    from toolkit.process_runner.targets import ProcessPlan
    from toolkit.process_runner.updates import RunUpdates
    from toolkit.runs.recorder import LedgerWrite


def has_failed(results: Sequence[ItemResult[StepItem]]) -> bool:
    """Return whether an item has failed."""
    return any(each.outcome is Outcome.FAILED for each in results)


def divided(items: Sequence[StepItem]) -> Iterator[range]:
    """Yield the positions of each batch: a step is alone, what is published and flags are together."""

    def batch_of(at: int) -> object:
        kind = items[at].kind
        return at if kind in {STEP, END} else kind if kind in {PREPARE, CLEAR} else PUBLISH

    for _, group in groupby(range(len(items)), batch_of):
        positions = list(group)
        yield range(positions[0], positions[-1] + 1)


def check_child(work: RunContext) -> None:
    """Return when a child process of the run may go on; it cannot rest, so that a pause begins after its end.

    Raises:
        Stopped: it must end.
    """
    if work.guard.stopped is not None:
        raise work.guard.stopped
    with suppress(PauseRequested):
        work.check_remote()


@dataclass(kw_only=True)
class InstanceBatch(ABC):
    """Items of an instance's plan that are worked on together.

    Attributes:
        plan: of the instance.
        positions: of the items in the plan.
        work: of the run.
    """

    plan: ProcessPlan
    positions: range
    work: RunContext

    @property
    def items(self) -> Sequence[StepItem]:
        """The items at the positions."""
        return self.plan.items[self.positions.start : self.positions.stop]

    @property
    def ref(self) -> JobRef:
        """Reference to the job of this run, and of no other run of the instance."""
        return replace(self.plan.target.ref, run_id=int(self.work.run_name))

    @abstractmethod
    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        """Do what the batch says, as the contract of `Batch` has it."""

    def until_failure(
        self, result: Callable[[StepItem], ItemResult[StepItem]], advance: Callable[[int], None]
    ) -> list[ItemResult[StepItem]]:
        """Return the results of the items in their order; after one that has failed the others are not reached."""
        results: list[ItemResult[StepItem]] = []
        for item in self.items:
            results.append(ItemResult.skipped(item, NOT_REACHED) if has_failed(results) else result(item))
            advance(1)
        return results

    def applied(
        self,
        results: Sequence[ItemResult[StepItem]],
        *writes: LedgerWrite,
        notes: Sequence[str] = (),
        failed: Problem | None = None,
        waiting: Problem | None = None,
    ) -> Applied[StepItem]:
        """Return the outcome of the batch; with that of the last one the check for late data is noted.

        A step without an outcome has been ended with all that it started, so that it does not stay open.
        """
        late, is_last = self.plan.target.late, self.positions.stop == len(self.plan.items)
        note = (noted(late, self.work.guard),) if late is not None and is_last else ()
        is_open = {
            at
            for at, each in zip(self.positions, results, strict=True)
            if each.code in UNKNOWN and each.item.kind not in {STEP, END}
        }
        return Applied(
            results=tuple(results),
            open=frozenset(is_open),
            writes=(*writes, *note),
            notes=tuple(notes),
            failed=failed,
            waiting=waiting,
        )

    def updates_of_job(self, updates: RunUpdates, instances: Sequence[FeedInstance], data: DataAccess) -> JobUpdates:
        """Return the updates of a job whose outputs are all there; after a stop or a failure each counts as changed.

        Nothing else is to be done, so that the stop comes too late for the run.

        Args:
            updates: of the run.
            instances: the outputs that are there.
            data: where they are compared.
        """
        with suppress(Unavailable, *DATA_ERRORS), self.work.guard.looking_back():
            return updates.of_job(instances, data)
        return updates.of_job(instances, None)


@dataclass(kw_only=True)
class NotReached(InstanceBatch):
    """Batch of items that are not worked on, since one before them has failed or the steps cannot begin.

    Attributes:
        failed: why the steps cannot begin, the result of the first of them; None: an item before them has failed.
    """

    failed: Problem | None = None

    def apply(self, advance: Callable[[int], None]) -> Applied[StepItem]:
        """Do nothing."""
        results = [ItemResult.skipped(item, NOT_REACHED) for item in self.items]
        if self.failed is not None:
            at = next(at for at, item in enumerate(self.items) if item.kind in {STEP, END})
            results[at] = ItemResult.failed(self.items[at], self.failed.code, self.failed.message)
        advance(len(results))
        return self.applied(results)
