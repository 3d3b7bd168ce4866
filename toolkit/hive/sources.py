"""Sources of an export or import: tables of a metastore, and exports in directories."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from toolkit.catalog.errors import ForeignLocation, NoSuchTable, UnsupportedTable
from toolkit.catalog.partition_name import split_name
from toolkit.hive.errors import InstanceNotAvailable
from toolkit.hive.export_layout import parts_of, read_export
from toolkit.hive.table_definition import differences, table_differences
from toolkit.hive.table_reader import Contents, TableReader, require_plain

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.catalog.location_policy import LocationPolicy
    from toolkit.catalog.model import Partition, Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import TableUri
    from toolkit.el.periods import PathPeriod
    from toolkit.hive.targets import TableTarget


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Metastore of a cluster.

    Attributes:
        metastore: opened for reading.
        bound: opens it for one run, with the hook that every change asks.
        policy: which of its texts are used as paths.
    """

    metastore: Metastore
    bound: Callable[[Callable[[], None]], Metastore]
    policy: LocationPolicy

    def reader(self, work: RunContext, *, as_source: bool = False) -> TableReader:
        """Return a reader of its tables, which changes nothing."""
        return TableReader(
            metastore=self.metastore,
            policy=self.policy,
            place=self.policy.place_for_reading if as_source else self.policy.place,
            storage=work.stores,
            pool=work.pool,
            check=work.guard.run.check,
        )


class Source(Protocol):
    """Source of tables; safe between threads."""

    @property
    def uri(self) -> Callable[[str], TableUri]:
        """The URI of a feed, which says which partitions belong to which instance."""
        ...

    def contents(self, target: TableTarget, work: RunContext) -> Contents:
        """Return the contents of an instance that are copied.

        Raises:
            InstanceNotAvailable: it is not there yet.
            CatalogError, StorageError, ElError: it cannot be read.
        """
        ...

    def changed(self, contents: Contents, names: Collection[str], work: RunContext) -> frozenset[str]:
        """Return the partitions whose definition, or whose table's, changed since the contents were read.

        Args:
            contents: of the plan.
            names: of the partitions that are asked for.
            work: of the run.

        Raises:
            CatalogError: the metastore cannot tell.
            StorageError: the schema of a table cannot be read.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class MetastoreSource:
    """Tables of feeds on one cluster, as a `Source`."""

    catalog: Catalog
    uri: Callable[[str], TableUri]
    _instances: dict[str, PartitionsByInstance] = field(default_factory=dict, init=False)

    def contents(self, target: TableTarget, work: RunContext) -> Contents:
        """Return the partitions of an instance, each with its availability flag; or all of the table."""
        reader, name = self.catalog.reader(work, as_source=True), target.source or target.table
        table = reader.table(name)
        if target.instant is None:
            return reader.contents(table, reader.metastore.partition_names(name))
        names = self._names(target, table).of(target.instant)
        if not names:
            raise InstanceNotAvailable(instance=target.instance_key, why=f"{name} has no partition of it")
        contents = reader.contents(table, names)
        for part in contents.parts:
            if target.flag and target.flag not in part.tree:
                why = f"its flag {target.flag} is not in {part.place}"
                raise InstanceNotAvailable(instance=target.instance_key, why=why)
        return contents

    def changed(self, contents: Contents, names: Collection[str], work: RunContext) -> frozenset[str]:
        """Compare the definitions only: a copy compares the files itself (ADR 0048)."""
        was, reader = contents.table, self.catalog.reader(work, as_source=True)
        try:
            table = reader.with_schema_inside(reader.table(was.name))
        except (ForeignLocation, NoSuchTable, UnsupportedTable):
            return frozenset(names)
        if (table.kind, table.keys) != (was.kind, was.keys) or any(table_differences(table, was)):
            return frozenset(names)
        if not table.keys:
            return frozenset() if table.location == was.location else frozenset(names)
        now = {table.partition_name(each): each for each in reader.metastore.partitions(was.name, list(names))}
        then = {part.name: part.partition for part in contents.parts}
        return frozenset(name for name in names if not _is_same(now.get(name), then.get(name)))

    def _names(self, target: TableTarget, table: Table) -> PartitionsByInstance:
        metastore, name = self.catalog.metastore, table.name
        own = PartitionsByInstance(uri=self.uri(target.feed), names=lambda: metastore.partition_names(name))
        return self._instances.setdefault(target.feed, own)  # in one step, for several instances at once


def _is_same(now: Partition | None, then: Partition | None) -> bool:
    if now is None or then is None:
        return False
    return now.location == then.location and not any(differences(now.storage, then.storage))


@dataclass(kw_only=True)
class PartitionsByInstance:
    """The partitions of a table by the instances that they belong to; safe between threads.

    Attributes:
        uri: which partitions belong to which instance.
        names: asks for the names of all partitions, once.
    """

    uri: TableUri
    names: Callable[[], Sequence[str]]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _found: list[tuple[datetime, list[tuple[PathPeriod, str]]]] | None = field(default=None, init=False, repr=False)

    def of(self, instant: datetime) -> tuple[str, ...]:
        """Return the names of an instance's partitions, sorted.

        Raises:
            CatalogError: the metastore cannot tell.
        """
        with self._lock:
            if self._found is None:
                self._found = self._by_first()
        at = bisect_right(self._found, instant, key=lambda each: each[0])
        return tuple(sorted(name for period, name in self._found[at - 1][1] if instant in period)) if at else ()

    def _by_first(self) -> list[tuple[datetime, list[tuple[PathPeriod, str]]]]:
        """Return the partitions by first instant; names that do not conform belong to no instance."""
        found: dict[datetime, list[tuple[PathPeriod, str]]] = {}
        for name in self.names():
            period = self.uri.period_of(split_name(name))
            if period is not None:
                found.setdefault(period.first, []).append((period, name))
        return sorted(found.items(), key=lambda each: each[0])


@dataclass(frozen=True, kw_only=True)
class ExportSource:
    """Exports in directories, by feedctl or by Hive, as a `Source`."""

    uri: Callable[[str], TableUri]

    def contents(self, target: TableTarget, work: RunContext) -> Contents:
        """Return the contents of the export in the target's directory."""
        assert target.directory is not None  # noqa: S101 - of every import
        system, check = work.stores(target.directory), work.guard.run.check
        export = read_export(system, target.directory)
        require_plain(export.table)
        names = [""] if not export.table.keys else sorted(export.partitions)
        if export.table.kind.is_view:
            return Contents(table=export.table)
        if target.instant is not None:
            uri = self.uri(target.feed)
            names = [name for name in names if target.instant in (uri.period_of(split_name(name)) or ())]
        pool = work.pool(target.directory)
        return Contents(table=export.table, parts=parts_of(export, names, system, pool, check))

    def changed(self, contents: Contents, names: Collection[str], work: RunContext) -> frozenset[str]:
        """Return nothing: an export is leased while it is read, and its data is compared with the manifest."""
        del contents, names, work
        return frozenset()
