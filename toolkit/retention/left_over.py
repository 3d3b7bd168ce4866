"""What a killed run had begun and could not tell: the storage knows whether it happened (DESIGN section 6, Items)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.el import CanonicalPath, format_instant
from toolkit.entities import LocationType
from toolkit.ledger.runs.items import SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.retention.forsaken import Forsaken
from toolkit.retention.presence import is_present
from toolkit.retention.recording import DATA_INSTANCE, evicted, kind_in_ledger
from toolkit.runs.recorder import SettledLeftOver

if TYPE_CHECKING:
    from toolkit.ledger.runs.items import Item
    from toolkit.retention.gate import Gate
    from toolkit.retention.plan import FeedPlan
    from toolkit.runs.active_run import ActiveRun
    from toolkit.storage import FileSystem

NOT_DONE = "not_done"
"""The code of an item that a run intended and did not come to; a plan takes it again when it still qualifies."""
FOUND_GONE = "found_gone"
"""The code of an item that counts as done because nothing is there any more: nobody saw the run do it."""

_TRIES = 3


def reconcile(
    run: ActiveRun, plan: FeedPlan, storage: Callable[[CanonicalPath], FileSystem], gate: Gate, *, may_touch: bool
) -> tuple[str, ...]:
    """Settle what earlier runs of the feed intended and never settled, with the events of what happened.

    Args:
        run: holds the feed's lease.
        plan: of this run, made under that lease: what it has of an instance is still there.
        storage: the store that a path is on.
        gate: asked before a directory is removed.
        may_touch: the plan is going to be done, so directories that are empty by now may go as well; else what leads
            to them stays open.

    Returns:
        Notes for the user.

    Raises:
        Stopped: the run must not go on.
    """
    if plan.target is None or plan.is_held or plan.failure is not None:
        return ()
    forsaken = Forsaken(target=plan.target, plan=plan, run=run, gate=gate, storage=storage)
    for _ in range(_TRIES):
        settled = _settled(run.left_over(), plan, storage)
        gone = [path for path, each in settled if each.item.state is ItemState.DONE]
        stays_open = forsaken.remove(gone) if may_touch else forsaken.needed(gone)
        ready = [each for path, each in settled if path not in stays_open]
        if not ready:
            return ()
        if run.settle_left_over(ready):
            return _notes(ready)
    return ("what an earlier run had begun is being recorded by somebody else; the next run looks again",)


def _settled(
    left: Sequence[Item], plan: FeedPlan, storage: Callable[[CanonicalPath], FileSystem]
) -> list[tuple[CanonicalPath, SettledLeftOver]]:
    """An instance is one event, in however many places it was; the last of them tells."""
    found = list(_looked_at(left, plan, storage))
    quiet = _keys_of(plan) | {item.instance_key for item, _, is_gone in found if is_gone is None}
    settled: list[tuple[CanonicalPath, SettledLeftOver]] = []
    for item, path, is_gone in found:
        if is_gone is None:
            continue
        is_departure = is_gone and item.kind == DATA_INSTANCE and item.instance_key not in quiet
        quiet.update([item.instance_key] if is_departure else [])
        settled.append((path, _as_settled(item, plan, is_gone=is_gone, is_departure=is_departure)))
    return settled


def _looked_at(
    left: Sequence[Item], plan: FeedPlan, storage: Callable[[CanonicalPath], FileSystem]
) -> Iterator[tuple[Item, CanonicalPath, bool | None]]:
    """Each item with its path, the last one first, and whether nothing is there any more; None: nobody can tell now."""
    aliases = {} if plan.target is None else plan.target.name_services
    locations = () if plan.target is None else plan.target.locations
    bases, planned = _bases_of(plan, storage), {item.path for item in plan.items}
    for item in reversed(left):
        path = CanonicalPath.parse(item.path, aliases=aliases)  # written down perhaps before its alias was configured
        if not any(path.is_within(location.base) for location in locations):
            continue  # of another place than the feed has now: its base tells nothing
        # What was planned again was seen a moment ago; after a silent store that may be all of very many.
        yield item, path, False if path in planned else _is_gone(path, bases, storage)


def _as_settled(item: Item, plan: FeedPlan, *, is_gone: bool, is_departure: bool) -> SettledLeftOver:
    state, code = (ItemState.DONE, FOUND_GONE) if is_gone else (ItemState.FAILED, NOT_DONE)
    return SettledLeftOver(
        left=item,
        item=SettledItem(position=item.position, state=state, code=code),
        event=evicted(plan.feed, plan.cluster, item.instance_key, item.path) if is_departure else None,
    )


def _bases_of(plan: FeedPlan, storage: Callable[[CanonicalPath], FileSystem]) -> list[CanonicalPath]:
    """The feed's bases of which something can be told: on a disk that is not mounted all looks gone."""
    bases = [] if plan.target is None else [location.base for location in plan.target.locations]
    return [base for base in dict.fromkeys(bases) if _can_be_told_of(base, storage(base))]


def _can_be_told_of(base: CanonicalPath, system: FileSystem) -> bool:
    """A base without directories is gone with its last key; there the bucket shows that the store is the right one."""
    if is_present(system, base):
        return True
    return not system.capabilities.directories and is_present(system, base.root) is True


def _is_gone(
    path: CanonicalPath, bases: Sequence[CanonicalPath], storage: Callable[[CanonicalPath], FileSystem]
) -> bool | None:
    """None: nobody can tell now, so the item stays open."""
    if not any(path.is_within(base) for base in bases):
        return None
    found = is_present(storage(path), path)
    return None if found is None else not found


def _keys_of(plan: FeedPlan) -> set[str]:
    """Instances of which at least one directory was seen."""
    planned = {item.key for item in plan.items if kind_in_ledger(item) == DATA_INSTANCE}
    kept = (each.candidate for each in plan.kept)
    return planned | {format_instant(each.time) for each in kept if each.location is LocationType.DATA}


def _notes(settled: Sequence[SettledLeftOver]) -> tuple[str, ...]:
    done = sum(each.item.state is ItemState.DONE for each in settled)
    left = f"an earlier run left {len(settled)} open (it died, or its storage did not answer)"
    return (f"{left}: {done} are gone, {len(settled) - done} are still there and count as failed ({NOT_DONE})",)
