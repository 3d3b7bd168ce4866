"""Modes of actions on tables, and the batches that a mode applies."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from toolkit.actions.action import Applied, copy_counters, feed_event
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.model import ItemResult
from toolkit.catalog.errors import CatalogError
from toolkit.catalog.port import BATCH
from toolkit.errors import Unavailable
from toolkit.hive.targets import TableItem, TableStep
from toolkit.ledger.events import NewEvent
from toolkit.ledger.vocabulary import EventKind
from toolkit.result import Outcome
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.actions.model import Problem
    from toolkit.el import CanonicalPath
    from toolkit.hive.table_context import TableContext
    from toolkit.hive.targets import TablePlan
    from toolkit.ledger.runs.items import Item
    from toolkit.runs.recorder import LedgerWrite

Results: TypeAlias = "dict[TableItem, ItemResult[TableItem]]"
OF_CALL = BATCH // 2
"""So many partitions become visible at once: as many as an import has a metastore add by one call."""
_PARTS = 4 * OF_CALL
_BATCH_BYTES = 4 * 1024**3
"""A batch is written down before its first partition begins; with about so many bytes the first does not wait long."""


class Unregistered(NamedTuple):
    """Positions among unfinished items of those whose data was copied, and not registered.

    Attributes:
        removed: their data is not there any more.
        kept: their data stays, since the metastore may still execute a call that registers it.
    """

    removed: Collection[int] = ()
    kept: Collection[int] = ()


class Mode(Protocol):
    """Mode of an action on a table, for one plan in one run: export or import."""

    @property
    def bases(self) -> tuple[CanonicalPath, ...]:
        """The directories that a person may put a hold into, by what the plan has seen."""
        ...

    def planned(self) -> TablePlan:
        """Return the plan of an instance, whose blank plan the mode has.

        Raises:
            InstanceNotAvailable: it is not there yet.
            CatalogError, StorageError, ElError, IncompatibleTable: it cannot be looked at, or must not be done.
        """
        ...

    def recover(self, left: Sequence[Item]) -> Unregistered:
        """Remove what a dead run left of these items and no reader sees, nor will see by a late call.

        Raises:
            CatalogError, StorageError: it cannot be removed.
        """
        ...

    def apply(self, items: Sequence[TableItem], results: Results) -> Sequence[str]:
        """Do items of one batch, which are of one kind or `TableStep.REPLACE` with their `TableStep.CLEAN`.

        Args:
            items: of the batch.
            results: gets the result of each as soon as it is known; those without one have that of what this raises.

        Returns:
            Notes for the user.

        Raises:
            CatalogError, StorageError, Unavailable, CalledOff, Stopped: it could not be done.
        """
        ...


def result_of(item: TableItem, why: Problem | None) -> ItemResult[TableItem]:
    """Return the result of an item that is done, or has failed."""
    return ItemResult.done(item) if why is None else ItemResult.failed(item, why.code, why.message)


@dataclass(kw_only=True)
class _Progress:
    """Progress of a plan, shared by its batches."""

    began: float = field(default_factory=time.monotonic)
    failed: int = 0


@dataclass(frozen=True, kw_only=True)
class TableBatch:
    """Batch of items that a mode applies together."""

    context: TableContext
    mode: Mode
    positions: range
    so_far: _Progress

    def apply(self, advance: Callable[[int], None]) -> Applied[TableItem]:
        """Apply the items, and report each one."""
        items = [self.context.plan.items[at] for at in self.positions]
        by_item: Results = {}
        notes = self._apply(items, by_item)
        results = tuple(by_item[item] for item in items)
        advance(len(items))
        done = [each.item for each in results if each.outcome is Outcome.DONE]
        self.so_far.failed += sum(each.outcome is Outcome.FAILED for each in results)
        open_ones = frozenset(at for at, each in zip(self.positions, results, strict=True) if each.code in UNKNOWN)
        return Applied(
            results=results, open=open_ones, events=self._events(done), writes=(self._counted(done),), notes=notes
        )

    def _apply(self, items: Sequence[TableItem], results: Results) -> tuple[str, ...]:
        work, base = self.context.work, self.context.root
        refusal = work.guard.refusal(base, items=len(items), must_look=True)
        if refusal is not None:
            results |= {item: refusal.of(item) for item in items}
            return ()
        failures = (CatalogError, StorageError, Unavailable)
        notes = attempted(work, lambda: tuple(self.mode.apply(items, results)), failures=failures)
        if not isinstance(notes, FailedAttempt):
            return notes
        results |= {item: notes.of(item) for item in items if item not in results}
        return ()

    def _counted(self, done: Sequence[TableItem]) -> LedgerWrite:
        found = self.context.plan.detail.counters
        found.update(COPY=sum(item.files for item in done), BYTESCOPIED=sum(item.bytes for item in done))
        found["TIMETAKEN"] = round((time.monotonic() - self.so_far.began) * 1000)
        return copy_counters(found)

    def _events(self, done: Sequence[TableItem]) -> tuple[NewEvent, ...]:
        """Return the event of an instance that is complete with this batch; an export is no instance of its feed."""
        plan, target = self.context.plan, self.context.target
        is_part = bool(plan.unreadable) or bool(self.so_far.failed)
        is_last = self.positions.stop == len(plan.items)
        changed = any(item.step not in {TableStep.CLEAN, TableStep.TABLE} for item in plan.items)
        if target.is_export or target.instant is None or not (done and is_last and changed) or is_part:
            return ()
        new = {TableStep.ADD, TableStep.TABLE}
        was_there = bool(plan.detail.kept) or any(item.step not in new for item in plan.items)
        return (event_of(self.context, was_there=was_there),)


def event_of(context: TableContext, *, was_there: bool) -> NewEvent:
    """Return the event for consumers of the target; they find the instance by the address."""
    return feed_event(EventKind.UPDATED if was_there else EventKind.AVAILABLE, context.target, context.address)


def batches_of(mode: Mode, context: TableContext) -> tuple[TableBatch, ...]:
    """Return the batches that the plan has put its items into."""
    items, so_far = context.plan.items, _Progress()
    if not items:
        return ()
    starts = [at for at in range(1, len(items)) if items[at].batch != items[at - 1].batch]
    ends = [*starts, len(items)]
    return tuple(
        TableBatch(context=context, mode=mode, positions=range(start, end), so_far=so_far)
        for start, end in zip([0, *starts], ends, strict=True)
    )


def in_batches(items: Sequence[TableItem], *, at_once: bool = False) -> Iterator[TableItem]:
    """Yield items with the numbers of their batches: the table by itself, partitions by number and bytes.

    What a partition replaces is cleaned in the same batch: it was written down before the first of them began, so that
    the next run knows of it.

    Args:
        items: of a plan.
        at_once: all partitions are in one batch, as those that are validated together.
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
