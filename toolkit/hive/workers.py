"""Workers that do the items of a plan: of an export, and of an import into a metastore."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.model import INTERRUPTED, ItemResult, Problem
from toolkit.actions.validation import QUALITY_UNKNOWN
from toolkit.catalog.errors import CatalogError
from toolkit.errors import StopRequested, Unavailable
from toolkit.hive.batches import Worker
from toolkit.hive.targets import TableItem, TableStep
from toolkit.storage import StorageError
from toolkit.transfer.copying import SourceChanged

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.hive.exporting import ExportWriter
    from toolkit.hive.landing import Landed, Lander

Results = dict[TableItem, ItemResult[TableItem]]


@dataclass(frozen=True, kw_only=True)
class ExportWorker(Worker):
    """Worker that writes an export."""

    writer: ExportWriter
    _begun: list[bool] = field(default_factory=list, init=False)

    @property
    @override
    def base(self) -> CanonicalPath:
        return self.writer.directory

    @override
    def work(self, items: Sequence[TableItem], told: Results) -> Sequence[str]:
        if not self._begun:
            self.writer.begin()
            self._begun.append(True)
        if items[0].step is TableStep.FINISH:
            self.writer.finish()
            told |= {item: ItemResult.done(item) for item in items}
            return ()
        copied = self.writer.copy(items)
        told |= {item: _result(item, copied[item.place]) for item in items}
        return ()


@dataclass(frozen=True, kw_only=True)
class LandingWorker(Worker):
    """Worker that imports partitions and tables into a metastore.

    Attributes:
        lander: brings them.
        moved: those partitions, by their names, that are described otherwise at the source than when it was planned.
    """

    lander: Lander
    moved: Callable[[Collection[str]], frozenset[str]]

    @property
    @override
    def base(self) -> CanonicalPath:
        return self.lander.root

    @override
    def work(self, items: Sequence[TableItem], told: Results) -> Sequence[str]:
        if items[0].step is TableStep.TABLE:
            self.lander.make_table(items[0])
            told[items[0]] = ItemResult.done(items[0])
            return ()
        notes: list[str] = []
        self._land([item for item in items if item.step is not TableStep.CLEAN], told, notes)
        replaced = {item.part for item, each in told.items() if each.code == "" and item.step is TableStep.REPLACE}
        for item in items:
            if item.step is TableStep.CLEAN:
                is_outdated = item.part in replaced
                told[item] = self._cleaned(item) if is_outdated else ItemResult.skipped(item, _STAYS)
        return notes

    def _land(self, parts: Sequence[TableItem], told: Results, notes: list[str]) -> None:
        """Get data into place, and register what got there: what is new, and what changes, each in one call.

        What was judged as a whole is registered as a whole: a verdict says nothing of a part of it.
        """
        outcomes = self.lander.land(parts, notes)
        told |= {item: _result(item, each) for item, each in outcomes.items() if isinstance(each, Problem)}
        landed = {item: each for item, each in outcomes.items() if not isinstance(each, Problem)}
        if self.lander.staging is None:
            for is_fresh in (True, False):
                own = {item: each for item, each in landed.items() if (item.step is TableStep.ADD) is is_fresh}
                if own:
                    self._register(own, told)
        elif len(landed) == len(outcomes):
            self._register(landed, told)
        elif landed:
            told |= self._undone(landed, _apart)
        self.lander.sweep(outcomes)

    def _register(self, landed: Mapping[TableItem, Landed], told: Results) -> None:
        # The copy may have taken hours.
        refusal = self.lander.work.guard.refusal(self.base, must_look=True)
        if refusal is not None:
            told |= self._undone(landed, refusal.of)
            return
        left = dict(landed)
        try:
            moved = self.moved([item.name for item in landed])
            gone = {item: left.pop(item) for item in landed if item.name in moved}
            if gone:
                told |= self._undone(gone, _source_changed)
            if gone and left and self.lander.staging is not None:
                told |= self._undone(left, _apart)
                left.clear()
            if left:
                self.lander.register(left)
        except (CatalogError, StorageError) as error:
            if isinstance(error, Unavailable):  # it may have been done: the next run sees
                raise
            told |= self._undone(left, partial(ItemResult.failed, code=error.code, message=str(error)))
        else:
            told |= {item: ItemResult.done(item) for item in left}

    def _undone(self, landed: Mapping[TableItem, Landed], why: Callable[[TableItem], ItemResult[TableItem]]) -> Results:
        """Remove the files that were not registered; a file that cannot be removed is left to the next run."""
        results = {item: why(item) for item in landed}
        try:
            self.lander.undo(landed)
        except (StorageError, CatalogError, StopRequested) as left:
            for item, each in results.items():
                message = (
                    f"{each.message or each.code}; what was copied is still there, which the next run sees to: {left}"
                )
                results[item] = ItemResult.failed(item, INTERRUPTED, message)
        return results

    def _cleaned(self, item: TableItem) -> ItemResult[TableItem]:
        try:
            return self.lander.clean(item)
        except (StorageError, CatalogError) as error:
            return ItemResult.failed(item, error.code, str(error))


def _source_changed(item: TableItem) -> ItemResult[TableItem]:
    """Return the failure of an item whose table or partition changed at the source."""
    place = item.place if item.part is None else item.part.place
    error = SourceChanged(path=place, detail="it, or its table, was altered, dropped or made anew since the plan")
    return ItemResult.failed(item, error.code, str(error))


def _apart(item: TableItem) -> ItemResult[TableItem]:
    """Return the failure of an item that was validated together with partitions that cannot be registered."""
    why = "other partitions of what was judged cannot be registered, and the verdict is on all of it; run again"
    return ItemResult.failed(item, QUALITY_UNKNOWN, f"{item.name or item.uri}: {why}")


_STAYS = "not_replaced"
"""The code of data that stay, since what should have replaced them failed."""


def _result(item: TableItem, told: Mapping[str, str] | Landed | Problem) -> ItemResult[TableItem]:
    return ItemResult.failed(item, told.code, told.message) if isinstance(told, Problem) else ItemResult.done(item)
