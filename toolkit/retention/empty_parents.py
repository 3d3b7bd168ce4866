"""Directories that a batch of items was the last in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import ItemResult
from toolkit.result import Outcome
from toolkit.retention.plan import StayReason
from toolkit.storage import PermissionDenied, StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.storage import FileSystem
    from toolkit.threads import WorkerPool


_LOOKED_FOR = frozenset({StayReason.ALREADY_GONE.value, StayReason.NOT_EMPTY.value, ""})


@dataclass(slots=True)
class ParentChain:
    """The directories above an item that no later item is in, nearest first; they go up to the first that stays.

    Attributes:
        position: of the item.
        item: the last one in all of them.
        waiting: those that were not tried yet.
        results: of those that went, or could not.
    """

    position: int
    item: PlanItem
    waiting: list[CanonicalPath]
    results: list[ItemResult[PlanItem]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class EmptyParents:
    """Removes the directories above items that are gone, as far as nothing else is in them.

    Attributes:
        work: of the run; its guard is asked before each.
        pool: of the store.
    """

    work: RunContext
    pool: WorkerPool

    def remove(self, chains: Sequence[ParentChain]) -> list[tuple[int, ItemResult[PlanItem]]]:
        """Remove what is empty, the deepest first; return what went or could not, with the position of its item."""
        by_depth = sorted((chain for chain in chains if chain.waiting), key=_depth)
        while by_depth:
            deepest = _depth(by_depth[0])
            level = [chain for chain in by_depth if _depth(chain) == deepest]
            self.pool.run_all(self._try, level)
            by_depth = sorted((chain for chain in by_depth if chain.waiting), key=_depth)
        return [(chain.position, each) for chain in chains for each in chain.results]

    def _try(self, chain: ParentChain) -> None:
        parent, item = chain.waiting.pop(0), chain.item
        if self.work.guard.is_silent(item.base) or not self.work.guard.may_begin():
            chain.waiting.clear()
            return
        system = self.work.stores(item.base)
        remove = partial(system.remove_if_empty, parent, below=item.base)
        is_gone = attempted(self.work, remove, failures=(StorageError,))
        if isinstance(is_gone, FailedAttempt):
            chain.waiting.clear()
            if not is_gone.was_stopped and not _is_merely_occupied(system, parent, is_gone.code):
                chain.results.append(is_gone.of(item.about_parent(parent)))
        elif is_gone:
            chain.results.append(ItemResult.done(item.about_parent(parent)))
        elif system.capabilities.directories:
            # Elsewhere nothing may have been there to remove, and the empty object above it is there all the same.
            chain.waiting.clear()


@dataclass(frozen=True, slots=True)
class ParentQueue:
    """Knows which directories are to be tried once items are gone.

    Attributes:
        items: of the plan.
    """

    items: Sequence[PlanItem]
    _occupied: set[CanonicalPath] = field(default_factory=set)

    def add_occupied(self, item: PlanItem) -> None:
        """An item that is not gone: what it is in is not empty, and a store may say worse of it than that."""
        for parent in _parents(item):
            if parent in self._occupied:
                return
            self._occupied.add(parent)

    def chain(self, position: int, root: CanonicalPath | None) -> ParentChain:
        """The directories to try once an item is gone.

        Args:
            position: of the item; what it and the next one are both in is left for that one.
            root: a directory that went with the item, so that only those above it are tried; None: none did.
        """
        item = self.items[position]
        following = self.items[position + 1].path if position + 1 < len(self.items) else None
        waiting: list[CanonicalPath] = []
        for parent in _parents(item):
            if parent in self._occupied or (following is not None and following.is_within(parent)):
                break
            if root is None or root.is_within(parent):
                waiting.append(parent)
        return ParentChain(position, item, waiting)


def is_looked_for(result: ItemResult[PlanItem]) -> bool:
    """Return whether the item is gone, so that the directories around it may be empty."""
    return result.outcome is not Outcome.FAILED and result.code in _LOOKED_FOR


def _is_merely_occupied(system: FileSystem, parent: CanonicalPath, code: str) -> bool:
    """Return whether a directory stays anyhow: HDFS may deny its removal before it sees that it is not empty."""
    if code != PermissionDenied.code:
        return False
    try:
        return next(system.list(parent), None) is not None
    except StorageError:
        return False


def _parents(item: PlanItem) -> Iterator[CanonicalPath]:
    """The directories above the item, nearest first, up to the base and without it."""
    parent = item.path.parent
    while parent.is_within(item.base):
        yield parent
        parent = parent.parent


def _depth(chain: ParentChain) -> int:
    """Negative, so that the deepest comes first."""
    return -chain.waiting[0].path.count("/")
