"""Units of removal: a plan's items in units, and units in batches that are recorded together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from math import inf
from typing import TYPE_CHECKING

from toolkit.retention.plan import ItemKind, PlanItem, Subtree
from toolkit.storage.bound import side_by_side

if TYPE_CHECKING:
    from toolkit.actions.action import Applied
    from toolkit.el import CanonicalPath
    from toolkit.storage import Capabilities


BATCH = 500
"""About so many items are written down before the first of them begins; a unit that is larger is a batch by itself."""
ARCHIVE_BATCH = 32
"""So many of those that are copied first: few enough that what is done is told while others are copied."""
BULK = 100
"""So many items go to a store without directories in one call: few enough that a hold is seen soon."""
_MOST_ONES, _UNITS_A_THREAD = 10, 3


class DeleteMethod(StrEnum):
    """Way to remove a unit."""

    ONE = "one"
    """Item by item, each by one call."""
    TOGETHER = "together"
    """A few items of one base, on a store where each goes at once: one call each, let through together."""
    SUBTREE = "subtree"
    """A directory that holds nothing but items, by one call."""
    BULK = "bulk"
    """Items of one base by the store's own bulk call."""
    REMOTE = "remote"
    """Items of one base on other machines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeleteUnit:
    """Items that go together.

    Attributes:
        positions: in the plan.
        root: the directory that holds them; None unless they go with it.
    """

    method: DeleteMethod
    positions: range
    root: CanonicalPath | None = None

    def without(self, held: Collection[int], is_occupied: Callable[[CanonicalPath], bool]) -> Iterator[DeleteUnit]:
        """Divide the unit so that each position that must stay is a unit by itself.

        Args:
            held: positions that must stay.
            is_occupied: whether a directory must not go as a whole, even if none of its items has to stay.
        """
        is_whole = self.root is None or not is_occupied(self.root)
        if is_whole and not any(at in held for at in self.positions):
            yield self
            return
        if self.root is not None:
            yield from (DeleteUnit(method=DeleteMethod.ONE, positions=range(at, at + 1)) for at in self.positions)
            return
        for is_held, same in groupby(self.positions, key=lambda at: at in held):
            found = list(same)
            step = 1 if is_held else len(found)
            for at in range(found[0], found[-1] + 1, step):
                yield DeleteUnit(method=self.method, positions=range(at, at + step))


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitBatch:
    """Units of one store that are written down together.

    Attributes:
        positions: in the plan.
    """

    positions: range
    units: tuple[DeleteUnit, ...]


@dataclass(frozen=True, slots=True)
class EvictionBatch:
    """Batch of items that are removed together.

    Attributes:
        positions: in the plan.
        remove: removes them; its argument is called with the number of removals that are over.
    """

    positions: range
    remove: Callable[[Callable[[int], None]], Applied[PlanItem]]

    def apply(self, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Remove the items of the batch."""
        return self.remove(advance)


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """Divides the items of a feed's plan.

    Attributes:
        items: of the plan.
        subtrees: of the plan.
        capabilities: of the store that a path is on.
        rate: so many changes a second the store that a path is on is asked for.
        remote: so many items go to other machines at once; None: none do.
        archives: they are copied before they go.
        moves: they go, or some of them, into quarantine or out of it, each by calls of its own.
    """

    items: Sequence[PlanItem]
    subtrees: Sequence[Subtree]
    capabilities: Callable[[CanonicalPath], Capabilities]
    rate: Callable[[CanonicalPath], float] = lambda _: inf
    remote: int | None = None
    archives: bool = False
    moves: bool = False

    def batches(self) -> Iterator[UnitBatch]:
        """Yield all items, in their order and each once."""
        for _, of_store in groupby(self._units(), key=self._store):
            yield from self._filled(of_store)

    def _store(self, unit: DeleteUnit) -> tuple[str, str]:
        base = self.items[unit.positions.start].base
        return base.scheme, base.authority

    def _filled(self, units: Iterator[DeleteUnit]) -> Iterator[UnitBatch]:
        waiting: list[DeleteUnit] = []
        count, most = 0, ARCHIVE_BATCH if self.archives else BATCH
        for unit in units:
            if waiting and count + len(unit.positions) > most:
                yield _batch(waiting)
                waiting, count = [], 0
            waiting.append(unit)
            count += len(unit.positions)
        if waiting:
            yield _batch(waiting)

    def _units(self) -> Iterator[DeleteUnit]:
        if self.archives:
            each = (range(position, position + 1) for position in range(len(self.items)))
            yield from (DeleteUnit(method=DeleteMethod.ONE, positions=alone) for alone in each)
            return
        if self.moves:
            for _, of_base in groupby(range(len(self.items)), key=lambda each: self.items[each].base):
                found = list(of_base)
                yield from self._ones(range(found[0], found[-1] + 1))
            return
        at = 0
        for subtree in self.subtrees:
            if subtree.begin < at or not self.capabilities(subtree.root).atomic_delete:
                continue
            yield from self._without_subtrees(range(at, subtree.begin))
            yield DeleteUnit(
                method=DeleteMethod.SUBTREE, positions=range(subtree.begin, subtree.end), root=subtree.root
            )
            at = subtree.end
        yield from self._without_subtrees(range(at, len(self.items)))

    def _without_subtrees(self, positions: range) -> Iterator[DeleteUnit]:
        for is_bulk, same in groupby(positions, key=self._is_bulk):
            found = list(same)
            if not is_bulk:
                yield from self._ones(range(found[0], found[-1] + 1))
                continue
            for _, of_base in groupby(found, key=lambda each: self.items[each].base):
                yield from self._bulks(list(of_base))

    def _ones(self, positions: range) -> Iterator[DeleteUnit]:
        """A few at a time, when there are more than enough for all threads."""
        size = self._size_of_ones(self.items[positions.start].base, len(positions))
        for at in range(positions.start, positions.stop, size):
            few = range(at, min(at + size, positions.stop))
            yield DeleteUnit(method=self._method_of(few), positions=few)

    def _size_of_ones(self, base: CanonicalPath, items: int) -> int:
        """Return the size of a unit; all threads finish theirs within a second, so that a new hold is seen in time."""
        rate = self.rate(base)
        threads = side_by_side(self.capabilities(base).parallel, rate)
        return max(1, int(min(_MOST_ONES, items // (threads * _UNITS_A_THREAD), rate / threads)))

    def _method_of(self, few: range) -> DeleteMethod:
        first = self.items[few.start]
        is_uniform = all(
            self.items[at].base == first.base and self.items[at].type is not ItemKind.EMPTY_DIRECTORY for at in few
        )
        at_once = self.capabilities(first.base).atomic_delete and not self.moves
        return DeleteMethod.TOGETHER if is_uniform and at_once and len(few) > 1 else DeleteMethod.ONE

    def _is_bulk(self, position: int) -> bool:
        item = self.items[position]
        return item.type is not ItemKind.EMPTY_DIRECTORY and not self.capabilities(item.base).directories

    def _bulks(self, positions: Sequence[int]) -> Iterator[DeleteUnit]:
        method, size = (DeleteMethod.BULK, BULK) if self.remote is None else (DeleteMethod.REMOTE, self.remote)
        first, end = positions[0], positions[-1] + 1
        for at in range(first, end, size):
            yield DeleteUnit(method=method, positions=range(at, min(at + size, end)))


def _batch(units: Sequence[DeleteUnit]) -> UnitBatch:
    return UnitBatch(positions=range(units[0].positions.start, units[-1].positions.stop), units=tuple(units))
