"""Removing the items of a plan: one by one, a few together, or many by the store's own bulk call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from toolkit.actions.guard import STOPPED, CalledOff, Guard, Refusal
from toolkit.actions.model import INTERRUPTED, ItemResult, SkipReason
from toolkit.retention.plan import ItemKind, PlanItem, StayReason
from toolkit.runs.errors import Stopped
from toolkit.storage import NotBegun, NotFound, StorageError, Unreachable, find_status

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

Answers: TypeAlias = "dict[CanonicalPath, StorageError | None]"
"""What a store has said of paths: None of one that it has removed."""

_WORDS: Mapping[str, str] = {
    SkipReason.HELD: "the feed was put on hold",
    SkipReason.STOPPED: "the run was told to stop",
}


class Removed(NamedTuple):
    """An item's result; a tuple, because an eviction has very many of them.

    Attributes:
        result: for the user.
        is_gone: it failed, and nothing is at its path any more all the same.
        is_open: nobody can tell now, and what was asked for may still happen, so that the next run has to look.
        archived: how much of it is in the archive, in words; empty: none of it was archived.
        archived_at: where in the archive; None: nowhere.
    """

    result: ItemResult[PlanItem]
    is_gone: bool = False
    is_open: bool = False
    archived: str = ""
    archived_at: CanonicalPath | None = None


class UnitRemoved(NamedTuple):
    """Outcome of a unit.

    Attributes:
        removed: its items, in their order.
        is_whole: the directory that held them went with them.
        note: for the user, why it did not although it should have; empty: nothing to say.
    """

    removed: Sequence[Removed]
    is_whole: bool = False
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class SingleDelete:
    """Removes single items; safe between threads.

    Attributes:
        storage: the store that a path is on.
        guard: asked before each.
        first: as for `BulkDelete`, where the store does not remove at once.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    guard: Guard
    first: str = ""

    def remove(self, item: PlanItem, *, gone_by_us: bool = False) -> Removed:
        """Remove an item, unless the run was told to stop or the feed was put on hold.

        Args:
            item: of the plan.
            gone_by_us: when it is not there any more, a call of this run that failed has removed it.
        """
        refusal = self.guard.refusal(item.base)
        if refusal is not None:
            return Removed(refusal.of(item))
        system = self.storage(item.base)
        try:
            return Removed(_removed(system, item))
        except NotFound:
            return Removed(ItemResult.done(item) if gone_by_us else ItemResult.skipped(item, StayReason.ALREADY_GONE))
        except StorageError as error:
            return failed(item, error, system, self.guard)
        except Stopped as stopped:
            self.guard.stop(stopped)
            return interrupted(item, system)

    def remove_together(self, items: Sequence[PlanItem]) -> list[Removed]:
        """Remove a few items of one base by one call; they are let through together.

        Several go so only where each goes at once, so that a hold is seen soon.

        Args:
            items: instances and what was left of them.
        """
        refusal = self.guard.refusal(items[0].base, items=len(items))
        if refusal is not None:
            return [Removed(refusal.of(item)) for item in items]
        system = self.storage(items[0].base)
        answers: Answers = {}
        try:
            for path, error in system.delete_all([item.path for item in items], below=items[0].base, first=self.first):
                answers[path] = error
        except StorageError as error:
            answers |= {item.path: error for item in items if item.path not in answers}
        except Stopped as stopped:
            self.guard.stop(stopped)
            return [
                answered(item, answers, system, self.guard) if item.path in answers else interrupted(item, system)
                for item in items
            ]
        return [answered(item, answers, system, self.guard) for item in items]


@dataclass(frozen=True, kw_only=True)
class BulkDelete:
    """Removes items in bulk, on a store without directories.

    Attributes:
        storage: the store that a path is on.
        guard: asked before each call; the store asks the run before each request of its own.
        first: the feed's availability flag, which goes before the rest of an instance; empty: it has none.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    guard: Guard
    first: str

    def remove(self, items: Sequence[PlanItem]) -> list[Removed]:
        """Remove items of one base; one that fails is named, and the others go."""
        base = items[0].base
        refusal = self.guard.refusal(base, must_look=True)
        if refusal is not None:
            return [Removed(refusal.of(item)) for item in items]
        system, before = self.storage(base), self.guard.effects
        answers: Answers = {}
        try:
            # Not longer: a look at what became of an item is no effect, and a hold must not end it.
            with self.guard.watching(base):
                for path, error in system.delete_all([item.path for item in items], below=base, first=self.first):
                    answers[path] = error
                    # A hold that is found here stops the store's next change; what is under way is still answered.
                    self.guard.against(base)
        except StorageError as error:
            answers |= {item.path: error for item in items if item.path not in answers}
        except CalledOff as called_off:
            refusal = called_off.refusal
        except Stopped as stopped:
            self.guard.stop(stopped)
            refusal = STOPPED
        is_touched = self.guard.effects != before
        return [
            answered(item, answers, system, self.guard)
            if refusal is None or (item.path in answers and not isinstance(answers[item.path], NotBegun))
            else _called_off(item, refusal, is_touched=is_touched and item.path not in answers)
            for item in items
        ]


def _called_off(item: PlanItem, refusal: Refusal, *, is_touched: bool) -> Removed:
    """An item without an answer; nobody asks the store about each, since a run that is stopped must end soon."""
    if not is_touched:
        return Removed(refusal.of(item))
    code = refusal.code if refusal.why else INTERRUPTED
    why = refusal.why or _WORDS.get(refusal.code, refusal.code)
    message = f"{item.path}: called off, since {why}; it may be removed in part, which the next run sees"
    return Removed(ItemResult.failed(item, code, message), is_open=True)


def _removed(system: FileSystem, item: PlanItem) -> ItemResult[PlanItem]:
    if item.type is ItemKind.EMPTY_DIRECTORY:
        if system.remove_if_empty(item.path, below=item.base):
            return ItemResult.done(item)
        return ItemResult.skipped(item, StayReason.NOT_EMPTY)
    system.delete(item.path, below=item.base)
    return ItemResult.done(item)


def answered(item: PlanItem, answers: Answers, system: FileSystem, guard: Guard) -> Removed:
    """An item that `delete_all` was asked for, by what the store said of it.

    Args:
        item: of the plan.
        answers: of the store, which may have none for it.
        system: the store.
        guard: is told that a call was not answered.
    """
    if item.path not in answers:
        # Silence confirms nothing (as in ADR 0022): the next run looks.
        return unanswered(item, f"{item.path}: the store ended a removal of many without a word about it")
    error = answers[item.path]
    if error is None:
        return Removed(ItemResult.done(item))
    if isinstance(error, NotFound):
        return Removed(ItemResult.skipped(item, StayReason.ALREADY_GONE))
    return failed(item, error, system, guard)


def failed(item: PlanItem, error: StorageError, system: FileSystem, guard: Guard) -> Removed:
    """An item whose removal the store refused, or did not answer."""
    _LOG.warning('event=item_failed code=%s path="%s"', error.code, item.path)
    if isinstance(error, Unreachable):
        guard.note_unanswered(system, item.base)
        return unanswered(item, str(error))
    return Removed(ItemResult.failed(item, error.code, str(error)), is_gone=is_gone(system, item) is True)


def unanswered(item: PlanItem, why: str) -> Removed:
    """An item whose removal was asked for, and may still happen: whether it did is for the next run to see."""
    message = f"{why}; the removal may still happen, and the next run sees whether it did"
    return Removed(ItemResult.failed(item, Unreachable.code, message), is_open=True)


def interrupted(item: PlanItem, system: FileSystem) -> Removed:
    """An item in whose removal the run was stopped."""
    gone = is_gone(system, item)
    why = _what_is_left(is_gone=gone, at_once=system.capabilities.atomic_delete)
    result = ItemResult.failed(item, INTERRUPTED, why)
    return Removed(result, is_gone=gone is True, is_open=gone is None)


def _what_is_left(*, is_gone: bool | None, at_once: bool) -> str:
    match is_gone:
        case None:
            return "the run was stopped, and whether it is gone could not be seen; the next run sees it"
        case True:
            return "it is gone; the run was stopped before that was told"
        case False:
            return f"the run was stopped; it is {'still there' if at_once else 'removed in part'}, and a rerun takes it"


def is_gone(system: FileSystem, item: PlanItem) -> bool | None:
    """Whether nothing is at the item's path any more; None: that cannot be seen now."""
    try:
        found = is_present(system, item.path)
    except Stopped:  # a store that is silent is waited for, unless the run is told to stop
        return None
    return None if found is None else not found


def is_present(system: FileSystem, path: CanonicalPath) -> bool | None:
    """Whether something is at a path; None: the store could not be asked now."""
    try:
        return find_status(system, path) is not None
    except StorageError:
        return None
