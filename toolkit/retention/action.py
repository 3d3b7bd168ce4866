"""Retention as an action of the kernel: what it lists, what it decides and what it does (DESIGN sections 7 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import Applied, Batch, ExceededLimit, Recovery, RunContext
from toolkit.actions.batch_loop import new_item, settled_item
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import ItemResult
from toolkit.ledger.runs.items import NewItem, SettledItem
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import ItemState, LifeCycle
from toolkit.result import Outcome
from toolkit.retention.archive import ArchivedDelete, Archiver, settle_stagings
from toolkit.retention.batches import BatchPlan, DeleteMethod, DeleteUnit, UnitBatch
from toolkit.retention.delete import BulkDelete, Removed, SingleDelete, UnitRemoved
from toolkit.retention.delete_remote import EXECUTOR_BATCH, RemoteDelete
from toolkit.retention.delete_tree import TreeDelete
from toolkit.retention.empty_parents import EmptyParents, ParentChain, ParentQueue, is_looked_for
from toolkit.retention.output_watch import Writers, held_items, writers_of
from toolkit.retention.plan import PlanItem, StayReason
from toolkit.retention.planner import RetentionPlanner, TooMuchOfFeed, TooMuchToDelete, blank_plan
from toolkit.retention.records import InstanceEvents, recovered
from toolkit.retention.table_eviction import PartitionBatch, TableEviction
from toolkit.retention.table_recovery import TableRecovery
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from toolkit.actions.hold_file import HoldFile
    from toolkit.el import CanonicalPath
    from toolkit.ledger.events import NewEvent
    from toolkit.ledger.runs.items import Item
    from toolkit.planning.delete_limits import DeleteLimits, Excess
    from toolkit.retention.plan import FeedPlan
    from toolkit.retention.targets import FeedTarget

NAME = "retention"

_DIVIDED_ELSEWHERE = frozenset({DeleteMethod.BULK, DeleteMethod.REMOTE})
"""These have threads or machines of their own, so that one at a time is enough."""


@dataclass(frozen=True, slots=True)
class ExceededDeleteLimit(ExceededLimit):
    """An `ExceededLimit` of `max_delete`, of the run or of one feed."""

    excess: Excess
    target: FeedTarget | None = None
    place: str = ""

    @override
    def refusal(self, digest: str) -> TooMuchToDelete | TooMuchOfFeed:
        if self.target is None:
            return TooMuchToDelete(excess=self.excess, digest=digest)
        return TooMuchOfFeed(excess=self.excess, place=self.place, target=self.target, digest=digest)


@dataclass(frozen=True, kw_only=True)
class RetentionAction:
    """Evicts the old instances of feeds; see `Action`.

    Attributes:
        limits: of a run over all its feeds.
        new_holds: that were added since the run read the holds.
        hold_seen: told of each feed and cluster that was looked at, with the hold file that is there; None: nobody is.
        place_of: where a key of a feed's retention on a cluster is written, as ``file:line``.
        executors_above: evictions of more instances than this, on a store without directories, go to executors.
    """

    limits: DeleteLimits
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    place_of: Callable[[FeedTarget, str], str] = lambda target, _: target.feed
    hold_seen: Callable[[str, str, HoldFile | None], None] | None = None
    executors_above: int = 0
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.EVICTION

    def leases(self, target: FeedTarget) -> tuple[Wanted, ...]:
        """Return the lease of a feed's eviction: one at a time, whatever its nominal time."""
        return (Wanted(resource=f"evict/{target.feed}/{target.cluster}"),)

    def conditions(self, plan: FeedPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the conditions of an eviction."""
        target, base = plan.target, plan.detail.base
        bases = target.data_bases if base is None else (base, *target.neighbour_bases)
        pairs = ((target.feed, target.cluster), *target.neighbours)
        return (HoldWatch(bases=bases, pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: FeedTarget) -> FeedPlan:
        """Return the plan of a target that is not looked at."""
        return blank_plan(target)

    def plan(self, target: FeedTarget, work: RunContext) -> FeedPlan:
        """Return the plan of a feed's eviction."""
        planner = RetentionPlanner(storage=work.stores, check=work.guard.run.check)
        plan = planner.plan(target) if target.table is None else planner.of_tables.plan(target, target.table)
        if self.hold_seen is not None and plan.failed is None:
            self.hold_seen(target.feed, target.cluster, plan.detail.hold_file)
        return replace(plan, covers_all=True)  # whatever their nominal times, one eviction of a feed at a time

    def limit(
        self, plans: Sequence[FeedPlan], work: RunContext
    ) -> tuple[Sequence[FeedPlan], ExceededDeleteLimit | None]:
        """Return the plans, and the safety limit that they exceed together."""
        limited, excess = RetentionPlanner(storage=work.stores, check=work.guard.run.check).limited(plans, self.limits)
        return limited, None if excess is None else ExceededDeleteLimit(excess)

    def target_limit(self, plan: FeedPlan, work: RunContext) -> ExceededDeleteLimit | None:
        """Return the safety limit that a feed's plan exceeds, or None."""
        planner, target = RetentionPlanner(storage=work.stores, check=work.guard.run.check), plan.target
        _, excess = planner.limited((plan,), target.max_delete)
        if excess is None:
            return None
        return ExceededDeleteLimit(excess, target, self.place_of(target, excess.limit))

    def recover(self, plan: FeedPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Recover unfinished items: the walk finds what a killed removal left aside, these items what copying left."""
        if plan.target.table is not None and plan.detail.base is not None:
            base = plan.detail.base
            return TableRecovery(plan=plan, table=plan.target.table, base=base, work=work).recovered(open_items)
        if plan.target.archive is None or plan.detail.hold_file is not None:
            return recovered(plan, open_items, work.stores)
        settled = settle_stagings(plan.target, open_items, work.stores)
        return recovered(plan, settled, work.stores) if settled else Recovery()

    def batches(self, plan: FeedPlan, work: RunContext) -> tuple[_EvictionBatch | PartitionBatch, ...]:
        """Return the batches of a plan in order."""
        if plan.target.table is not None and plan.detail.base is not None:
            return TableEviction(plan=plan, table=plan.target.table, base=plan.detail.base, work=work).batches()
        remote = self._remote(plan, work)
        divided = BatchPlan(
            items=plan.items,
            subtrees=plan.detail.subtrees,
            capabilities=lambda path: work.stores(path).capabilities,
            rate=work.rate,
            remote=None if remote is None else EXECUTOR_BATCH,
            archives=plan.target.archive is not None,
        )
        eviction = _Eviction(plan=plan, work=work, remote=remote, archiver=self._archiver(plan.target, work))
        return tuple(_EvictionBatch(eviction=eviction, batch=batch) for batch in divided.batches())

    def _remote(self, plan: FeedPlan, work: RunContext) -> RemoteDelete | None:
        """Open executors; None: there are none, or too little is planned."""
        if work.executors is None or plan.target.archive is not None:
            return None
        planned = sum(not work.stores(item.base).capabilities.directories for item in plan.items)
        if planned <= self.executors_above:
            return None
        first = plan.target.availability_flag
        return RemoteDelete(work=work, open_executors=work.executors, first=first)

    def _archiver(self, target: FeedTarget, work: RunContext) -> Archiver | None:
        """None: what goes is not archived."""
        if target.archive is None:
            return None
        return Archiver(work=work, base_of=target.archive.base_of, flag=target.availability_flag)


@dataclass(frozen=True, kw_only=True, slots=True)
class _EvictionBatch(Batch[PlanItem]):
    """Batch of items that are removed together."""

    eviction: _Eviction
    batch: UnitBatch

    @property
    @override
    def positions(self) -> range:
        return self.batch.positions

    @override
    def apply(self, advance: Callable[[int], None]) -> Applied[PlanItem]:
        return self.eviction.apply(self.batch, advance)


@dataclass(kw_only=True)
class _Eviction:
    """The eviction of one feed: what one batch leaves to the next ones."""

    plan: FeedPlan
    work: RunContext
    remote: RemoteDelete | None
    archiver: Archiver | None
    _parents: ParentQueue = field(init=False)
    _events: InstanceEvents = field(init=False)
    _single: SingleDelete = field(init=False)
    _tree: TreeDelete = field(init=False)
    _bulk: BulkDelete = field(init=False)

    def __post_init__(self) -> None:
        work, first = self.work, self.plan.target.availability_flag
        self._parents, self._events = ParentQueue(self.plan.items), InstanceEvents(self.plan.items)
        self._single = SingleDelete(work=work, first=first)
        self._tree = TreeDelete(work=work, single=self._single)
        self._bulk = BulkDelete(work=work, first=first)

    def apply(self, batch: UnitBatch, advance: Callable[[int], None]) -> Applied[PlanItem]:
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
        pool.run_all(remove, units, at_once=1 if is_divided else None)
        outcome = _Outcome(parents=self._parents, events=self._events)
        for unit in units:
            outcome.add(unit, done[unit.positions.start])
        return outcome.applied(self._without_parents(outcome.chains, pool))

    def _divided(self, batch: UnitBatch, writers: Writers, held: Collection[int]) -> Sequence[DeleteUnit]:
        """The units of a batch; what other runs write is a unit by itself, so that nothing is removed with it."""
        if not writers.found:
            return batch.units
        base = self.plan.items[batch.positions.start].base
        is_occupied = partial(writers.is_below, base=base)
        return tuple(part for unit in batch.units for part in unit.without(held, is_occupied))

    def _removed(self, unit: DeleteUnit) -> UnitRemoved:
        items = self.plan.items[unit.positions.start : unit.positions.stop]
        if self.archiver is not None:
            archived = ArchivedDelete(archiver=self.archiver, single=self._single)
            removed = [archived.remove(item) for item in items]
            return UnitRemoved(removed, note="; ".join(filter(None, map(_version_note, removed))))
        if unit.method is DeleteMethod.SUBTREE and unit.root is not None:
            return self._tree.remove(unit.root, items)
        if unit.method is DeleteMethod.BULK:
            return UnitRemoved(self._bulk.remove(items))
        if unit.method is DeleteMethod.REMOTE and self.remote is not None:
            return self.remote.remove(items)
        if unit.method is DeleteMethod.TOGETHER:
            return UnitRemoved(self._single.remove_together(items))
        return UnitRemoved([self._single.remove(item) for item in items])

    def _without_parents(self, chains: Sequence[ParentChain], pool: WorkerPool) -> Sequence[ParentChain]:
        EmptyParents(work=self.work, pool=pool).remove(chains)
        return chains


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

    def applied(self, chains: Sequence[ParentChain]) -> Applied[PlanItem]:
        """All of it, once the parents were tried."""
        beside: list[ItemResult[PlanItem]] = []
        for chain in chains:
            for parent in chain.results:
                self._audit.append((new_item(chain.position, parent.item), settled_item(chain.position, parent)))
                beside.extend([parent] if parent.outcome is Outcome.FAILED else [])
        return Applied(
            results=tuple(self._results),
            open=frozenset(self._open),
            beside=tuple(beside),
            events=tuple(self._reported),
            audit_only=tuple(self._audit),
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
