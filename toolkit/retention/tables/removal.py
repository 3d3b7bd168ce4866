"""Removing the data of partitions that the metastore has forgotten, and the directories that this empties."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import ItemResult
from toolkit.result import Outcome
from toolkit.retention.delete import Removed, SingleDelete
from toolkit.retention.empty_parents import EmptyParents, ParentChain, ParentQueue, is_looked_for
from toolkit.retention.plan import ItemKind, PlanItem, StayReason
from toolkit.storage import aside_name

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath

GONE = frozenset({StayReason.ALREADY_GONE.value, ""})


def is_left(result: ItemResult[PlanItem]) -> bool:
    """Return whether data is, or may be, still there although its partitions are not."""
    return result.outcome is Outcome.FAILED or result.code not in GONE


@dataclass(frozen=True, kw_only=True)
class DataRemoval:
    """Removes directories of partitions that the metastore has forgotten, then the directories that this empties.

    Attributes:
        items: of a plan, in the order of their places.
        first: the feed's availability flag; empty: it has none.
        with_asides: where a removal was killed in its middle, what it had put aside goes, too.
        quarantine: removes what has a quarantine; None: nothing has.
    """

    items: Sequence[PlanItem]
    work: RunContext
    first: str
    with_asides: bool = False
    quarantine: Callable[[PlanItem], Removed] | None = None

    def of(self, positions: Iterable[int]) -> tuple[dict[int, Removed], list[tuple[int, ItemResult[PlanItem]]]]:
        """Remove the directories at these positions of the items; what became of each, and of those above them."""
        wanted, done = sorted(positions), dict[int, Removed]()

        def remove(position: int) -> None:
            done[position] = self._removed(self.items[position])

        parents = ParentQueue(self.items)
        emptied: list[tuple[int, ItemResult[PlanItem]]] = []
        for base, same in _by_store(self.items, wanted).items():
            pool = self.work.pool(base)
            # What a manifest of an earlier run names may be a directory that goes now, into a place of this run.
            for is_found_again in (False, True):
                kinds = [at for at in same if (self.items[at].type is ItemKind.QUARANTINED) is is_found_again]
                pool.run_all(remove, kinds)
            chains = list(_chains(parents, self.items, same, done))
            emptied += EmptyParents(work=self.work, pool=pool).remove(chains)
        return done, emptied

    def _removed(self, item: PlanItem) -> Removed:
        if self.quarantine is not None and item.quarantine is not None:
            return self.quarantine(item)
        single = SingleDelete(work=self.work, first=self.first)
        removed = single.remove(item)
        able = self.work.stores(item.base).capabilities
        if not self.with_asides or removed.result.code != StayReason.ALREADY_GONE or able.atomic_delete:
            return removed
        again = single.remove(replace(item, path=item.path.parent.child(aside_name(item.path.name))))
        return again._replace(result=replace(again.result, item=item))


def _by_store(items: Sequence[PlanItem], positions: Iterable[int]) -> Mapping[CanonicalPath, list[int]]:
    """Positions by the root of the store that they are on."""
    found: dict[CanonicalPath, list[int]] = {}
    for position in positions:
        found.setdefault(items[position].base.root, []).append(position)
    return found


def _chains(
    parents: ParentQueue, items: Sequence[PlanItem], positions: Iterable[int], done: Mapping[int, Removed]
) -> Iterator[ParentChain]:
    for position in positions:
        if is_looked_for(done[position].result) or done[position].is_gone:
            yield parents.chain(position, None)
        else:
            parents.add_occupied(items[position])
