"""Events of retention for consumers, and the recovery of unfinished items of dead runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.action import Recovery, place_named
from toolkit.el import CanonicalPath, format_instant
from toolkit.entities import LocationType
from toolkit.ledger.events import NewEvent
from toolkit.ledger.runs.items import SettledItem
from toolkit.ledger.vocabulary import EventKind, ItemState
from toolkit.retention.delete import is_present
from toolkit.retention.plan import OF_TABLES, ItemKind
from toolkit.runs.recorder import SettledLeftOver, path_text

if TYPE_CHECKING:
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.storage import FileSystem

NOT_DONE = "not_done"
"""The code of an item that a run intended and did not come to; a plan takes it again when it still qualifies."""
FOUND_GONE = "found_gone"
"""The code of an item that counts as done because nothing is there any more: the run was not seen to do it."""

_DATA_INSTANCE = f"{ItemKind.INSTANCE}:{LocationType.DATA}"
"""The kind, in the ledger, of items whose end is an event."""
_OF_TABLES = frozenset(f"{kind}:{LocationType.DATA}" for kind in OF_TABLES)


def evicted(feed: str, cluster: str, key: str, path: str) -> NewEvent:
    """The event of an instance that is gone from a path."""
    return NewEvent(kind=EventKind.EVICTED, feed=feed, cluster=cluster, instance_key=key, uri=path_text(path))


class InstanceEvents:
    """Knows when the last directory of an instance is gone: an instance is one event, in however many places it was.

    Args:
        items: of the plan of one feed.
    """

    def __init__(self, items: Iterable[PlanItem]) -> None:
        self._left = Counter(item.instance_key for item in items if item.is_data_instance)
        self._evicted: set[str] = set()

    def of(self, item: PlanItem, *, is_gone: bool, by_us: bool) -> NewEvent | None:
        """The event of an item that was worked on.

        Args:
            item: of the plan, each once.
            is_gone: nothing is at its path any more.
            by_us: because this run removed it.
        """
        if not is_gone or not item.is_data_instance:
            return None
        key = item.instance_key
        self._left[key] -= 1
        if by_us:
            self._evicted.add(key)
        if self._left[key] or key not in self._evicted:
            return None
        return evicted(item.feed, item.cluster, key, str(item.path))


def recovered(plan: FeedPlan, left: Sequence[Item], storage: Callable[[CanonicalPath], FileSystem]) -> Recovery:
    """Return the outcome of unfinished items of the feed's earlier runs, as the storage shows it (DESIGN 6).

    An instance is one event, in however many places it was; the last of them tells.

    Args:
        plan: made under the feed's lease: what it has of an instance is still there.
        left: the items.
        storage: the store that a path is on.
    """
    if plan.detail.hold_file is not None:
        return Recovery()
    found = list(_looked_at(left, plan, storage))
    quiet = keys_of(plan) | {item.instance_key for item, is_gone in found if is_gone is None}
    settled: list[SettledLeftOver] = []
    for item, is_gone in found:
        if is_gone is None:
            continue
        is_departure = is_gone and item.kind == _DATA_INSTANCE and item.instance_key not in quiet
        quiet.update([item.instance_key] if is_departure else [])
        settled.append(as_settled(item, plan, is_gone=is_gone, is_departure=is_departure))
    return Recovery(settled=tuple(settled), notes=notes(settled))


def _looked_at(
    left: Sequence[Item], plan: FeedPlan, storage: Callable[[CanonicalPath], FileSystem]
) -> Iterator[tuple[Item, bool | None]]:
    """Each item, the last one first, and whether nothing is there any more; None: it is unknown now."""
    # A path may have been written down before its alias was configured.
    aliased, locations = partial(CanonicalPath.parse, aliases=plan.target.name_services), plan.target.locations
    bases, planned = _bases_of(plan, storage), {item.path for item in plan.items}
    for item in reversed(left):
        if item.kind in _OF_TABLES:
            continue  # the feed had a table then
        path = place_named(item, aliased)
        if path is None or not any(path.is_within(location.base) for location in locations):
            continue  # of another place than the feed has now: its base tells nothing
        # What was planned again was seen a moment ago; after a silent store that may be all of very many.
        is_condemned = plan.detail.has_condemned(path)
        yield item, False if path in planned else is_condemned or _is_gone(path, bases, storage)


def as_settled(item: Item, plan: FeedPlan, *, is_gone: bool, is_departure: bool = False) -> SettledLeftOver:
    """An item of which it is known by now whether it is gone.

    Args:
        item: that a run left open.
        plan: of this run.
        is_gone: nothing is there any more.
        is_departure: it was the last of its instance, of which an event tells.
    """
    state, code = (ItemState.DONE, FOUND_GONE) if is_gone else (ItemState.FAILED, NOT_DONE)
    target = plan.target
    return SettledLeftOver(
        left=item,
        item=SettledItem(position=item.position, state=state, code=code),
        event=evicted(target.feed, target.cluster, item.instance_key, item.path) if is_departure else None,
    )


def _bases_of(plan: FeedPlan, storage: Callable[[CanonicalPath], FileSystem]) -> list[CanonicalPath]:
    """The feed's bases of which something can be told: on a disk that is not mounted all looks gone."""
    bases = [location.base for location in plan.target.locations]
    return [base for base in dict.fromkeys(bases) if is_readable_base(base, storage(base))]


def is_readable_base(base: CanonicalPath, system: FileSystem) -> bool:
    """A base without directories is gone with its last key; there the bucket shows that the store is the right one."""
    if is_present(system, base):
        return True
    return not system.capabilities.directories and is_present(system, base.root) is True


def _is_gone(
    path: CanonicalPath, bases: Sequence[CanonicalPath], storage: Callable[[CanonicalPath], FileSystem]
) -> bool | None:
    """None: it is unknown now, so the item stays open."""
    if not any(path.is_within(base) for base in bases):
        return None
    found = is_present(storage(path), path)
    return None if found is None else not found


def keys_of(plan: FeedPlan) -> set[str]:
    """Instances of which at least one directory was seen."""
    planned = {item.instance_key for item in plan.items if item.is_data_instance}
    kept = (each.candidate for each in plan.detail.kept)
    return planned | {format_instant(each.time) for each in kept if each.location is LocationType.DATA}


def notes(settled: Sequence[SettledLeftOver]) -> tuple[str, ...]:
    """Return the notes for the user about recovered items."""
    done = sum(each.item.state is ItemState.DONE for each in settled)
    left = f"an earlier run left {len(settled)} open (it died, or its storage did not answer)"
    return (f"{left}: {done} are gone, {len(settled) - done} are still there and count as failed ({NOT_DONE})",)
