"""Retention of feeds with paths: instances are removed or archived, then the directories that this empties."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, Recovery, RunContext
from toolkit.actions.attempt import attempted
from toolkit.actions.batch_loop import new_item, settled_item
from toolkit.actions.model import ItemResult
from toolkit.clock import SystemClock
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.result import Outcome
from toolkit.retention.archive import ArchivedDelete, Archiver, settle_stagings
from toolkit.retention.batches import BatchPlan, DeleteMethod, DeleteUnit, EvictionBatch, UnitBatch
from toolkit.retention.delete import BulkDelete, Removed, SingleDelete, UnitRemoved
from toolkit.retention.delete_quarantine import QuarantinedDelete
from toolkit.retention.delete_remote import EXECUTOR_BATCH, RemoteDelete
from toolkit.retention.delete_tree import TreeDelete
from toolkit.retention.empty_parents import EmptyParents, ParentChain, ParentQueue, is_looked_for
from toolkit.retention.output_watch import Writers, held_items, writers_of
from toolkit.retention.plan import PlanItem, StayReason
from toolkit.retention.records import InstanceEvents, recovered
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath
    from toolkit.ledger.events import NewEvent
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.plan import FeedPlan

_DIVIDED_ELSEWHERE = frozenset({DeleteMethod.BULK, DeleteMethod.REMOTE})
"""These have threads or machines of their own, so that one at a time is enough."""


@dataclass(kw_only=True)
class PathRetention:
    """Retention of a feed with paths, whose batches share what each leaves to the next ones.

    Attributes:
        plan: of the feed.
        executors_above: evictions of more instances than this, on a store without directories, go to executors.
        now: of the wall clock, UTC.
    """

    plan: FeedPlan
    work: RunContext
    executors_above: int
    now: Callable[[], datetime] = SystemClock().now
    _parents: ParentQueue = field(init=False)
    _events: InstanceEvents = field(init=False)
    _single: SingleDelete = field(init=False)

    def __post_init__(self) -> None:
        self._parents, self._events = ParentQueue(self.plan.items), InstanceEvents(self.plan.items)
        self._single = SingleDelete(work=self.work, first=self.plan.target.availability_flag)

    def recover(self, open_items: Sequence[Item]) -> Recovery:
        """Recover unfinished items: the walk finds what a killed removal left aside, these items what copying left."""
        plan, stores = self.plan, self.work.stores
        if plan.target.archive is None or plan.detail.hold_file is not None:
            return recovered(plan, open_items, stores)
        settled = settle_stagings(plan.target, open_items, stores)
        return recovered(plan, settled, stores) if settled else Recovery()

    def batches(self) -> tuple[EvictionBatch, ...]:
        """Return the batches of the plan in order."""
        plan, work = self.plan, self.work
        divided = BatchPlan(
            items=plan.items,
            subtrees=plan.detail.subtrees,
            capabilities=lambda path: work.stores(path).capabilities,
            rate=work.rate,
            remote=None if self._remote is None else EXECUTOR_BATCH,
            archives=plan.target.archive is not None,
            moves=self._moves,
        )
        return tuple(EvictionBatch(each.positions, partial(self._apply, each)) for each in divided.batches())

    @cached_property
    def _remote(self) -> RemoteDelete | None:
        """Open executors; None: there are none, or too little is planned."""
        plan, work = self.plan, self.work
        if work.executors is None or plan.target.archive is not None or self._moves:
            return None
        planned = sum(not work.stores(item.base).capabilities.directories for item in plan.items)
        if planned <= self.executors_above:
            return None
        return RemoteDelete(work=work, open_executors=work.executors, first=plan.target.availability_flag)

    @cached_property
    def _moves(self) -> bool:
        """True if something of the plan goes into quarantine, or is purged there."""
        return any(item.quarantine is not None for item in self.plan.items)

    @cached_property
    def _quarantined(self) -> QuarantinedDelete:
        return QuarantinedDelete(work=self.work, target=self.plan.target, single=self._single, now=self.now)

    @cached_property
    def _archived(self) -> ArchivedDelete | None:
        """None: what goes is not archived."""
        target = self.plan.target
        if target.archive is None:
            return None
        archiver = Archiver(work=self.work, base_of=target.archive.base_of, flag=target.availability_flag)
        return ArchivedDelete(archiver=archiver, single=self._single)

    def _apply(self, batch: UnitBatch, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Remove the units of a batch, then the directories that they were the last in."""
        done: dict[int, UnitRemoved] = {}
        writers = writers_of(self.plan.target, self.work)
        held = held_items({at: self.plan.items[at] for at in batch.positions}, writers)
        units = self._divided(batch, writers, held)

        def remove(unit: DeleteUnit) -> None:
            mine = held.get(unit.positions.start)
            done[unit.positions.start] = self._removed(unit) if mine is None else UnitRemoved([Removed(mine)])
            advance(len(unit.positions))

        pool = self.work.pool(self.plan.items[batch.positions.start].base)
        is_divided = any(unit.method in _DIVIDED_ELSEWHERE for unit in units)
        if self._moves:
            self._quarantined.begin(self.plan.items[at] for at in batch.positions)
        pool.run_all(remove, units, at_once=1 if is_divided else None)
        if self._moves:
            attempted(self.work, self._quarantined.finish, failures=(StorageError,))  # what stays goes later
        outcome = _Outcome(parents=self._parents, events=self._events)
        for unit in units:
            outcome.add(unit, done[unit.positions.start])
        return outcome.applied(EmptyParents(work=self.work, pool=pool).remove(outcome.chains))

    def _divided(self, batch: UnitBatch, writers: Writers, held: Collection[int]) -> Sequence[DeleteUnit]:
        """The units of a batch; what other runs write is a unit by itself, so that nothing is removed with it."""
        if not writers.found:
            return batch.units
        base = self.plan.items[batch.positions.start].base
        is_occupied = partial(writers.is_below, base=base)
        return tuple(part for unit in batch.units for part in unit.without(held, is_occupied))

    def _removed(self, unit: DeleteUnit) -> UnitRemoved:
        items = self.plan.items[unit.positions.start : unit.positions.stop]
        if self._moves or self._archived is not None:
            removed = [self._moved(item) for item in items]
            return UnitRemoved(removed, note="; ".join(filter(None, map(_version_note, removed))))
        if unit.method is DeleteMethod.SUBTREE and unit.root is not None:
            return TreeDelete(work=self.work, single=self._single).remove(unit.root, items)
        if unit.method is DeleteMethod.BULK:
            return UnitRemoved(BulkDelete(work=self.work, first=self._single.first).remove(items))
        if unit.method is DeleteMethod.REMOTE and self._remote is not None:
            return self._remote.remove(items)
        if unit.method is DeleteMethod.TOGETHER:
            return UnitRemoved(self._single.remove_together(items))
        return UnitRemoved([self._single.remove(item) for item in items])

    def _moved(self, item: PlanItem) -> Removed:
        """Remove one item of a plan in which some are archived or in quarantine."""
        if item.quarantine is not None:
            return self._quarantined.remove(item, item.quarantine)
        return self._single.remove(item) if self._archived is None else self._archived.remove(item)


@dataclass(kw_only=True)
class _Outcome:
    """Outcome of a batch, put together unit by unit."""

    parents: ParentQueue
    events: InstanceEvents
    chains: list[ParentChain] = field(default_factory=list)
    _results: list[ItemResult[PlanItem]] = field(default_factory=list)
    _open: set[int] = field(default_factory=set)
    _reported: list[NewEvent] = field(default_factory=list)
    _audit: list[tuple[NewItem, SettledItem]] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)

    def add(self, unit: DeleteUnit, done: UnitRemoved) -> None:
        """Add the outcome of a unit."""
        last = unit.positions.stop - 1
        for position, removed in zip(unit.positions, done.removed, strict=True):
            result = removed.result
            self._results.append(result)
            if removed.archived_at is not None:
                self._audit.append(_archived(result.item, removed.archived_at, position, removed.archived))
            if removed.is_open:
                self._open.add(position)
            else:
                self._tell(result, is_gone=removed.is_gone)
            # What failed in its middle, and of which nothing is left, has emptied what it was in as well.
            if not (is_looked_for(result) or removed.is_gone):
                self.parents.add_occupied(result.item)
            elif position == last or not done.is_whole:
                chain = self.parents.chain(position, unit.root if done.is_whole else None)
                self.chains.extend([chain] if chain.waiting else [])
        if done.is_whole and unit.root is not None:
            self._audit.append(_removed_tree(done.removed[-1].result.item, unit.root, unit.positions))
        self._notes.extend([done.note] if done.note else [])

    def applied(self, parents: Sequence[tuple[int, ItemResult[PlanItem]]]) -> Applied[PlanItem]:
        """Apply the plan, and remove the directories that were emptied."""
        return Applied(
            results=tuple(self._results),
            open=frozenset(self._open),
            beside=tuple(each for _, each in parents if each.outcome is Outcome.FAILED),
            events=tuple(self._reported),
            audit_only=(*self._audit, *((new_item(at, each.item), settled_item(at, each)) for at, each in parents)),
            notes=tuple(self._notes),
        )

    def _tell(self, result: ItemResult[PlanItem], *, is_gone: bool) -> None:
        """A removal that failed in its middle has taken the instance from its readers all the same."""
        is_done, is_failed = result.outcome is Outcome.DONE, result.outcome is Outcome.FAILED
        has_gone = is_done or result.code == StayReason.ALREADY_GONE or (is_failed and is_gone)
        event = self.events.of(result.item, is_gone=has_gone, by_us=is_done or is_failed)
        self._reported.extend([] if event is None else [event])


def _archived(item: PlanItem, place: CanonicalPath, position: int, how_much: str) -> tuple[NewItem, SettledItem]:
    """The first of two steps: what was copied, or found there and compared, before its original went."""
    begun = NewItem(position=position, kind=f"archive:{item.location}", path=str(place), instance_key=item.instance_key)
    return begun, SettledItem(position=position, state=ItemState.DONE, message=how_much)


def _version_note(removed: Removed) -> str:
    """Return the note about an instance that is not in its own place of the archive."""
    own = removed.result.item.archive
    if removed.archived_at is None or removed.archived_at == own:
        return ""
    return (
        f"the archive has another version of {removed.result.item.path} in {own}; this one is in {removed.archived_at}"
    )


def _removed_tree(item: PlanItem, root: CanonicalPath, positions: range) -> tuple[NewItem, SettledItem]:
    """A directory that went by one call, with items in it; `item` is the last of them."""
    about = f"removed by one call, with {len(positions)} items ({positions.start} to {positions.stop - 1})"
    settled = SettledItem(position=positions.start, state=ItemState.DONE, message=about)
    return new_item(positions.start, item.about_parent(root)), settled
