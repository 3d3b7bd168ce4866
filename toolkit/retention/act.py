"""Doing what a plan says, and nothing else (DESIGN section 1)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from toolkit.result import Outcome
from toolkit.retention.brake import Brake
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.result import ItemResult, SkipReason
from toolkit.runs.errors import Stopped
from toolkit.storage import NotFound, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from toolkit.el import CanonicalPath
    from toolkit.runs.lifeline import Lifeline
    from toolkit.storage import FileSystem


_LOG = logging.getLogger(__name__)


class Progress(Protocol):
    """Is told how far a run is."""

    def begin(self, total: int) -> None:
        """So many items will be worked on."""
        ...

    def advance(self) -> None:
        """One more of them is over."""
        ...

    def end(self) -> None:
        """Nothing more comes; called however the work ended."""
        ...


class NoProgress:
    """Nobody looks."""

    def begin(self, total: int) -> None:
        """See `Progress.begin`."""

    def advance(self) -> None:
        """See `Progress.advance`."""

    def end(self) -> None:
        """See `Progress.end`."""


@dataclass(kw_only=True)
class Eviction:
    """Removes the items of a plan one after the other.

    Attributes:
        storage: the store that a path is on.
        lifeline: asked before each effect.
        results: what became of each item so far.
        stopped: why the run was ended before its time, if it was.
    """

    storage: Callable[[CanonicalPath], FileSystem]
    lifeline: Lifeline
    results: list[ItemResult] = field(default_factory=list)
    stopped: Stopped | None = None
    _brake: Brake = field(init=False)

    def __post_init__(self) -> None:
        self._brake = Brake(storage=self.storage)

    def run(self, items: Sequence[PlanItem], progress: Progress) -> None:
        """Work on the items in their order, which keeps what shares a directory together."""
        progress.begin(len(items))
        try:
            for position, item in enumerate(items):
                following = items[position + 1] if position + 1 < len(items) else None
                self._work_on(item, following)
                progress.advance()
        finally:
            progress.end()

    def _work_on(self, item: PlanItem, following: PlanItem | None) -> None:
        if self.stopped is not None:
            self.results.append(ItemResult.skipped(item, SkipReason.STOPPED))
            return
        try:
            self.lifeline.check()
        except Stopped as stopped:
            self.stopped = stopped
            self.results.append(ItemResult.skipped(item, SkipReason.STOPPED))
            return
        if self._brake.holds(item):
            self.results.append(ItemResult.skipped(item, SkipReason.HELD))
            return
        result = self._removed(item)
        self.results.append(result)
        if result.outcome is not Outcome.FAILED:
            self._remove_emptied_parents(item, following)

    def _removed(self, item: PlanItem) -> ItemResult:
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

    def _remove(self, item: PlanItem) -> ItemResult:
        system = self.storage(item.base)
        if item.kind is ItemKind.EMPTY_DIRECTORY:
            if system.remove_if_empty(item.path, below=item.base):
                return ItemResult.done(item)
            return ItemResult.skipped(item, SkipReason.NOT_EMPTY)
        system.delete(item.path, below=item.base)
        return ItemResult.done(item)

    def _remove_emptied_parents(self, item: PlanItem, following: PlanItem | None) -> None:
        """Directories that the next item is in as well are left for it, so that each is tried once."""
        system = self.storage(item.base)
        for parent in _parents(item):
            if following is not None and following.path.is_within(parent):
                return
            try:
                self.lifeline.check()
                if not system.remove_if_empty(parent, below=item.base):
                    return
            except Stopped as stopped:
                self.stopped = stopped
                return
            except StorageError as error:
                self.results.append(ItemResult.failed(item.about_parent(parent), error.code, str(error)))
                return


def _parents(item: PlanItem) -> Iterator[CanonicalPath]:
    """The directories above the item, nearest first, up to the base and without it."""
    parent = item.path.parent
    while parent.is_within(item.base):
        yield parent
        parent = parent.parent
