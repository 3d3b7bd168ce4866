"""What does the items of a plan: of an export, and of what comes to a metastore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.actions.guard import CalledOff
from toolkit.actions.model import INTERRUPTED, ItemResult, Problem
from toolkit.catalog.errors import CatalogError
from toolkit.errors import Unavailable
from toolkit.hive.targets import Step, TableItem
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.hive.exporting import ExportWriter
    from toolkit.hive.landing import Landed, Lander

Results = dict[TableItem, ItemResult[TableItem]]


@dataclass(frozen=True, kw_only=True)
class ExportWorker:
    """See `Worker`: writes an export."""

    writer: ExportWriter
    _begun: list[bool] = field(default_factory=list, init=False)

    @property
    def base(self) -> CanonicalPath:
        """See `Worker.base`."""
        return self.writer.directory

    def work(self, items: Sequence[TableItem]) -> Results:
        """See `Worker.work`."""
        if not self._begun:
            self.writer.begin()
            self._begun.append(True)
        if items[0].step is Step.FINISH:
            self.writer.finish()
            return {item: ItemResult.done(item) for item in items}
        told = self.writer.copy(items)
        return {item: _result(item, told[item.place]) for item in items}


@dataclass(frozen=True, kw_only=True)
class LandingWorker:
    """See `Worker`: brings partitions and tables to a metastore."""

    lander: Lander

    @property
    def base(self) -> CanonicalPath:
        """See `Worker.base`."""
        return self.lander.root

    def work(self, items: Sequence[TableItem]) -> Results:
        """See `Worker.work`."""
        if items[0].step is Step.TABLE:
            self.lander.make_table(items[0])
            return {items[0]: ItemResult.done(items[0])}
        parts = [item for item in items if item.step is not Step.CLEAN]
        results = self._landed(parts)
        replaced = {item.part for item, each in results.items() if each.code == "" and item.step is Step.REPLACE}
        for item in items:
            if item.step is Step.CLEAN:
                is_outdated = item.part in replaced
                results[item] = self._cleaned(item) if is_outdated else ItemResult.skipped(item, _STAYS)
        return results

    def _landed(self, parts: Sequence[TableItem]) -> Results:
        """Get data into place, and register what got there."""
        told = self.lander.land(parts)
        landed: dict[TableItem, Landed] = {item: each for item, each in told.items() if not isinstance(each, Problem)}
        work, base = self.lander.work, self.lander.root
        # The copy may have taken hours.
        refusal = work.guard.refusal(base, must_look=True) if landed else None
        if refusal is not None:
            raise CalledOff(refusal=refusal)
        results = {item: _result(item, each) for item, each in told.items()}
        try:
            if landed:
                self.lander.register(landed)
        except CatalogError as error:
            if isinstance(error, Unavailable):  # it may have been done: the next run sees
                raise
            results |= self._undone(landed, error)
        self.lander.sweep(told)
        return results

    def _undone(self, landed: Mapping[TableItem, Landed], error: CatalogError) -> Results:
        """Of what the metastore refused nothing stays; what cannot be removed is left open for the next run."""
        try:
            self.lander.undo(landed)
        except (StorageError, CatalogError) as left:
            message = f"{error}; what was copied could not be removed, which the next run does: {left}"
            return {item: ItemResult.failed(item, INTERRUPTED, message) for item in landed}
        return {item: ItemResult.failed(item, error.code, str(error)) for item in landed}

    def _cleaned(self, item: TableItem) -> ItemResult[TableItem]:
        try:
            return self.lander.clean(item)
        except (StorageError, CatalogError) as error:
            return ItemResult.failed(item, error.code, str(error))


_STAYS = "not_replaced"
"""The code of data that stay, since what should have replaced them failed."""


def _result(item: TableItem, told: Mapping[str, str] | Landed | Problem) -> ItemResult[TableItem]:
    return ItemResult.failed(item, told.code, told.message) if isinstance(told, Problem) else ItemResult.done(item)
