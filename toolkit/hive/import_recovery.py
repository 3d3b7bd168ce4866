"""Recovery of an import: what dead runs copied and did not register goes, once no late call can register it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.actions.publication import remove_wholly
from toolkit.availability import is_there
from toolkit.hive.batches import Unregistered
from toolkit.hive.locations import UsedLocations, left_data, remove_emptied, remove_staging
from toolkit.hive.registration_mark import RegistrationMark
from toolkit.hive.targets import TableStep

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.hive.table_context import TableContext
    from toolkit.ledger.runs.items import Item


@dataclass(frozen=True, kw_only=True)
class ImportRecovery:
    """Recovery of the unfinished items of one import.

    Attributes:
        context: of the import that recovers them.
        uri: which partitions belong to which instance, by feed.
        used: asks for the locations of all partitions.
    """

    context: TableContext
    uri: Callable[[str], TableUri]
    used: Callable[[], UsedLocations]

    def recovered(self, left: Sequence[Item]) -> Unregistered:
        """Remove data in directories of dead runs that no partition uses; see `Mode.recover`."""
        runs = {item.run_id for item in left}
        # Before the metastore is asked: a call that comes after it must find its data.
        called = {run for run in runs if self._mark(run).may_be_called()}
        used, removed, kept = self.used(), set[int](), set[int]()
        for at, item in enumerate(left):
            data = left_data(item, self.context, self.uri)
            if data is None or not used.is_free(data):
                continue
            is_of_call = item.kind != TableStep.CLEAN and is_there(self.context.system, data)
            if is_of_call and item.run_id in called:
                kept.add(at)
                continue
            removed |= {at} if is_of_call else set()
            self._remove(data)
        for run in runs - {left[at].run_id for at in kept}:
            self._end(run)
        return Unregistered(removed=removed, kept=kept)

    def _remove(self, data: CanonicalPath) -> None:
        remove_wholly(self.context.system, data, self.context.root)
        remove_emptied(self.context.system, data, self.context.root)

    def _end(self, run: int) -> None:
        """Remove the mark and the unfinished copies of a run."""
        contents, name = self.context.plan.detail.contents, self.context.target.table.table
        alone = "" if contents is None or contents.table.keys else name
        self._mark(run).remove()
        remove_staging(self.context.system, self.context.root, str(run), alone)

    def _mark(self, run: int) -> RegistrationMark:
        return RegistrationMark.of(self.context, str(run))
