"""Registration of imported tables and partitions in a metastore."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolkit.catalog.errors import CatalogAlreadyExists
from toolkit.catalog.model import Partition, Table, without_statistics
from toolkit.catalog.port import BATCH
from toolkit.hive.locations import data_directory
from toolkit.hive.table_definition import COPIED, at_place, carried_statistics, table_differences
from toolkit.hive.targets import TableStep

if TYPE_CHECKING:
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath
    from toolkit.hive.registration_mark import RegistrationMark
    from toolkit.hive.table_context import TableContext
    from toolkit.hive.targets import TableItem


@dataclass(frozen=True, kw_only=True)
class TableRegistration:
    """Registers the tables and partitions of one plan, where their data are.

    Attributes:
        context: of the plan.
        mark: of the run and the table.
        metastore: gets them.
        resolve: the place of a location as the metastore has it.
    """

    context: TableContext
    mark: RegistrationMark
    metastore: Metastore
    resolve: Callable[[str], CanonicalPath]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def table(self, item: TableItem) -> None:
        """Create the table, or change its definition.

        Raises:
            CatalogError: the metastore refuses.
        """
        assert isinstance(item.wanted, Table)  # noqa: S101 - the plan's
        self._table(item.wanted, self._text(item.place), {})

    def publish(self, places: Mapping[TableItem, CanonicalPath]) -> None:
        """Let readers see data: new partitions all at once, and those that change all at once.

        Raises:
            CatalogError: the metastore refuses, or does not answer, so that the outcome is unknown.
            StorageError: the mark cannot be written.
            StopRequested: the run was stopped before.
        """
        set_aside = data_directory(self.context.root, self.context.work.run_name)
        # Recovery removes no data from the place that Hive would choose, so that a late call finds these.
        if any(place.is_within(set_aside) for place in places.values()):
            with self.mark.kept_without_answer():
                self._publish(places, self.mark.write)
        else:
            self._publish(places, lambda: None)

    def _publish(self, places: Mapping[TableItem, CanonicalPath], begin: Callable[[], None]) -> None:
        added: list[Partition] = []
        changed: list[Partition] = []
        for item, place in places.items():
            location = item.location or self._text(place)
            if isinstance(item.wanted, Table):
                begin()
                self._table(item.wanted, location, self._marks(item, self.context.contents.table.parameters))
            elif isinstance(item.wanted, Partition):
                partition = self._partition(item, item.wanted, location)
                (added if item.step is TableStep.ADD else changed).append(partition)
        name = self.context.target.table
        with self._lock:  # Hive 2.3 fails now and then when two calls add partitions of one table at once
            for at in range(0, len(added), BATCH):
                begin()
                self.metastore.add_partitions(name, added[at : at + BATCH])
            for at in range(0, len(changed), BATCH):
                begin()
                self.metastore.alter_partitions(name, changed[at : at + BATCH])

    def _partition(self, item: TableItem, wanted: Partition, location: str) -> Partition:
        assert item.part is not None  # noqa: S101 - the plan's
        assert item.part.partition is not None  # noqa: S101
        was, table_was = item.part.partition, self.context.contents.table.storage.location
        table_is = self._text(self.context.root)
        storage = at_place(wanted.storage, was.storage, location, table_was=table_was, table_is=table_is)
        return replace(wanted, storage=storage, parameters={**wanted.parameters, **self._marks(item, was.parameters)})

    def _marks(self, item: TableItem, parameters: Mapping[str, str]) -> dict[str, str]:
        assert item.part is not None  # noqa: S101 - the plan's
        return {COPIED: item.part.fingerprint, **carried_statistics(parameters, item.part)}

    def _text(self, place: CanonicalPath) -> str:
        """Return a place as the metastore writes it, which has a scheme of its own for an object store."""
        text, root = self.context.plan.detail.root_text.rstrip("/"), self.context.root
        return text if place == root else f"{text}/{place.relative_to(root)}"

    def _table(self, wanted: Table, location: str, marks: Mapping[str, str]) -> None:
        parameters = without_statistics(wanted.parameters) if marks else wanted.parameters
        table = replace(wanted, parameters={**parameters, **marks})
        if not table.kind.is_view:
            was = self.context.contents.table.storage
            storage = at_place(table.storage, was, location, table_was=was.location, table_is=location)
            table = replace(table, storage=storage)
        if self.context.plan.detail.present is not None:
            self.metastore.alter_table(table)
            return
        if not table.kind.is_view:
            # A metastore that makes the directory removes it, with all that is in it, when another program was first.
            self.context.system.mkdirs(self.resolve(location))
        try:
            self.metastore.create_table(table)
        except CatalogAlreadyExists:
            # The run of another instance was first; what it made came from the same source.
            there = self.metastore.table(table.name)
            if not table.keys or there.keys != table.keys or any(table_differences(table, there)):
                raise
