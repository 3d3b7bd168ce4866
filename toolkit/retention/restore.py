"""Bringing instances back from quarantine, as an action of the kernel that needs the manifests and nothing else.

An instance that is moved back is whole at once, its flag with it. On a store without renames the flag is written last,
after a look that says that all else is still as it was condemned. The manifest goes after that, so that a restore that
is killed can be run again. A hold on the feed does not stop a restore: it replaces nothing, and who has evicted the
wrong data holds the feed first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Action, Applied, Recovery, feed_event, left_over, place_named
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.model import ItemResult, Problem
from toolkit.availability import is_ready, is_there
from toolkit.catalog.errors import CatalogError
from toolkit.el import CanonicalPath, format_instant
from toolkit.entities import LocationType
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import EventKind, LifeCycle
from toolkit.result import Outcome
from toolkit.retention.batches import BATCH, EvictionBatch
from toolkit.retention.output_watch import held_items, writers_of
from toolkit.retention.plan import FeedPlan, ItemKind, PlanItem, RetentionDetail
from toolkit.retention.planner import blank_plan
from toolkit.retention.quarantine import BadManifest, digest_of
from toolkit.retention.quarantine_reader import Quarantined, QuarantineEntry, QuarantineReader
from toolkit.retention.restorable import RestoreChoice, chosen
from toolkit.retention.restore_data import ALREADY_THERE, DataRestore
from toolkit.retention.tables.evictable import UnreadableLocations
from toolkit.retention.tables.quarantine import TableQuarantineReader
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.guard import Condition
    from toolkit.ledger.events import NewEvent
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.targets import FeedTarget
    from toolkit.storage import FileSystem

NAME = "restore"
_FAILURES = (StorageError, CatalogError)


@dataclass(frozen=True, kw_only=True)
class RestoreAction(Action["FeedTarget", PlanItem, RetentionDetail]):
    """Brings instances back from quarantine; see `Action`."""

    choice: RestoreChoice
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.REVIEW

    def leases(self, target: FeedTarget) -> tuple[Wanted, ...]:
        """Return the lease of the feed's eviction: while instances come back none goes, and none is purged."""
        return (Wanted(resource=f"evict/{target.feed}/{target.cluster}"),)

    def conditions(self, plan: FeedPlan, work: RunContext) -> tuple[Condition, ...]:
        """Return no condition; see the module about holds."""
        del plan, work
        return ()

    def blank_plan(self, target: FeedTarget) -> FeedPlan:
        """Return the plan of a target that is not looked at."""
        return blank_plan(target)

    def plan(self, target: FeedTarget, work: RunContext) -> FeedPlan:
        """Return what comes back: of an instance that was evicted more than once, what was evicted last."""
        blank = replace(blank_plan(target), covers_all=True)
        reader = reader_of(target, work.stores, work.guard.run.check)
        newest: dict[CanonicalPath, Quarantined] = {}
        bad: list[BadManifest] = []
        older = 0
        try:
            for entry in chosen(reader, self.choice):
                try:
                    found = reader.read(entry)
                except BadManifest as error:
                    bad.append(error)
                    continue
                if found is not None:
                    path = found.candidate.path
                    older += path in newest
                    newest[path] = max(found, newest.get(path, found), key=lambda each: each.written)
            versions = list(newest.values())
            if isinstance(reader, TableQuarantineReader):
                versions = reader.newest_versions(versions)
        except (*_FAILURES, UnreadableLocations) as error:
            return replace(blank, failed=Problem(code=error.code, message=str(error)))
        items = sorted((_item(target, each) for each in versions), key=lambda item: item.sort_key)
        return replace(blank, items=tuple(items), notes=tuple(_notes(older + len(newest) - len(versions), bad)))

    def recover(self, plan: FeedPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Announce what a restore that was killed had brought back."""
        own = [item for item in open_items if item.kind.startswith(ItemKind.RESTORED)]
        reader = reader_of(plan.target, work.stores, work.guard.run.check)
        parse = partial(CanonicalPath.parse, aliases=plan.target.name_services)
        try:
            waiting = {each.place.digest: each for each in chosen(reader, RestoreChoice())}
            done = [_is_back(reader, place_named(item, parse), waiting, work) for item in own]
            whole = [
                is_done and _is_whole(reader, item.instance_key, waiting.values())
                for item, is_done in zip(own, done, strict=True)
            ]
        except (*_FAILURES, UnreadableLocations):
            return Recovery()
        return Recovery.of(
            [
                left_over(each, is_done=is_done, event=_event(plan, each.path, each.instance_key) if is_whole else None)
                for each, is_done, is_whole in zip(own, done, whole, strict=True)
            ],
            "instances",
        )

    def batches(self, plan: FeedPlan, work: RunContext) -> tuple[EvictionBatch, ...]:
        """Return the batches of a plan in order."""
        restore = _Restore(
            plan=plan, work=work, left=Counter(item.instance_key for item in plan.items if _is_data(item))
        )
        size = len(plan.items)
        spans = (range(at, min(at + BATCH, size)) for at in range(0, size, BATCH))
        return tuple(EvictionBatch(span, partial(restore.apply, span)) for span in spans)


@dataclass(frozen=True, kw_only=True)
class _Restore:
    """Restore of one feed.

    Attributes:
        left: so many places of the data of each instance are still to come back; one event tells of all.
    """

    plan: FeedPlan
    work: RunContext
    left: Counter[str]
    _done: set[str] = field(default_factory=set, init=False)

    def apply(self, positions: range, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Bring the instances of a batch back."""
        items = {at: self.plan.items[at] for at in positions}
        held = held_items(items, writers_of(self.plan.target, self.work))
        results: dict[int, ItemResult[PlanItem]] = {}

        def restore(position: int) -> None:
            results[position] = held.get(position) or self._restored(items[position])
            advance(1)

        self.work.pool(self.plan.items[positions.start].base).run_all(restore, positions)
        attempted(self.work, self._data.finish, failures=(StorageError,))  # what stays is removed by a purge
        ordered = [results[at] for at in positions]
        return Applied(
            results=tuple(ordered),
            open=frozenset(at for at in positions if results[at].code in UNKNOWN),
            events=tuple(event for each in ordered for event in self._events(each)),
        )

    @cached_property
    def _reader(self) -> QuarantineReader:
        """The reader that all instances share: it asks the metastore for the partitions of a table once."""
        return reader_of(self.plan.target, self.work.stores, self.work.guard.check)

    @cached_property
    def _data(self) -> DataRestore:
        return DataRestore(target=self.plan.target, work=self.work, reader=self._reader)

    def _events(self, result: ItemResult[PlanItem]) -> Iterator[NewEvent]:
        item, key = result.item, result.item.instance_key
        if not _is_data(item):
            return
        is_done = result.outcome is Outcome.DONE
        self._done.update([key] if is_done else [])
        self.left[key] -= 1 if is_done or result.code == ALREADY_THERE else len(self.plan.items)
        if self.left[key] != 0 or key not in self._done:
            return
        system, flag = self.work.stores(item.base), self.plan.target.availability_flag
        ready = partial(is_ready, system, item.path, flag)
        if self.plan.target.table is not None:  # its readers ask the metastore
            ready = partial(self._is_whole, key)
        if attempted(self.work, ready, failures=(*_FAILURES, UnreadableLocations)) is True:
            yield _event(self.plan, str(item.path), item.instance_key)

    def _is_whole(self, instance_key: str) -> bool:
        """Return whether all partitions of an instance are back; other ones may not be chosen, or not be readable."""
        return _is_whole(self._reader, instance_key, self._entries, self._planned)

    @cached_property
    def _entries(self) -> Sequence[QuarantineEntry]:
        return list(chosen(self._reader, RestoreChoice()))

    @cached_property
    def _planned(self) -> frozenset[str]:
        """Digests of the places that `left` counts."""
        return frozenset(digest_of(item.path) for item in self.plan.items)

    def _restored(self, item: PlanItem) -> ItemResult[PlanItem]:
        refusal = self.work.guard.refusal(item.base)
        if refusal is not None:
            return refusal.of(item)
        done = attempted(self.work, partial(self._data.bring_back, item), failures=(*_FAILURES, UnreadableLocations))
        return done.of(item) if isinstance(done, FailedAttempt) else done


def _is_data(item: PlanItem) -> bool:
    return item.location is LocationType.DATA


def reader_of(
    target: FeedTarget, storage: Callable[[CanonicalPath], FileSystem], check: Callable[[], None]
) -> QuarantineReader:
    """Return what reads the quarantine of a feed."""
    if target.table is None:
        return QuarantineReader(target=target, storage=storage, check=check)
    return TableQuarantineReader(target=target, storage=storage, check=check, table=target.table)


def _item(target: FeedTarget, found: Quarantined) -> PlanItem:
    return PlanItem(
        type=ItemKind.RESTORED,
        feed=target.feed,
        cluster=target.cluster,
        location=found.candidate.location,
        instance_key=format_instant(found.candidate.time),
        path=found.candidate.path,
        base=found.candidate.base,
        quarantine=found.place.named(is_listed=found.is_listed),
    )


def _event(plan: FeedPlan, uri: str, instance_key: str) -> NewEvent:
    return feed_event(EventKind.AVAILABLE, plan.target, uri, instance_key)


def _is_back(
    reader: QuarantineReader, path: CanonicalPath | None, waiting: dict[str, QuarantineEntry], work: RunContext
) -> bool:
    """Return whether an instance that a killed restore was at is where readers look for it, and not in quarantine."""
    target = reader.target
    if isinstance(reader, TableQuarantineReader):  # its readers ask the metastore
        entry = None if path is None else waiting.get(digest_of(path))
        return path in reader.places.values() and not (entry is not None and entry.has_data)
    location = None if path is None else next((each for each in target.locations if each.has(path)), None)
    if path is None or location is None or location.type is not LocationType.DATA:
        return False
    system, entry = work.stores(path), waiting.get(digest_of(path))
    if not is_ready(system, path, target.availability_flag):
        return False
    if system.capabilities.atomic_rename:
        return entry is None or not is_there(system, entry.place.data)
    return entry is None or bool(target.availability_flag)


def _is_whole(
    reader: QuarantineReader, instance_key: str, found: Iterable[QuarantineEntry], but: Collection[str] = ()
) -> bool:
    """Return whether nothing of an instance is left in quarantine; one of a path feed is one directory."""
    return not isinstance(reader, TableQuarantineReader) or reader.is_whole(instance_key, found, but)


def _notes(older: int, bad: Sequence[BadManifest]) -> Iterator[str]:
    if older:
        yield f"{older} older versions of them stay in quarantine; name the run that evicted one to restore it"
    if bad:
        yield f"{len(bad)} entries in quarantine cannot be restored, the first: {bad[0]}"
