"""The batches of an export, an import or a replication: what each does, and what the ledger keeps of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from toolkit.actions.action import Applied
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.model import ItemResult
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.port import BATCH
from toolkit.errors import Unavailable
from toolkit.hive.targets import TableItem, TablePlan, TableStep
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs import counters
from toolkit.ledger.vocabulary import EventKind
from toolkit.result import Outcome
from toolkit.runs.recorder import path_text
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.ledger.database import Transaction
    from toolkit.runs.recorder import LedgerWrite

_PARTS = BATCH // 2
_BATCH_BYTES = 4 * 1024**3
"""A batch of partitions becomes visible at once; with about so many bytes the first does not wait for long."""


class Worker(Protocol):
    """Does the items of one plan."""

    @property
    def base(self) -> CanonicalPath:
        """The directory that bounds every effect."""
        ...

    def work(self, items: Sequence[TableItem], told: dict[TableItem, ItemResult[TableItem]]) -> Sequence[str]:
        """Do items of one batch, which are of one kind or `TableStep.REPLACE` with their `TableStep.CLEAN`.

        Args:
            items: of the batch.
            told: gets the result of each as soon as it is known; those without one have that of what this raises.

        Returns:
            Notes for the user.

        Raises:
            CatalogError, StorageError, Unavailable, CalledOff, Stopped: it could not be done.
        """
        ...


@dataclass(kw_only=True)
class _Progress:
    """How far the plan is."""

    began: float = field(default_factory=time.monotonic)
    failed: int = 0


@dataclass(frozen=True, kw_only=True)
class TableBatch:
    """Batch of items that one worker applies together."""

    plan: TablePlan
    work: RunContext
    worker: Worker
    address: str
    positions: range
    so_far: _Progress

    def apply(self, advance: Callable[[int], None]) -> Applied[TableItem]:
        """Apply the items, and report each one."""
        items = [self.plan.items[at] for at in self.positions]
        told, notes = self._told(items)
        results = tuple(told[item] for item in items)
        advance(len(items))
        done = [each.item for each in results if each.outcome is Outcome.DONE]
        self.so_far.failed += sum(each.outcome is Outcome.FAILED for each in results)
        self._count(done)
        open_ones = frozenset(at for at, each in zip(self.positions, results, strict=True) if each.code in UNKNOWN)
        return Applied(
            results=results, open=open_ones, events=self._events(done), writes=(self._counted(),), notes=notes
        )

    def _told(self, items: Sequence[TableItem]) -> tuple[dict[TableItem, ItemResult[TableItem]], tuple[str, ...]]:
        base = self.worker.base
        refusal = self.work.guard.refusal(base, items=len(items), must_look=True)
        if refusal is not None:
            return {item: refusal.of(item) for item in items}, ()
        told: dict[TableItem, ItemResult[TableItem]] = {}
        failures = (CatalogError, StorageError, Unavailable)
        notes = attempted(self.work, base, lambda: tuple(self.worker.work(items, told)), failures=failures)
        if isinstance(notes, FailedAttempt):
            return {item: notes.of(item) for item in items} | told, ()
        return told, notes

    def _count(self, done: Sequence[TableItem]) -> None:
        found = self.plan.detail.counters
        found.update(COPY=sum(item.files for item in done), BYTESCOPIED=sum(item.bytes for item in done))
        found["TIMETAKEN"] = round((time.monotonic() - self.so_far.began) * 1000)

    def _counted(self) -> LedgerWrite:
        counted = dict(self.plan.detail.counters)

        def count(tx: Transaction, run_id: int) -> None:
            counters.replace(tx, run_id, counted)

        return count

    def _events(self, done: Sequence[TableItem]) -> tuple[NewEvent, ...]:
        """Return the event of an instance that is complete with this batch; an export is no instance of its feed."""
        is_part = bool(self.plan.unreadable) or bool(self.so_far.failed)
        target, is_last = self.plan.target, self.positions.stop == len(self.plan.items)
        changed = any(item.step not in {TableStep.CLEAN, TableStep.TABLE} for item in self.plan.items)
        if target.is_export or target.instant is None or not (done and is_last and changed) or is_part:
            return ()
        fresh = {TableStep.ADD, TableStep.TABLE}
        was_there = bool(self.plan.detail.kept) or any(item.step not in fresh for item in self.plan.items)
        return (event_of(self.plan, self.address, was_there=was_there),)


def event_of(plan: TablePlan, address: str, *, was_there: bool) -> NewEvent:
    """Return the event for consumers of the target; they find the instance by the address."""
    target = plan.target
    return NewEvent(
        kind=EventKind.UPDATED if was_there else EventKind.AVAILABLE,
        feed=target.feed,
        cluster=target.cluster,
        instance_key=target.instance_key,
        uri=path_text(address),
    )


def batches_of(plan: TablePlan, work: RunContext, worker: Worker, address: str) -> tuple[TableBatch, ...]:
    """The batches that the plan has put its items into; the address is that of the instance."""
    so_far = _Progress()
    if not plan.items:
        return ()
    starts = [at for at in range(1, len(plan.items)) if plan.items[at].batch != plan.items[at - 1].batch]
    ends = [*starts, len(plan.items)]
    return tuple(
        TableBatch(plan=plan, work=work, worker=worker, address=address, positions=range(start, end), so_far=so_far)
        for start, end in zip([0, *starts], ends, strict=True)
    )


def in_batches(items: Sequence[TableItem], *, at_once: bool = False) -> Iterator[TableItem]:
    """Items with the numbers of their batches: the table by itself, partitions by number and bytes.

    What a partition replaces is cleaned in the same batch: it was written down before the first of them began, so that
    the next run knows of it.

    Args:
        items: of a plan.
        at_once: all partitions are in one batch, as those that are judged together.
    """
    number, chunk, size = 0, 0, 0
    parts: list[TableItem] = []

    def ended() -> Iterator[TableItem]:
        yield from (replace(each, batch=number) for each in parts)
        for each in parts:
            if each.outdated is not None:
                yield replace(each, step=TableStep.CLEAN, place=each.outdated, outdated=None, wanted=None, batch=number)

    for item in items:
        is_alone = item.step in {TableStep.TABLE, TableStep.FINISH}
        is_full = not at_once and (chunk == _PARTS or size + item.bytes > _BATCH_BYTES)
        if parts and (is_alone or is_full):
            yield from ended()
            number, chunk, size = number + 1, 0, 0
            parts.clear()
        if is_alone:
            yield replace(item, batch=number)
            number += 1
            continue
        parts.append(item)
        chunk, size = chunk + 1, size + item.bytes
    yield from ended()
