"""Removing a directory that holds nothing but items of the plan, by one call."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.actions.model import INTERRUPTED, ItemResult, SkipReason
from toolkit.retention.delete import Removed, SingleDelete, UnitRemoved, is_gone, unanswered
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.runs.lease import MonotonicClock, machine_clock
from toolkit.storage import FileKind, Look, LookTooOld, NotFound, StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

Names = dict[str, "Names | PlanItem"]
"""Planned names in a directory: directories on the way to items, and items."""


@dataclass(frozen=True, kw_only=True)
class TreeDelete:
    """Removes whole directories; safe between threads.

    Attributes:
        work: of the run; the rate of the store is waited for before the look, so that it does not age meanwhile.
        single: removes the items of a directory that cannot go as a whole.
        now: seconds of a clock that only goes forward.
    """

    work: RunContext
    single: SingleDelete
    now: MonotonicClock = machine_clock

    def remove(self, root: CanonicalPath, items: Sequence[PlanItem]) -> UnitRemoved:
        """Remove a directory with all in it, when it still holds exactly what was planned; else item by item.

        The one call follows a look at once (ADR 0021). When it is not answered it may still happen, so it is not
        repeated: the items stay open for the next run unless the directory is seen to be gone.

        Args:
            root: strictly below the base of the items.
            items: all that was planned below it.
        """
        base = items[0].base
        system = self.work.stores(base)
        attempted(self.work, partial(self.work.wait_for_rate, base), failures=())  # in which the run may rest for hours
        refusal = self.work.guard.refusal(base, items=len(items), must_look=True)
        if refusal is not None:
            return UnitRemoved([Removed(refusal.of(item)) for item in items])
        why_not = attempted(self.work, partial(self._dropped, system, root, items), failures=(StorageError,))
        if why_not is None:
            return _whole(items)
        if not isinstance(why_not, FailedAttempt):
            return self._one_by_one(root, items, why_not)
        if why_not.was_stopped:
            return _stopped(system, root, items)
        _LOG.warning('event=subtree_failed code=%s path="%s"', why_not.code, root)
        if why_not.code == Unreachable.code:
            left = [unanswered(item, why_not.message) for item in items]
            return _whole(items) if is_gone(system, root) else UnitRemoved(left)
        return self._one_by_one(root, items, f"it could not be removed as a whole ({why_not.code})", has_failed=True)

    def _dropped(self, system: FileSystem, root: CanonicalPath, items: Sequence[PlanItem]) -> str | None:
        """Look, and remove at once what was seen; return why it stays, or None."""
        look = Look(before_effect=self.work.guard.check, now=self.now)
        look.begin()
        if not holds_exactly(system, root, items):
            return "it does not hold exactly what was planned any more"
        try:
            system.delete(root, below=items[0].base, look=look)
        except LookTooOld:
            return "listing it took too long to rely on what was seen"
        except NotFound:
            return "it was not there any more"
        return None

    def _one_by_one(
        self, root: CanonicalPath, items: Sequence[PlanItem], why: str, *, has_failed: bool = False
    ) -> UnitRemoved:
        removed = [self.single.remove(item, gone_by_us=has_failed) for item in items]
        return UnitRemoved(removed, note=f"{root} went instance by instance: {why}")


def _whole(items: Sequence[PlanItem]) -> UnitRemoved:
    return UnitRemoved([Removed(ItemResult.done(item)) for item in items], is_whole=True)


def _stopped(system: FileSystem, root: CanonicalPath, items: Sequence[PlanItem]) -> UnitRemoved:
    """The items of a run that was stopped before the call was sent; the directory alone tells, all go at once."""
    match is_gone(system, root):
        case True:
            return _whole(items)
        case False:
            return UnitRemoved([Removed(ItemResult.skipped(item, SkipReason.STOPPED)) for item in items])
        case None:
            return UnitRemoved([_not_seen(item) for item in items])


def _not_seen(item: PlanItem) -> Removed:
    message = "the run was stopped, and whether the item went cannot be seen now; the next run sees it"
    return Removed(ItemResult.failed(item, INTERRUPTED, message), is_open=True)


def holds_exactly(system: FileSystem, root: CanonicalPath, items: Sequence[PlanItem]) -> bool:
    """Return whether a directory holds the items, the directories on the way to them, and nothing else.

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
    """Yield the directories to list again: an instance is not listed, and an empty directory must still be empty."""
    for name, inner in names.items():
        if not isinstance(inner, PlanItem):
            yield name, inner
        elif inner.type is ItemKind.EMPTY_DIRECTORY:
            yield name, {}
