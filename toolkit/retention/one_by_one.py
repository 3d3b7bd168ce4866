"""Removing one item of a plan by one call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from toolkit.retention.gate import Gate
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.presence import is_present
from toolkit.retention.removed import Removed
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.storage import NotFound, StorageError, Unreachable

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

INTERRUPTED = "interrupted"
"""The code of an item in whose removal the run was stopped."""

Answers: TypeAlias = "dict[CanonicalPath, StorageError | None]"
"""What a store has said of paths: None of one that it has removed."""


@dataclass(frozen=True, kw_only=True)
class OneByOne:
    """Removes single items; safe between threads.

    Attributes:
        storage: the store that a path is on.
        gate: asked before each.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    gate: Gate

    def remove(self, item: PlanItem, *, gone_by_us: bool = False) -> Removed:
        """Remove an item, unless the run was told to stop or the feed was put on hold.

        Args:
            item: of the plan.
            gone_by_us: when it is not there any more, a call of this run that failed has removed it.
        """
        refusal = self.gate.refusal(item.base)
        if refusal is not None:
            return Removed(refusal.of(item))
        system = self.storage(item.base)
        try:
            return Removed(_removed(system, item))
        except NotFound:
            return Removed(ItemResult.done(item) if gone_by_us else ItemResult.skipped(item, SkipReason.ALREADY_GONE))
        except StorageError as error:
            return failed(item, error, system, self.gate)
        except Stopped as stopped:
            self.gate.stop(stopped)
            return interrupted(item, system)

    def remove_together(self, items: Sequence[PlanItem]) -> list[Removed]:
        """Remove a few items of one base, on a store where each goes at once; they are let through together.

        Args:
            items: instances and what was left of them.
        """
        refusal = self.gate.refusal(items[0].base, items=len(items))
        if refusal is not None:
            return [Removed(refusal.of(item)) for item in items]
        system = self.storage(items[0].base)
        answers: Answers = {}
        try:
            for path, error in system.delete_all([item.path for item in items], below=items[0].base):
                answers[path] = error
        except StorageError as error:
            answers |= {item.path: error for item in items if item.path not in answers}
        except Stopped as stopped:
            self.gate.stop(stopped)
            return [
                answered(item, answers, system, self.gate) if item.path in answers else interrupted(item, system)
                for item in items
            ]
        return [answered(item, answers, system, self.gate) for item in items]


def _removed(system: FileSystem, item: PlanItem) -> ItemResult:
    if item.kind is ItemKind.EMPTY_DIRECTORY:
        if system.remove_if_empty(item.path, below=item.base):
            return ItemResult.done(item)
        return ItemResult.skipped(item, SkipReason.NOT_EMPTY)
    system.delete(item.path, below=item.base)
    return ItemResult.done(item)


def answered(item: PlanItem, answers: Answers, system: FileSystem, gate: Gate) -> Removed:
    """An item that `delete_all` was asked for, by what the store said of it.

    Args:
        item: of the plan.
        answers: of the store, which may have none for it.
        system: the store.
        gate: is told that a call was not answered.
    """
    if item.path not in answers:
        # Silence confirms nothing (as in ADR 0022): the next run looks.
        return unanswered(item, f"{item.path}: the store ended a removal of many without a word about it")
    error = answers[item.path]
    if error is None:
        return Removed(ItemResult.done(item))
    if isinstance(error, NotFound):
        return Removed(ItemResult.skipped(item, SkipReason.ALREADY_GONE))
    return failed(item, error, system, gate)


def failed(item: PlanItem, error: StorageError, system: FileSystem, gate: Gate) -> Removed:
    """An item whose removal the store refused, or did not answer."""
    _LOG.warning('event=item_failed code=%s path="%s"', error.code, item.path)
    if isinstance(error, Unreachable):
        gate.note_unanswered(system, item.base)
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
