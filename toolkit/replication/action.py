"""Replication as an action of the kernel: what it lists, decides and does (DESIGN sections 7 and 10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.action import (
    Applied,
    Batch,
    Recovery,
    RunContext,
    copy_counters,
    feed_event,
    left_over,
    place_named,
    unknown_place,
    unknown_places_note,
)
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.hold_watch import HoldWatch, NewHolds, NoNewHolds
from toolkit.actions.model import ItemResult, Problem
from toolkit.actions.output_leases import (
    EVICTION_UNDER_WAY,
    SOURCE_BEING_WRITTEN,
    eviction_of_path,
    output_lease,
    writer_of,
)
from toolkit.actions.publication import remove
from toolkit.actions.validation import QualityFailed
from toolkit.availability import is_there
from toolkit.el import CanonicalPath
from toolkit.ledger import manifests
from toolkit.ledger.events import NewEvent
from toolkit.ledger.manifests import PackedManifest, UnitKey
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import EventKind, LeaseMode, LifeCycle
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.replication.planner import ReplicationPlanner, blank_plan
from toolkit.replication.publish import Published, Publisher, finish
from toolkit.replication.removals import exceeded_removal
from toolkit.replication.targets import (
    FLAG,
    NAME,
    REMOVE,
    ReplicationPlan,
    ReplicationTarget,
    UnitItem,
    copy_lease,
)
from toolkit.result import Outcome
from toolkit.runs.recorder import SettledLeftOver, path_text
from toolkit.storage import StorageError, aside_name

if TYPE_CHECKING:
    from toolkit.actions.action import ExceededLimit
    from toolkit.ledger.database import Transaction
    from toolkit.ledger.manifests import Manifest
    from toolkit.ledger.runs.items import Item
    from toolkit.runs.recorder import LedgerWrite


@dataclass(frozen=True, kw_only=True)
class ReplicationAction:
    """Pulls instances; see `Action`.

    Attributes:
        nominal: for which the run acts.
        limits: of a run over all its feeds.
        max_delete: bounds what a run removes that sources no longer have.
        recorded: what the ledger has of the units of an instance, by their paths.
        new_holds: that were added since the run read the holds.
    """

    nominal: datetime
    limits: CopyLimits
    max_delete: DeleteLimits
    recorded: Callable[[ReplicationTarget], Mapping[str, Manifest]] = lambda _: {}
    new_holds: NewHolds = field(default_factory=NoNewHolds)
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.REPLICATION

    def leases(self, target: ReplicationTarget) -> tuple[Wanted, ...]:
        """One run at a time writes the part of an instance that one source gives, beside those of other sources."""
        return (
            copy_lease(target.feed, target.cluster, target.instance_key, target.counterpart),
            output_lease(target.feed, target.cluster, target.instance_key, LeaseMode.SHARED),
        )

    def conditions(self, plan: ReplicationPlan, work: RunContext) -> tuple[HoldWatch, ...]:
        """Return the condition of a target: a hold on the feed also blocks replacing its data."""
        target = plan.target
        pairs = ((target.feed, target.cluster),)
        return (HoldWatch(bases=(target.target_base,), pairs=pairs, storage=work.stores, new_holds=self.new_holds),)

    def blank_plan(self, target: ReplicationTarget) -> ReplicationPlan:
        """Return the plan of a target that is not looked at."""
        return blank_plan(target)

    def plan(self, target: ReplicationTarget, work: RunContext) -> ReplicationPlan:
        """Return the plan of an instance."""
        planner = ReplicationPlanner(
            storage=work.stores,
            check=work.guard.run.check,
            nominal=self.nominal,
            recorded=self.recorded,
            pool=work.copying.pool,
        )
        plan = planner.plan(target)
        if not plan.items:
            return plan
        writer = writer_of(target.feed, target.counterpart, target.instance_key, work)
        if writer:
            message = f"{target.source} is being written, so that it is not copied now: {writer}"
            return replace(plan, items=(), waiting=Problem(code=SOURCE_BEING_WRITTEN, message=message))
        try:
            why = eviction_of_path(target.target, target.target_base, work.outputs.evictions(), work)
        except StorageError as error:
            return replace(plan, items=(), failed=Problem(code=error.code, message=str(error)))
        return replace(plan, items=(), waiting=Problem(code=EVICTION_UNDER_WAY, message=why)) if why else plan

    def limit(
        self, plans: Sequence[ReplicationPlan], work: RunContext
    ) -> tuple[Sequence[ReplicationPlan], ExceededLimit | None]:
        """Return the plans, and the safety limit that they exceed together."""
        del work
        return plans, self.limits.exceeded(plans) or exceeded_removal(plans, self.max_delete)

    def target_limit(self, plan: ReplicationPlan, work: RunContext) -> None:
        """Do nothing: an instance has no limit of its own."""
        del plan, work

    def recover(self, plan: ReplicationPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Finish what a killed run began to copy or remove, unless retention removes the instance now."""
        if self._is_evicted(plan.target, work):
            return Recovery()
        settled: list[SettledLeftOver] = []
        unknown: list[SettledLeftOver] = []
        for left in open_items:
            unit = place_named(left)
            if unit is None or not _is_unit(unit, left.kind, plan.target):
                unknown.append(unknown_place(left))
                continue
            try:
                is_done = self._finished(plan, left, unit, work)
            except StorageError:
                continue
            if plan.waiting is None:  # else the target was not compared, and the run that does settles it
                settled.append(_left_over(plan, left, is_done=is_done and plan.skipped is None))
        found = Recovery.of(settled, "copies")
        notes = (unknown_places_note(unknown),) if unknown else ()
        return Recovery(settled=(*found.settled, *unknown), notes=(*found.notes, *notes))

    def _is_evicted(self, target: ReplicationTarget, work: RunContext) -> bool:
        """Return whether the place is evicted, so that nothing may be written there, also by a plan without work."""
        try:
            return bool(eviction_of_path(target.target, target.target_base, work.outputs.evictions(), work))
        except StorageError:
            return True

    def _finished(self, plan: ReplicationPlan, left: Item, unit: CanonicalPath, work: RunContext) -> bool:
        system = work.stores(unit)
        if left.kind == FLAG:
            return is_there(system, unit)
        if left.kind == REMOVE:
            remove(system, unit.parent.child(aside_name(unit.name)), plan.target.target)  # the removal had begun
            return not is_there(system, unit)
        was_published = finish(plan.target, unit, str(left.run_id), work)
        return was_published or not any(item.target == unit for item in plan.items)

    def batches(self, plan: ReplicationPlan, work: RunContext) -> Generator[Batch[UnitItem], Applied[UnitItem], None]:
        """Make one batch for each unit, one after the other, since each works with many threads."""
        are_published = True
        for at, item in enumerate(plan.items):
            publisher = Publisher(target=plan.target, item=item, work=work)
            is_last = are_published and at + 1 == len(plan.items)
            applied = yield _CopyBatch(plan=plan, publisher=publisher, position=at, is_last=is_last)
            are_published = are_published and all(each.outcome is Outcome.DONE for each in applied.results)


@dataclass(frozen=True, kw_only=True, slots=True)
class _CopyBatch:
    """Batch of one unit.

    Attributes:
        position: of the unit in the plan.
        is_last: all others of the plan are published.
    """

    plan: ReplicationPlan
    publisher: Publisher
    position: int
    is_last: bool

    @property
    def positions(self) -> range:
        """Return the position of the unit as a range."""
        return range(self.position, self.position + 1)

    def apply(self, advance: Callable[[int], None]) -> Applied[UnitItem]:
        """Copy and publish the unit."""
        item = self.publisher.item
        result, published = self._result(item)
        advance(1)
        if published is None:
            return Applied(results=(result,), open=frozenset(self.positions if result.code in UNKNOWN else ()))
        was_there = any(each.present is not None for each in self.plan.items)
        has_changed = not self.plan.detail.is_complete or any(not each.is_gone_already for each in self.plan.items)
        is_news = published.is_complete and has_changed
        kind = EventKind.UPDATED if was_there else EventKind.AVAILABLE
        events = (_event(self.plan.target, kind),) if is_news else ()
        return Applied(
            results=(result,), events=events, writes=self._writes(self.publisher.item, published), notes=published.notes
        )

    def _writes(self, item: UnitItem, published: Published) -> tuple[LedgerWrite, ...]:
        """Return the ledger writes of a unit: its new content, and the counters of the run so far."""
        count, target = copy_counters(self.plan.detail.counters), self.publisher.target
        if item.kind == FLAG:
            return (count,)
        key = UnitKey(
            feed=target.feed,
            cluster=target.cluster,
            instance_key=target.instance_key,
            counterpart=target.counterpart,
            path=path_text(item.uri),
        )
        flag = target.flag if item.target == target.target else ""
        found = item.manifest(published.digests, written_apart=flag)
        packed = None if found is None else PackedManifest.of(found)

        def keep(tx: Transaction, run_id: int) -> None:
            if packed is None:
                manifests.forget_unit(tx, key)
            else:
                manifests.replace(tx, run_id, key, packed)

        def forget(tx: Transaction, run_id: int) -> None:
            del run_id
            manifests.forget_unit(tx, key)

        return (count, forget if item.kind == REMOVE else keep)

    def _result(self, item: UnitItem) -> tuple[ItemResult[UnitItem], Published | None]:
        target, work = self.publisher.target, self.publisher.work
        refusal = work.guard.refusal(target.target_base, must_look=True)
        if refusal is not None:
            return refusal.of(item), None
        publish, began = partial(self.publisher.publish, is_last=self.is_last), time.monotonic()
        published = attempted(work, publish, failures=(StorageError, QualityFailed))
        if isinstance(published, FailedAttempt):
            return published.of(item), None
        taken, done = round((time.monotonic() - began) * 1000), self.publisher.item
        self.plan.detail.counters.update(TIMETAKEN=taken, COPY=done.files, BYTESCOPIED=done.bytes)
        return ItemResult.done(item), published


def _is_unit(place: CanonicalPath, kind: str, target: ReplicationTarget) -> bool:
    """Return whether a run of the target has an item of this kind there."""
    return place == (target.flag_path or target.target) if kind == FLAG else target.has_unit(place)


def _left_over(plan: ReplicationPlan, left: Item, *, is_done: bool) -> SettledLeftOver:
    """Settle an item; a complete instance is announced, also when earlier runs have not done so."""
    is_whole = is_done and not plan.items and plan.detail.is_complete
    return left_over(left, is_done=is_done, event=_event(plan.target, EventKind.AVAILABLE) if is_whole else None)


def _event(target: ReplicationTarget, kind: EventKind) -> NewEvent:
    return feed_event(kind, target, str(target.target))
