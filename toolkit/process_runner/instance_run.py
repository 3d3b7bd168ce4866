"""One run of an instance: its batches, each made of the results of the one before."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from toolkit.actions.model import INTERRUPTED, Problem
from toolkit.availability import DATA_ERRORS
from toolkit.errors import InvalidInput
from toolkit.process_runner.batches import InstanceBatch, NotReached, has_failed
from toolkit.process_runner.codes import HOPELESS
from toolkit.process_runner.output_batches import ClearBatch, PublishBatch
from toolkit.process_runner.outputs import Made
from toolkit.process_runner.prepare import PrepareBatch
from toolkit.process_runner.steps import Beginning, StepBatch, StepRunner
from toolkit.process_runner.targets import CLEAR, END, PREPARE, STEP, StepItem
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from toolkit.actions.action import Applied, Batch, RunContext


@dataclass(kw_only=True)
class InstanceRun:
    """One run of an instance whose plan has items.

    Attributes:
        runner: of its steps.
        work: of the run.
        made: the outputs, once all steps have succeeded.
    """

    runner: StepRunner
    work: RunContext
    made: Made = field(default_factory=Made)

    def batches(self) -> Generator[Batch[StepItem], Applied[StepItem], None]:
        """Make a batch of the outputs that are removed, one of each step, and one of what is published after the last.

        After a failure one batch has the rest, which is not reached.
        """
        plan, work, beginning = self.runner.plan, self.work, self._beginning()
        everything = range(len(plan.items))
        if isinstance(beginning, Problem):
            yield NotReached(plan=plan, positions=everything, work=work, failed=beginning)
            return
        for positions in self._divided():
            batch = self._batch(positions, beginning)
            applied = yield batch
            rest = everything[positions.stop :]
            if rest and has_failed(applied.results):
                yield NotReached(plan=plan, positions=rest, work=work)
                return
            if isinstance(batch, StepBatch) and batch.made is not None:
                self.made = batch.made

    def _beginning(self) -> Beginning | Problem:
        """Return the state before the run changes anything, or why the steps cannot begin."""
        try:
            return self.runner.beginning(int(self.work.run_name))
        except DATA_ERRORS as error:
            return Problem(code=error.code, message=str(error))
        except InvalidInput as error:
            return Problem(code=HOPELESS, message=str(error))
        except Stopped as stopped:
            self.work.guard.stop(stopped)
            return Problem(code=INTERRUPTED, message=str(stopped))

    def _divided(self) -> Iterator[range]:
        """Yield the positions of each batch: a step is alone, what is published and flags are together."""
        for _, group in groupby(enumerate(self.runner.plan.items), key=_batch_of):
            positions = [at for at, _ in group]
            yield range(positions[0], positions[-1] + 1)

    def _batch(self, positions: range, beginning: Beginning) -> InstanceBatch:
        plan, work, runner = self.runner.plan, self.work, self.runner
        kind = plan.items[positions.start].kind
        if kind == PREPARE:
            return PrepareBatch(plan=plan, positions=positions, work=work)
        if kind == CLEAR:
            return ClearBatch(plan=plan, positions=positions, work=work, staged=runner.staged)
        if kind in {STEP, END}:
            return StepBatch(plan=plan, positions=positions, work=work, runner=runner, beginning=beginning)
        return PublishBatch(plan=plan, positions=positions, work=work, staged=runner.staged, made=self.made)


def _batch_of(pair: tuple[int, StepItem]) -> str:
    """Return what the items of a batch have in common."""
    at, item = pair
    if item.kind in {STEP, END}:
        return str(at)
    return item.kind if item.kind in {PREPARE, CLEAR} else ""
