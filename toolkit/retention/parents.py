"""Directories that a batch of items was the last in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.result import Outcome
from toolkit.retention.gate import Gate
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.storage import PermissionDenied, StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import PlanItem
    from toolkit.storage import FileSystem

_LOOKED_FOR = frozenset({SkipReason.ALREADY_GONE.value, SkipReason.NOT_EMPTY.value, ""})


@dataclass(slots=True)
class Chain:
    """The directories above an item that no later item is in, nearest first; they go up to the first that stays.

    Attributes:
        position: of the item.
        item: the last one in all of them.
        waiting: those that were not tried yet.
        results: of those that went, or could not.
        is_cut: the run had to stop, or the store fell silent, before all of them were tried; the next run does.
    """

    position: int
    item: PlanItem
    waiting: list[CanonicalPath]
    results: list[ItemResult] = field(default_factory=list)
    is_cut: bool = False

    def cut(self) -> None:
        """Try none of the rest."""
        self.is_cut = True
        self.waiting.clear()


@dataclass(frozen=True, kw_only=True)
class EmptiedParents:
    """Removes the directories above items that are gone, as far as nothing else is in them.

    Attributes:
        storage: the store that a path is on.
        gate: asked before each.
        side_by_side: calls a function with each of some chains, several at once.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    gate: Gate
    side_by_side: Callable[[Callable[[Chain], None], Sequence[Chain]], None]

    def remove(self, chains: Sequence[Chain]) -> None:
        """Remove what is empty, the deepest first: a directory is tried after all that are in it."""
        by_depth = sorted((chain for chain in chains if chain.waiting), key=_depth)
        while by_depth:
            deepest = _depth(by_depth[0])
            level = [chain for chain in by_depth if _depth(chain) == deepest]
            self.side_by_side(self._try, level)
            by_depth = sorted((chain for chain in by_depth if chain.waiting), key=_depth)

    def _try(self, chain: Chain) -> None:
        parent, item = chain.waiting.pop(0), chain.item
        if self.gate.is_silent(item.base) or not self.gate.may_begin():
            chain.cut()
            return
        system = self.storage(item.base)
        try:
            is_gone = system.remove_if_empty(parent, below=item.base)
        except Stopped as stopped:
            self.gate.stop(stopped)
            chain.cut()
        except StorageError as error:
            self._fail(chain, parent, error)
        else:
            if is_gone:
                chain.results.append(ItemResult.done(item.about_parent(parent)))
            elif system.capabilities.directories:
                # Elsewhere nothing may have been there to remove, and the empty object above it is there all the same.
                chain.waiting.clear()

    def _fail(self, chain: Chain, parent: CanonicalPath, error: StorageError) -> None:
        system, item = self.storage(chain.item.base), chain.item
        if not _is_merely_occupied(system, parent, error):
            chain.results.append(ItemResult.failed(item.about_parent(parent), error.code, str(error)))
        chain.waiting.clear()
        if isinstance(error, Unreachable):
            self.gate.note_unanswered(system, item.base)
            chain.cut()


@dataclass(frozen=True, slots=True)
class Above:
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

    def chain(self, position: int, root: CanonicalPath | None) -> Chain:
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
        return Chain(position, item, waiting)


def is_looked_for(result: ItemResult) -> bool:
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


def _depth(chain: Chain) -> int:
    """Negative, so that the deepest comes first."""
    return -chain.waiting[0].path.count("/")
