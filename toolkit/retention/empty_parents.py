"""Directories that a batch of items was the last in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.guard import Guard
from toolkit.actions.model import ItemResult
from toolkit.result import Outcome
from toolkit.retention.plan import StayReason
from toolkit.runs.errors import Stopped
from toolkit.storage import PermissionDenied, StorageError, Unreachable

if TYPE_CHECKING:
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
        storage: the store that a path is on.
        guard: asked before each.
        pool: of the store.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    guard: Guard
    pool: WorkerPool

    def remove(self, chains: Sequence[ParentChain]) -> None:
        """Remove what is empty, the deepest first: a directory is tried after all that are in it."""
        by_depth = sorted((chain for chain in chains if chain.waiting), key=_depth)
        while by_depth:
            deepest = _depth(by_depth[0])
            level = [chain for chain in by_depth if _depth(chain) == deepest]
            self.pool.run_all(self._try, level)
            by_depth = sorted((chain for chain in by_depth if chain.waiting), key=_depth)

    def _try(self, chain: ParentChain) -> None:
        parent, item = chain.waiting.pop(0), chain.item
        if self.guard.is_silent(item.base) or not self.guard.may_begin():
            chain.waiting.clear()
            return
        system = self.storage(item.base)
        try:
            is_gone = system.remove_if_empty(parent, below=item.base)
        except Stopped as stopped:
            self.guard.stop(stopped)
            chain.waiting.clear()
        except StorageError as error:
            self._fail(chain, parent, error)
        else:
            if is_gone:
                chain.results.append(ItemResult.done(item.about_parent(parent)))
            elif system.capabilities.directories:
                # Elsewhere nothing may have been there to remove, and the empty object above it is there all the same.
                chain.waiting.clear()

    def _fail(self, chain: ParentChain, parent: CanonicalPath, error: StorageError) -> None:
        system, item = self.storage(chain.item.base), chain.item
        if not _is_merely_occupied(system, parent, error):
            chain.results.append(ItemResult.failed(item.about_parent(parent), error.code, str(error)))
        chain.waiting.clear()
        if isinstance(error, Unreachable):
            self.guard.note_unanswered(system, item.base)


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
    """Whether the item is gone, so that what it was in may be empty."""
    return result.outcome is not Outcome.FAILED and result.code in _LOOKED_FOR


def _is_merely_occupied(system: FileSystem, parent: CanonicalPath, error: StorageError) -> bool:
    """Whether a directory stays anyhow: HDFS may deny it before it sees that something is in it."""
    if not isinstance(error, PermissionDenied):
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
