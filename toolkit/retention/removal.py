"""Removing one item of a plan, and the directories that it was the last in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.presence import is_present
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.storage import NotFound, StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.retention.brake import Brake
    from toolkit.runs.lifeline import Lifeline
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Removal:
    """Removes the items of one feed.

    Attributes:
        storage: the store that a path is on.
        lifeline: asked before each effect.
        brake: asked whether the feed was put on hold meanwhile.
        stopped: why nothing more is removed.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    lifeline: Lifeline
    brake: Brake
    stopped: Stopped | None = None

    def may_begin(self) -> bool:
        """Whether the run may go on; once it may not, it never may again."""
        if self.stopped is None:
            try:
                self.lifeline.check()
            except Stopped as stopped:
                self.stopped = stopped
        return self.stopped is None

    def remove(self, item: PlanItem) -> ItemResult:
        """Remove an item, unless the run was told to stop or the feed was put on hold."""
        if not self.may_begin():
            return ItemResult.skipped(item, SkipReason.STOPPED)
        if self.brake.holds(item):
            return ItemResult.skipped(item, SkipReason.HELD)
        try:
            return self._remove(item)
        except NotFound:
            return ItemResult.skipped(item, SkipReason.ALREADY_GONE)
        except StorageError as error:
            _LOG.warning('event=item_failed code=%s path="%s"', error.code, item.path)
            return ItemResult.failed(item, error.code, str(error))
        except Stopped as stopped:
            self.stopped = stopped
            return ItemResult.failed(item, "interrupted", "removed in part; a rerun finishes it")

    def remove_emptied_parents(self, item: PlanItem, following: PlanItem | None) -> Iterator[ItemResult]:
        """The directories above an item that is gone, as far as nothing else is in them, nearest first.

        Those that the following item is in as well are left for it, so that each is tried once.
        """
        system = self.storage(item.base)
        for parent in _parents(item):
            if following is not None and following.path.is_within(parent):
                return
            try:
                self.lifeline.check()
                if not system.remove_if_empty(parent, below=item.base):
                    return
                yield ItemResult.done(item.about_parent(parent))
            except Stopped as stopped:
                self.stopped = stopped
                return
            except StorageError as error:
                yield ItemResult.failed(item.about_parent(parent), error.code, str(error))
                return

    def is_gone(self, item: PlanItem) -> bool:
        """Whether nothing is at the item's path any more; what cannot be looked at counts as there."""
        return is_present(self.storage(item.base), item.path) is False

    def _remove(self, item: PlanItem) -> ItemResult:
        system = self.storage(item.base)
        if item.kind is ItemKind.EMPTY_DIRECTORY:
            if system.remove_if_empty(item.path, below=item.base):
                return ItemResult.done(item)
            return ItemResult.skipped(item, SkipReason.NOT_EMPTY)
        system.delete(item.path, below=item.base)
        return ItemResult.done(item)


def _parents(item: PlanItem) -> Iterator[CanonicalPath]:
    """The directories above the item, nearest first, up to the base and without it."""
    parent = item.path.parent
    while parent.is_within(item.base):
        yield parent
        parent = parent.parent
