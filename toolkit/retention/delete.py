"""Removing the items of a plan: one by one, a few together, or many by the store's own bulk call."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from toolkit.actions.attempt import FailedAttempt, attempted, failure_of
from toolkit.actions.guard import STOPPED, Refusal
from toolkit.actions.model import INTERRUPTED, ItemResult, SkipReason
from toolkit.el import CanonicalPath
from toolkit.retention.plan import ItemKind, PlanItem, StayReason
from toolkit.runs.errors import Stopped
from toolkit.storage import NotBegun, NotFound, StorageError, Unreachable, find_status

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

Answers: TypeAlias = dict[CanonicalPath, StorageError | None]
"""Answers of a store on paths: None for a removed path."""

_WORDS: Mapping[str, str] = {
    SkipReason.HELD: "the feed was put on hold",
    SkipReason.STOPPED: "the run was told to stop",
}


class Removed(NamedTuple):
    """An item's result; a tuple, because an eviction has very many of them.

    Attributes:
        result: for the user.
        is_gone: it failed, and nothing is at its path any more all the same.
        is_open: the outcome is unknown now, and what was asked for may still happen, so that the next run has to look.
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
        work: of the run; its guard is asked before each.
        first: as for `BulkDelete`, where the store does not remove at once.
    """

    work: RunContext
    first: str = ""

    def remove(self, item: PlanItem, *, gone_by_us: bool = False) -> Removed:
        """Remove an item, unless the run was told to stop or the feed was put on hold.

        Args:
            item: of the plan.
            gone_by_us: when it is not there any more, a call of this run that failed has removed it.
        """
        refusal = self.work.guard.refusal(item.base)
        if refusal is not None:
            return Removed(refusal.of(item))
        system = self.work.stores(item.base)
        remove = partial(_removed, system, item, gone_by_us=gone_by_us)
        result = attempted(self.work, remove, failures=(StorageError,))
        return failed(item, result, system) if isinstance(result, FailedAttempt) else Removed(result)

    def remove_together(self, items: Sequence[PlanItem]) -> list[Removed]:
        """Remove a few items of one base by one call; they are let through together.

        Several go so only where each goes at once, so that a hold is seen soon.

        Args:
            items: instances and what was left of them.
        """
        refusal = self.work.guard.refusal(items[0].base, items=len(items))
        if refusal is not None:
            return [Removed(refusal.of(item)) for item in items]
        answers: Answers = {}
        failure = attempted(self.work, lambda: list(_answers_of(self.work, items, self.first, answers)), failures=())
        return [
            answered(item, answers, self.work)
            if not isinstance(failure, FailedAttempt) or item.path in answers
            else failed(item, failure, self.work.stores(item.base))
            for item in items
        ]


@dataclass(frozen=True, kw_only=True)
class BulkDelete:
    """Removes items in bulk, on a store without directories.

    Attributes:
        work: of the run; its guard is asked before each call, and the store asks it before each request of its own.
        first: the feed's availability flag, which goes before the rest of an instance; empty: it has none.
    """

    work: RunContext
    first: str

    def remove(self, items: Sequence[PlanItem]) -> list[Removed]:
        """Remove items of one base; one that fails is named, and the others go."""
        base, guard = items[0].base, self.work.guard
        refusal = guard.refusal(base, must_look=True)
        if refusal is not None:
            return [Removed(refusal.of(item)) for item in items]
        before, answers = guard.effects, Answers()

        def ask() -> None:
            # Not longer: a look at what became of an item is no effect, and a hold must not end it.
            with guard.watching(base):
                for _ in _answers_of(self.work, items, self.first, answers):
                    # A hold that is found here stops the store's next change; what is under way is still answered.
                    guard.against(base)

        failure = attempted(self.work, ask, failures=())
        is_touched = guard.effects != before
        return [
            answered(item, answers, self.work)
            if failure is None or (item.path in answers and not isinstance(answers[item.path], NotBegun))
            else _called_off(item, failure.refusal or STOPPED, is_touched=is_touched and item.path not in answers)
            for item in items
        ]


def _answers_of(work: RunContext, items: Sequence[PlanItem], first: str, answers: Answers) -> Iterator[None]:
    """Remove items of one base by one call of the store; note its answers, and yield after each."""
    base = items[0].base
    try:
        for path, error in work.stores(base).delete_all([item.path for item in items], below=base, first=first):
            answers[path] = error
            yield
    except StorageError as error:
        answers |= {item.path: error for item in items if item.path not in answers}


def _called_off(item: PlanItem, refusal: Refusal, *, is_touched: bool) -> Removed:
    """An item without an answer; the store is not asked about each, since a run that is stopped must end soon."""
    if not is_touched:
        return Removed(refusal.of(item))
    code = refusal.code if refusal.why else INTERRUPTED
    why = refusal.why or _WORDS.get(refusal.code, refusal.code)
    message = f"{item.path}: called off, since {why}; it may be removed in part, which the next run sees"
    return Removed(ItemResult.failed(item, code, message), is_open=True)


def _removed(system: FileSystem, item: PlanItem, *, gone_by_us: bool) -> ItemResult[PlanItem]:
    try:
        if item.type is not ItemKind.EMPTY_DIRECTORY:
            system.delete(item.path, below=item.base)
        elif not system.remove_if_empty(item.path, below=item.base):
            return ItemResult.skipped(item, StayReason.NOT_EMPTY)
    except NotFound:
        return ItemResult.done(item) if gone_by_us else ItemResult.skipped(item, StayReason.ALREADY_GONE)
    return ItemResult.done(item)


def answered(item: PlanItem, answers: Answers, work: RunContext) -> Removed:
    """An item that `delete_all` was asked for, by what the store said of it, which may be nothing."""
    if item.path not in answers:
        # Silence confirms nothing (as in ADR 0022): the next run looks.
        return unanswered(item, f"{item.path}: the store ended a removal of many without a word about it")
    error = answers[item.path]
    if error is None:
        return Removed(ItemResult.done(item))
    if isinstance(error, NotFound):
        return Removed(ItemResult.skipped(item, StayReason.ALREADY_GONE))
    return failed(item, failure_of(work, error), work.stores(item.base))


def failed(item: PlanItem, failure: FailedAttempt, system: FileSystem) -> Removed:
    """An item whose removal did not come to its end: it stays open unless it is seen what became of it."""
    if failure.refusal is not None:
        return Removed(failure.of(item))
    if failure.code == INTERRUPTED:
        gone = is_gone(system, item.path)
        why = _what_is_left(is_gone=gone, at_once=system.capabilities.atomic_delete)
        return Removed(ItemResult.failed(item, INTERRUPTED, why), is_gone=gone is True, is_open=gone is None)
    _LOG.warning('event=item_failed code=%s path="%s"', failure.code, item.path)
    if failure.code == Unreachable.code:
        return unanswered(item, failure.message)
    return Removed(failure.of(item), is_gone=is_gone(system, item.path) is True)


def unanswered(item: PlanItem, why: str) -> Removed:
    """An item whose removal was asked for, and may still happen: whether it did is for the next run to see."""
    message = f"{why}; the removal may still happen, and the next run sees whether it did"
    return Removed(ItemResult.failed(item, Unreachable.code, message), is_open=True)


def _what_is_left(*, is_gone: bool | None, at_once: bool) -> str:
    match is_gone:
        case None:
            return "the run was stopped, and whether it is gone could not be seen; the next run sees it"
        case True:
            return "it is gone; the run was stopped before that was told"
        case False:
            return f"the run was stopped; it is {'still there' if at_once else 'removed in part'}, and a rerun takes it"


def is_gone(system: FileSystem, path: CanonicalPath) -> bool | None:
    """Return whether a path is absent; None: unknown now."""
    try:
        found = is_present(system, path)
    except Stopped:  # a store that is silent is waited for, unless the run is told to stop
        return None
    return None if found is None else not found


def is_present(system: FileSystem, path: CanonicalPath) -> bool | None:
    """Return whether a path exists; None: unknown now."""
    try:
        return find_status(system, path) is not None
    except StorageError:
        return None
