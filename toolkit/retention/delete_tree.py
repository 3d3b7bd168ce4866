"""Removing a directory that holds nothing but items of the plan, by one call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.guard import Guard, Refusal
from toolkit.actions.model import INTERRUPTED, ItemResult, SkipReason
from toolkit.retention.delete import Removed, SingleDelete, UnitRemoved, is_present, unanswered
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.runs.errors import Stopped
from toolkit.runs.lease import MonotonicClock, machine_clock
from toolkit.storage import FileKind, Look, LookAgain, NotFound, StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

MOST_TOO_LATE = 5
"""So often a look may be too old before its call is sent; then the items go one by one, each of which needs none."""

Names = dict[str, "Names | PlanItem"]
"""What is planned to be in a directory: directories on the way to items, and items."""


@dataclass(frozen=True, kw_only=True)
class TreeDelete:
    """Removes whole directories; safe between threads.

    Attributes:
        storage: the store that a path is on.
        guard: asked before each look.
        turn: waits for the rate of the store that a path is on, before the look, so that it does not age meanwhile.
        single: removes the items of a directory that cannot go as a whole.
        now: seconds of a clock that only goes forward.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    guard: Guard
    turn: Callable[[CanonicalPath], None]
    single: SingleDelete
    now: MonotonicClock = machine_clock

    def remove(self, root: CanonicalPath, items: Sequence[PlanItem]) -> UnitRemoved:
        """Remove a directory with all in it, when it still holds exactly what was planned; else item by item.

        Each call follows a look at once (ADR 0021): after a call that was not answered, and after a rest, the guard is
        asked and the directory is looked at again.

        Args:
            root: strictly below the base of the items.
            items: all that was planned below it.
        """
        look = Look(before_effect=self.guard.check, now=self.now)
        tree = _Tree(root=root, items=items, system=self.storage(items[0].base), look=look)
        while True:
            refusal = self._refusal(tree)
            if refusal is not None:
                return tree.left([Removed(refusal.of(item)) for item in items])
            if look.too_late >= MOST_TOO_LATE:
                return self._one_by_one(tree, "it could not be removed right after a look")
            with suppress(LookAgain):
                return self._dropped(tree)

    def _refusal(self, tree: _Tree) -> Refusal | None:
        """Asked after the turn, in which the run may have rested for hours."""
        try:
            self.turn(tree.base)
        except Stopped as stopped:
            self.guard.stop(stopped)
        return self.guard.refusal(tree.base, items=len(tree.items), must_look=True)

    def _dropped(self, tree: _Tree) -> UnitRemoved:
        try:
            why_not = tree.why_it_stays()
            if why_not is None:
                return tree.done()
        except Unreachable as error:
            _LOG.warning('event=subtree_failed code=%s path="%s"', error.code, tree.root)
            self.guard.note_unanswered(tree.system, tree.base)
            return UnitRemoved([unanswered(item, str(error)) for item in tree.items])
        except StorageError as error:
            return self._failed(tree, error)
        except Stopped as stopped:
            self.guard.stop(stopped)
            return tree.stopped()
        if tree.is_gone_unanswered():
            return tree.done()
        return self._one_by_one(tree, why_not)

    def _failed(self, tree: _Tree, error: StorageError) -> UnitRemoved:
        if not isinstance(error, NotFound):
            _LOG.warning('event=subtree_failed code=%s path="%s"', error.code, tree.root)
            return self._one_by_one(tree, f"it could not be removed as a whole ({error.code})", has_failed=True)
        if tree.look.is_unanswered:
            return tree.done()
        return self._one_by_one(tree, "it was not there any more")

    def _one_by_one(self, tree: _Tree, why: str, *, has_failed: bool = False) -> UnitRemoved:
        by_us = has_failed or tree.look.is_unanswered
        removed = [self.single.remove(item, gone_by_us=by_us) for item in tree.items]
        return UnitRemoved(removed, note=f"{tree.root} went instance by instance: {why}")


@dataclass(frozen=True, kw_only=True)
class _Tree:
    """One directory, and what is known of the calls that were sent for it."""

    root: CanonicalPath
    items: Sequence[PlanItem]
    system: FileSystem
    look: Look

    @property
    def base(self) -> CanonicalPath:
        return self.items[0].base

    def why_it_stays(self) -> str | None:
        """Look, and remove at once what was seen; None: that happened."""
        self.look.begin()
        if not holds_exactly(self.system, self.root, self.items):
            return "it does not hold exactly what was planned any more"
        if self.look.is_old:
            return "listing it took too long to rely on what was seen"
        self.system.delete(self.root, below=self.base, look=self.look)
        return None

    def is_gone_unanswered(self) -> bool:
        """Whether a call that was not answered has removed it."""
        return self.look.is_unanswered and self._is_there() is False

    def done(self) -> UnitRemoved:
        return UnitRemoved([Removed(ItemResult.done(item)) for item in self.items], is_whole=True)

    def stopped(self) -> UnitRemoved:
        """The call takes all at once, so the directory alone tells whether it did."""
        is_there = self._is_there()
        if is_there is False:
            return self.done()
        if is_there:
            return self.left([Removed(ItemResult.skipped(item, SkipReason.STOPPED)) for item in self.items])
        return UnitRemoved([_not_seen(item) for item in self.items])

    def left(self, removed: Sequence[Removed]) -> UnitRemoved:
        """Nothing more is sent; but what was sent and not answered may still take effect."""
        if not self.look.is_unanswered:
            return UnitRemoved(removed)
        if self.is_gone_unanswered():
            return self.done()
        return UnitRemoved([unanswered(item, f"{self.root}: its removal was not answered") for item in self.items])

    def _is_there(self) -> bool | None:
        """None: that cannot be seen now."""
        try:
            return is_present(self.system, self.root)
        except Stopped:  # a store that is silent is waited for, unless the run is told to stop
            return None


def _not_seen(item: PlanItem) -> Removed:
    message = "the run was stopped, and whether the item went cannot be seen now; the next run sees it"
    return Removed(ItemResult.failed(item, INTERRUPTED, message), is_open=True)


def holds_exactly(system: FileSystem, root: CanonicalPath, items: Sequence[PlanItem]) -> bool:
    """Whether a directory holds the items, the directories on the way to them, and nothing else.

    Args:
        system: the store.
        root: the directory; it is listed with all that are on the way.
        items: below it.
    """
    planned = _planned(root, items)
    if planned is None:
        return False
    waiting = [(root, planned)]
    try:
        while waiting:
            path, names = waiting.pop()
            found = 0
            for entry in system.list(path):
                found += 1
                expected = names.get(entry.name)
                if expected is None or not _is_as_planned(entry.kind, expected):
                    return False
            if found != len(names):
                return False
            waiting.extend((path.child(name), inner) for name, inner in _to_list(names))
    except StorageError:
        return False
    return True


def _planned(root: CanonicalPath, items: Sequence[PlanItem]) -> Names | None:
    """None: an item is not below the root, or is on the way to another one."""
    top: Names = {}
    prefix = len(root.path.removesuffix("/")) + 1
    for item in items:
        if not item.path.is_within(root):
            return None
        *way, name = item.path.path[prefix:].split("/")
        names = top
        for each in way:
            inner = names.setdefault(each, {})
            if isinstance(inner, PlanItem):
                return None
            names = inner
        if name in names:
            return None
        names[name] = item
    return top


def _is_as_planned(kind: FileKind, expected: Names | PlanItem) -> bool:
    is_file_fine = isinstance(expected, PlanItem) and expected.type is ItemKind.INSTANCE
    return kind is FileKind.DIRECTORY or (is_file_fine and kind is FileKind.FILE)


def _to_list(names: Mapping[str, Names | PlanItem]) -> Iterator[tuple[str, Names]]:
    """What is in an instance is its own matter; a directory that was empty must still be so."""
    for name, inner in names.items():
        if not isinstance(inner, PlanItem):
            yield name, inner
        elif inner.type is ItemKind.EMPTY_DIRECTORY:
            yield name, {}
