"""Doing what a plan says, and nothing else (DESIGN section 1): batch by batch, each written down before and after."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic

from toolkit.actions.action import Applied, RecordedBatch
from toolkit.actions.model import INTERRUPTED, I, ItemResult, Problem, SkipReason
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.result import Outcome
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import RecordBatch
from toolkit.threads import JOIN_SECONDS, WorkerPool

if TYPE_CHECKING:
    from toolkit.actions.action import Batch, Batches
    from toolkit.actions.guard import Guard
    from toolkit.actions.progress import Progress
    from toolkit.runs.run import ActiveRun

_STATES = {
    Outcome.DONE: ItemState.DONE,
    Outcome.SKIPPED: ItemState.SKIPPED,
    Outcome.FAILED: ItemState.FAILED,
}


def new_item(position: int, item: I) -> NewItem:
    """An item that is about to be worked on, as ledger and audit file know it."""
    return NewItem(position=position, kind=item.kind, path=item.uri, instance_key=item.instance_key)


def settled_item(position: int, result: ItemResult[I]) -> SettledItem:
    """Return the outcome of an item for the ledger."""
    return SettledItem(
        position=position,
        state=_STATES[result.outcome],
        code=result.code or None,
        message=result.message or None,
    )


def next_batch(batches: Generator[Batch[I], Applied[I], None], applied: Applied[I]) -> Batch[I] | None:
    """Return the batch that a generator makes of the results of the one before; None: there are no more."""
    try:
        return batches.send(applied)
    except StopIteration:
        return None


@dataclass(kw_only=True)
class BatchLoop(Generic[I]):
    """Applies the batches of one target's plan.

    A thread works on a batch while the calling one writes down what became of the batch before, and what the one after
    is about to do. So nothing begins that is not written down, and hardly anything waits for the writing. Batches of a
    generator wait for it: each is made of the results of the one before.

    Attributes:
        items: of the plan.
        run: is told what is about to be done, and what was done.
        guard: asked before anything is intended.
        progress: told how many items are over.
        results: what became of each item so far, and of what went with them.
        notes: for the user.
        failed: why the target as a whole has failed; None: no batch says so.
        waiting: what the target waits for; None: no batch says so.
    """

    items: Sequence[I]
    run: ActiveRun
    guard: Guard
    progress: Progress
    results: list[ItemResult[I]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failed: Problem | None = None
    waiting: Problem | None = None

    def work(self, batches: Batches[I]) -> None:
        """Apply all batches, none of them empty; after a stop the rest is left as it is."""
        thread = WorkerPool(1, "feedctl-batch")
        try:
            if isinstance(batches, Generator):
                with closing(batches):
                    self._work_in_order(batches, thread)
            else:
                self._work_ahead(batches, thread)
        finally:
            thread.shutdown()

    def _work_ahead(self, batches: Sequence[Batch[I]], thread: WorkerPool) -> None:
        following = (*batches[1:], None)
        pending = RecordBatch()
        may_begin = self._record(self._with_next(pending, batches[0] if batches else None))
        for batch, after in zip(batches, following, strict=False):
            if not may_begin:
                self._leave(batch.positions)
                continue
            applying = thread.submit(self._applied, batch)
            with ExitStack() as unfinished:
                unfinished.callback(self._call_off, batch, applying)
                may_begin = self._record(self._with_next(pending, after))
                pending = self._settled(batch, applying.result())
                unfinished.pop_all()
        self._record(pending)

    def _work_in_order(self, batches: Generator[Batch[I], Applied[I], None], thread: WorkerPool) -> None:
        """Make each batch of the results of the one before; both are written down in one record."""
        pending, batch = RecordBatch(), next(batches, None)
        while batch is not None:
            if not self._record(self._with_next(pending, batch)):
                self._leave(range(batch.positions.start, len(self.items)))
                return
            applying = thread.submit(self._applied, batch)
            with ExitStack() as unfinished:
                unfinished.callback(self._call_off, batch, applying)
                applied = applying.result()
                unfinished.pop_all()
            pending = self._settled(batch, applied)
            batch = next_batch(batches, applied)
        self._record(pending)

    def _call_off(self, batch: Batch[I], applying: Future[Applied[I]]) -> None:
        """Stop the batch under way; record what it has done in the audit file only.

        In the ledger it stays open: that may be what hangs, or fails in an unforeseen way.
        """
        self.guard.stop(Stopped(reason="interrupted", interrupted=True))
        wait([applying], JOIN_SECONDS)
        if applying.done() and not applying.cancelled() and applying.exception() is None:
            self.run.tell(self._settled(batch, applying.result()))

    def _applied(self, batch: Batch[I]) -> Applied[I]:
        """Apply a batch and return its outcome; all items of one that lets a stop through stay open."""
        try:
            return batch.apply(self.progress.advance)
        except Stopped as stopped:
            self.guard.stop(stopped)
            items = [self.items[at] for at in batch.positions]
            results = (ItemResult.failed(item, INTERRUPTED, f"{item.uri}: {stopped.reason}") for item in items)
            return Applied(results=tuple(results), open=frozenset(batch.positions))

    def _with_next(self, step: RecordBatch, batch: Batch[I] | None) -> RecordBatch:
        if batch is None:
            return step
        intended = [new_item(at, self.items[at]) for at in batch.positions]
        writes = batch.intended_writes if isinstance(batch, RecordedBatch) else ()
        return replace(step, intended=intended, intended_writes=writes)

    def _record(self, step: RecordBatch) -> bool:
        """Write a step down; False: what it intends must not begin, and is not written down as such.

        What was written down as intended is applied, also when the run was stopped meanwhile: then nothing of it
        begins, and that is written down as well. After the last effect this is not checked: a run that was told to stop
        when all was done has done it.
        """
        may_begin = bool(step.intended) and self.guard.may_begin()
        written = step if may_begin else step.without_next
        try:
            if written.settled or written.intended or written.audit_only or written.audit_lines:
                self.run.record(written)
        except Stopped as stopped:
            self.guard.stop(stopped)
            return False
        return may_begin

    def _leave(self, positions: range) -> None:
        self.results.extend(ItemResult.skipped(self.items[at], SkipReason.STOPPED) for at in positions)
        self.progress.advance(len(positions))

    def _settled(self, batch: Batch[I], applied: Applied[I]) -> RecordBatch:
        """Return the record of a batch; an open item stays open in the ledger, and is in the audit file."""
        settled: list[SettledItem] = []
        is_open: list[tuple[NewItem, SettledItem]] = []
        for position, result in zip(batch.positions, applied.results, strict=True):
            item = settled_item(position, result)
            if position in applied.open:
                is_open.append((new_item(position, result.item), item))
            else:
                settled.append(item)
        self.results.extend((*applied.results, *applied.beside))
        self.notes.extend(applied.notes)
        self.failed, self.waiting = self.failed or applied.failed, self.waiting or applied.waiting
        return RecordBatch(
            settled=settled,
            events=applied.events,
            audit_only=(*is_open, *applied.audit_only),
            audit_lines=applied.audit_lines,
            writes=applied.writes,
        )
