"""Data of an import that is in place and could not be registered: removed, or staged again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from toolkit.actions.model import INTERRUPTED, ItemResult
from toolkit.actions.publication import remove
from toolkit.catalog.errors import CatalogError, NoSuchTable
from toolkit.errors import StopRequested
from toolkit.hive.locations import UsedLocations, remove_emptied
from toolkit.storage import StorageError

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.hive.batches import Results
    from toolkit.hive.staging import StagedTable
    from toolkit.hive.table_context import Digests, TableContext
    from toolkit.hive.targets import TableItem


class Placed(NamedTuple):
    """Data that are in place, and the digests of their files."""

    place: CanonicalPath
    digests: Digests


class UnregisteredItem(NamedTuple):
    """Data that are in place, and why they are not registered."""

    placed: Placed
    result: ItemResult[TableItem]


@dataclass(frozen=True, kw_only=True)
class UnregisteredData:
    """Removes the copies of an import that the metastore does not use.

    Attributes:
        context: of the plan.
        metastore: is asked again which places it uses.
        resolve: the place of a location as the metastore has it.
        staged: of an instance that is validated; None: it is not.
    """

    context: TableContext
    metastore: Metastore
    resolve: Callable[[str], CanonicalPath]
    staged: StagedTable | None

    def removed(self, refused: Mapping[TableItem, UnregisteredItem]) -> Results:
        """Remove the files that were not registered, and return the results of their items.

        A file that cannot be removed is left to the next run.
        """
        results = {item: each.result for item, each in refused.items()}
        if not refused:
            return results
        try:
            self._remove({item: each.placed for item, each in refused.items()})
        except (StorageError, CatalogError, StopRequested) as left:
            for item, each in results.items():
                message = (
                    f"{each.message or each.code}; what was copied is still there, which the next run sees to: {left}"
                )
                results[item] = ItemResult.failed(item, INTERRUPTED, message)
        return results

    def _remove(self, placed: Mapping[TableItem, Placed]) -> None:
        """Remove copies that the metastore, asked again, does not use; validated ones are staged again."""
        context = self.context
        try:
            table = self.metastore.table(context.target.table)
        except NoSuchTable:
            table = None
        used = UsedLocations.of(self.metastore, table, self.resolve)
        for item, (place, digests) in placed.items():
            if not (item.copies and place.is_within(context.root) and used.is_free(place)):
                continue
            if self.staged is None or not self.staged.take_back(item, place, digests):
                remove(context.system, place, context.root)
            remove_emptied(context.system, place, context.root)
