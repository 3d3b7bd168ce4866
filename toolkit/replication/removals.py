"""Parts of an instance that its source no longer has: which of them go, and how many may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import ExceededLimit
from toolkit.availability import is_there
from toolkit.el import CanonicalPath
from toolkit.planning.delete_limits import DeleteLimits, Excess, excess, excess_weight
from toolkit.replication.errors import TooMuchToRemove
from toolkit.replication.listing import selected
from toolkit.replication.targets import REMOVE, ReplicationPlan, ReplicationTarget, UnitItem
from toolkit.storage import FileKind
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.ledger.manifests import Manifest
    from toolkit.storage import FileSystem
    from toolkit.transfer.trees import Tree


def dropped_parts(
    target: ReplicationTarget,
    recorded: Iterable[CanonicalPath],
    storage: Callable[[CanonicalPath], FileSystem],
) -> Iterator[CanonicalPath]:
    """Yield the parts at the target, existing or not, that were copied from the source and that it no longer has.

    A part counts only if the ledger knows it as copied from this source: what others have put beside it is theirs.

    Args:
        target: the instance; its source is there.
        recorded: the units that the ledger has, see `ReplicationTarget.units_named`.
        storage: the store that a path is on.

    Raises:
        StorageError: a side cannot be looked at.
    """
    there = set(selected(storage(target.target), target.target, target.parts))
    for place in sorted(recorded):
        source = below(target.source, place.relative_to(target.target))
        if not is_there(storage(source), source) and (place in there or not is_there(storage(place), place)):
            yield place


def never_copied(present: Tree, manifest: Manifest) -> bool:
    """Return whether a part at the target has a file that the ledger does not know as copied: it is of another writer.

    Args:
        present: all that the part has.
        manifest: what the ledger has of it.
    """
    return any(entry.kind is not FileKind.DIRECTORY and name not in manifest for name, entry in present.items())


def removals(
    target: ReplicationTarget,
    recorded: Mapping[str, Manifest],
    storage: Callable[[CanonicalPath], FileSystem],
    check: Callable[[], None],
) -> Iterator[UnitItem]:
    """Yield an item for each dropped part that is removed, or that is gone already and that the ledger still has.

    A part with a file that was never copied stays: the source never had what would go.

    Args:
        target: as for `dropped_parts`.
        recorded: what the ledger has of its units, by their paths.
        storage: the store that a path is on.
        check: asked while stores are listed.

    Raises:
        StorageError: a side cannot be looked at.
    """
    known = target.units_named(recorded)
    directories = all(storage(end).capabilities.directories for end in (target.source, target.target))
    for place in dropped_parts(target, known, storage):
        present = read_tree(storage(place), place, check, directories=directories)
        if present is None or (target.removes_dropped and not never_copied(present, known[place])):
            yield UnitItem(
                instance_key=target.instance_key,
                source=below(target.source, place.relative_to(target.target)),
                target=place,
                wanted={},
                present=present,
                copied={},
                kind=REMOVE,
            )


@dataclass(frozen=True, slots=True)
class ExceededRemoval(ExceededLimit):
    """An `ExceededLimit` of ``max_delete``."""

    excess: Excess

    @override
    def refusal(self, digest: str) -> TooMuchToRemove:
        found = self.excess
        return TooMuchToRemove(limit=found.limit, found=found.found, allowed=found.allowed, digest=digest)


def exceeded_removal(plans: Sequence[ReplicationPlan], limits: DeleteLimits) -> ExceededRemoval | None:
    """Return the limit that the removals of all plans exceed together, or those of one feed.

    A part counts as an instance, beside the parts that stay.

    Args:
        plans: of a run.
        limits: of the config repo.
    """
    feeds: dict[str, list[ReplicationPlan]] = {}
    for plan in plans:
        feeds.setdefault(plan.label, []).append(plan)
    own = [_excess(each, each[0].target.max_delete) for each in feeds.values()]
    found = next((each for each in (_excess(plans, limits), *own) if each is not None), None)
    return None if found is None else ExceededRemoval(found)


def _excess(plans: Sequence[ReplicationPlan], limits: DeleteLimits) -> Excess | None:
    removed: Counter[str] = Counter()
    size = 0
    for plan in plans:
        for item in plan.items:
            if item.kind == REMOVE and item.present is not None:
                removed[plan.label] += 1
                size += sum(entry.size for entry in item.present.values())
    if not removed:
        return None
    found = excess(removed, sum(plan.detail.units for plan in plans), limits)
    if found is None and limits.bytes is not None and size > limits.bytes:
        return excess_weight(removed, f"{size:,} bytes", limits)
    return found
