"""Removing a directory that holds nothing but items of the plan, by one call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.gate import Gate
from toolkit.retention.one_by_one import INTERRUPTED, OneByOne, unanswered
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.presence import is_present
from toolkit.retention.removed import Removed, UnitRemoved
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.deadline import MonotonicClock, machine_clock
from toolkit.runs.errors import Stopped
from toolkit.storage import AfterLook, FileKind, LookAgain, NotFound, StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

MOST_TOO_LATE = 5
"""So often a look may be too old before its call is sent; then the items go one by one, each of which needs none."""

Names = dict[str, "Names | PlanItem"]
"""What is planned to be in a directory: directories on the way to items, and items."""


@dataclass(frozen=True, kw_only=True)
class Drop:
    """Drops directories; safe between threads.

    Attributes:
        storage: the store that a path is on.
        gate: asked before each look.
        one_by_one: removes the items of a directory that cannot go as a whole.
        now: seconds of a clock that only goes forward.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    gate: Gate
    one_by_one: OneByOne
    now: MonotonicClock = machine_clock

    def remove(self, root: CanonicalPath, items: Sequence[PlanItem]) -> UnitRemoved:
        """Remove a directory with all in it, when it still holds exactly what was planned; else item by item.

        Each call follows a look at once (ADR 0021): after a rest, and after a call that was not answered, the gate is
        asked and the directory is looked at again.

        Args:
            root: strictly below the base of the items.
            items: all that was planned below it.
        """
        drop = _OneDrop(root=root, items=items, system=self.storage(items[0].base), look=AfterLook(now=self.now))
        while True:
            refusal = self.gate.refusal(drop.base, items=len(items), must_look=True)
            if refusal is not None:
                return drop.left([Removed(refusal.of(item)) for item in items])
            if drop.look.too_late >= MOST_TOO_LATE:
                return self._one_by_one(drop, "it could not be removed right after a look")
            with suppress(LookAgain):
                return self._dropped(drop)

    def _dropped(self, drop: _OneDrop) -> UnitRemoved:
        try:
            why_not = drop.why_it_stays()
            if why_not is None:
                return drop.done()
        except Unreachable as error:
            _LOG.warning('event=subtree_failed code=%s path="%s"', error.code, drop.root)
            self.gate.note_unanswered(drop.system, drop.base)
            return UnitRemoved([unanswered(item, str(error)) for item in drop.items])
        except StorageError as error:
            return self._failed(drop, error)
        except Stopped as stopped:
            self.gate.stop(stopped)
            return drop.stopped()
        if drop.is_gone_unanswered():
            return drop.done()
        return self._one_by_one(drop, why_not)

    def _failed(self, drop: _OneDrop, error: StorageError) -> UnitRemoved:
        if not isinstance(error, NotFound):
            _LOG.warning('event=subtree_failed code=%s path="%s"', error.code, drop.root)
            return self._one_by_one(drop, f"it could not be removed as a whole ({error.code})", has_failed=True)
        if drop.look.is_unanswered:
            return drop.done()
        return self._one_by_one(drop, "it was not there any more")

    def _one_by_one(self, drop: _OneDrop, why: str, *, has_failed: bool = False) -> UnitRemoved:
        by_us = has_failed or drop.look.is_unanswered
        removed = [self.one_by_one.remove(item, gone_by_us=by_us) for item in drop.items]
        return UnitRemoved(removed, note=f"{drop.root} went instance by instance: {why}")


@dataclass(frozen=True, kw_only=True)
class _OneDrop:
    """One directory, and what is known of the calls that were sent for it."""

    root: CanonicalPath
    items: Sequence[PlanItem]
    system: FileSystem
    look: AfterLook

    @property
    def base(self) -> CanonicalPath:
        return self.items[0].base

    def why_it_stays(self) -> str | None:
        """Look, and remove at once what was seen; None: that happened."""
        with self.look:
            if not holds_exactly(self.system, self.root, self.items):
                return "it does not hold exactly what was planned any more"
            if self.look.is_old:
                return "listing it took too long to rely on what was seen"
            self.system.delete(self.root, below=self.base)
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
    is_file_fine = isinstance(expected, PlanItem) and expected.kind is ItemKind.INSTANCE
    return kind is FileKind.DIRECTORY or (is_file_fine and kind is FileKind.FILE)


def _to_list(names: Mapping[str, Names | PlanItem]) -> Iterator[tuple[str, Names]]:
    """What is in an instance is its own matter; a directory that was empty must still be so."""
    for name, inner in names.items():
        if not isinstance(inner, PlanItem):
            yield name, inner
        elif inner.kind is ItemKind.EMPTY_DIRECTORY:
            yield name, {}
