"""The three ways of a table: to an export, from an export, and from one metastore to another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.actions.action import place_named
from toolkit.actions.model import Problem
from toolkit.actions.validation import QUALITY_UNKNOWN
from toolkit.availability import is_ready
from toolkit.catalog.partition_name import split_name
from toolkit.hive.action import Way
from toolkit.hive.contents import Contents, TableReader, require_plain
from toolkit.hive.copies import PartCopies
from toolkit.hive.exporting import ExportWriter, planned
from toolkit.hive.instances import NamedInstances
from toolkit.hive.landing import Lander
from toolkit.hive.landing_plan import LandingPlanner
from toolkit.hive.layout import parts_of, read_export
from toolkit.hive.source_changes import moved
from toolkit.hive.staging import StagedTable
from toolkit.hive.taken_places import (
    TakenPlaces,
    data_place,
    is_data_place,
    remove_emptied,
    remove_staging,
    remove_wholly,
)
from toolkit.hive.targets import TablePlan, TableStep, TableTarget
from toolkit.hive.waiting import Waiting
from toolkit.hive.workers import ExportWorker, LandingWorker

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.catalog.location_policy import LocationPolicy
    from toolkit.catalog.model import Table
    from toolkit.catalog.port import Metastore
    from toolkit.el import CanonicalPath, TableUri
    from toolkit.ledger.runs.items import Item
    from toolkit.threads import WorkerPool


_WITH_DATA = frozenset({TableStep.ADD, TableStep.REPLACE})


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """A cluster's metastore.

    Attributes:
        metastore: opened for reading.
        bound: the same for one run, with the hook that every change asks.
        policy: which of its texts are used as paths.
    """

    metastore: Metastore
    bound: Callable[[Callable[[], None]], Metastore]
    policy: LocationPolicy

    def place(self, text: str) -> CanonicalPath:
        """Return the path that a location in the metastore names; the policy refuses paths outside the cluster."""
        return self.policy.place(text)

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


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables of a feed on one cluster, read for its instances.

    Attributes:
        catalog: of the cluster.
        uri: which partitions belong to which instance, by feed.
    """

    catalog: Catalog
    uri: Callable[[str], TableUri]
    _named: dict[str, NamedInstances] = field(default_factory=dict, init=False)

    def contents(self, target: TableTarget, work: RunContext) -> Contents:
        """Return the contents of an instance that are copied.

        Raises:
            Waiting: it is not there yet.
            CatalogError, StorageError, ElError: it cannot be read.
        """
        reader, name = self.catalog.reader(work, as_source=True), target.source or target.table
        table = reader.table(name)
        if target.instant is None:
            return reader.contents(table, reader.metastore.partition_names(name))
        names = self._instances(target, table).of(target.instant)
        if not names:
            raise Waiting(instance=target.instance_key, why=f"{name} has no partition of it")
        contents = reader.contents(table, names)
        for part in contents.parts:
            if target.flag and not is_ready(work.stores(part.place), part.place, target.flag):
                raise Waiting(instance=target.instance_key, why=f"its flag {target.flag} is not in {part.place}")
        return contents

    def moved(self, contents: Contents, names: Collection[str], work: RunContext) -> frozenset[str]:
        """Return the partitions that changed at the source since they were listed."""
        return moved(self.catalog.reader(work, as_source=True), contents, names)

    def _instances(self, target: TableTarget, table: Table) -> NamedInstances:
        metastore, name = self.catalog.metastore, table.name
        own = NamedInstances(uri=self.uri(target.feed), names=lambda: metastore.partition_names(name))
        return self._named.setdefault(target.feed, own)  # in one step, for several instances at once


@dataclass(frozen=True, kw_only=True)
class ExportWay(Way):
    """Mode of an export: from a metastore to a directory."""

    tables: Tables

    @override
    def plan(self, blank: TablePlan, work: RunContext) -> TablePlan:
        assert blank.target.directory is not None  # noqa: S101 - of every export
        return planned(blank, self.tables.contents(blank.target, work), blank.target.directory, work)

    @override
    def worker(
        self, plan: TablePlan, work: RunContext, copies: PartCopies, pool: WorkerPool, address: str
    ) -> ExportWorker:
        del pool, address
        changed = partial(_moved, self.tables, plan, work)
        return ExportWorker(writer=ExportWriter(plan=plan, work=work, copies=copies, moved=changed, written={}))

    @override
    def bases(self, plan: TablePlan) -> tuple[CanonicalPath, ...]:
        return (plan.target.directory,) if plan.target.directory is not None else ()

    @override
    def recover(self, plan: TablePlan, left: Sequence[Item], work: RunContext) -> None:
        """Leave everything as it is: an export without its ``_metadata`` is written anew."""
        del plan, left, work


class Source(Protocol):
    """Where a table comes from."""

    @property
    def uri(self) -> Callable[[str], TableUri]:
        """Which partitions belong to which instance, by feed."""
        ...

    def contents(self, target: TableTarget, work: RunContext) -> Contents:
        """Return the contents of an instance, as `Tables.contents` does."""
        ...

    def moved(self, contents: Contents, names: Collection[str], work: RunContext) -> frozenset[str]:
        """Return the partitions that changed at the source since they were listed."""
        ...


def _moved(source: Source, plan: TablePlan, work: RunContext, names: Collection[str]) -> frozenset[str]:
    contents = plan.detail.contents
    return frozenset() if contents is None else source.moved(contents, names, work)


@dataclass(frozen=True, kw_only=True)
class Exports:
    """Exports in directories, as a `Source`."""

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

    def moved(self, contents: Contents, names: Collection[str], work: RunContext) -> frozenset[str]:
        """Return nothing: an export is leased while it is read, and its data is compared with the manifest."""
        del contents, names, work
        return frozenset()


@dataclass(frozen=True, kw_only=True)
class LandingWay(Way):
    """Mode of an import: from an export, or from another metastore.

    Attributes:
        source: where it comes from.
        catalog: where it comes to.
    """

    source: Source
    catalog: Catalog

    @override
    def plan(self, blank: TablePlan, work: RunContext) -> TablePlan:
        contents = self.source.contents(blank.target, work)
        if contents.table.kind.is_view and blank.target.validation is not None:
            message = f"{contents.table.name} is a view, which has no data to be judged; take `quality` from the feed"
            return replace(blank, failed=Problem(code=QUALITY_UNKNOWN, message=message))
        planner = LandingPlanner(
            target=blank.target,
            reader=self.catalog.reader(work),
            work=work,
            location_of=self.catalog.metastore.database_location,
        )
        return planner.planned(blank, contents)

    @override
    def worker(
        self, plan: TablePlan, work: RunContext, copies: PartCopies, pool: WorkerPool, address: str
    ) -> LandingWorker:
        validation = plan.target.validation
        staging = None
        if validation is not None:
            staging = StagedTable(plan=plan, validation=validation, work=work, copies=copies, address=address)
        lander = Lander(
            plan=plan,
            work=work,
            metastore=self.catalog.bound(work.guard.check),
            copies=copies,
            pool=pool,
            resolve=self.catalog.place,
            staging=staging,
        )
        return LandingWorker(lander=lander, moved=partial(_moved, self.source, plan, work))

    @override
    def bases(self, plan: TablePlan) -> tuple[CanonicalPath, ...]:
        """Return the directory of the table, if the table exists."""
        present = plan.detail.present
        location = "" if present is None else present.storage.location
        return (self.catalog.place(location),) if location else ()

    @override
    def recover(self, plan: TablePlan, left: Sequence[Item], work: RunContext) -> None:
        """Remove data in directories of dead runs that no partition uses."""
        root = plan.detail.root
        if root is None:
            return
        system = work.stores(root)
        taken = TakenPlaces.of(self.catalog.metastore, plan.detail.present, self.catalog.place)
        for item in left:
            data = _left_data(item, plan, root, self.source)
            if data is not None and taken.is_free(data):
                remove_wholly(system, data, root)
                remove_emptied(system, data, root)
        contents = plan.detail.contents
        alone = "" if contents is None or contents.table.keys else plan.target.table.table
        for run in {item.run_id for item in left}:
            remove_staging(system, root, str(run), alone)


def _left_data(item: Item, plan: TablePlan, root: CanonicalPath, source: Source) -> CanonicalPath | None:
    """Where data of a dead run's item may lie that are feedctl's own for certain."""
    place, contents = place_named(item), plan.detail.contents
    if place is None or not place.is_within(root):
        return None
    down = place.relative_to(root)
    has_keys = contents is not None and contents.table.keys
    name = plan.target.table.table
    if has_keys:
        name = down.partition("/")[2] if item.kind == TableStep.CLEAN else down
        if not _is_of_instance(name, plan.target, source):
            return None
    if item.kind == TableStep.CLEAN:
        return place if is_data_place(place, root, name) else None
    return data_place(root, str(item.run_id), name) if item.kind in _WITH_DATA else None


def _is_of_instance(name: str, target: TableTarget, source: Source) -> bool:
    """Whether a name is that of a partition which a run of the target writes; one of a whole table writes all."""
    try:
        values = split_name(name)
    except ValueError:
        return False
    return target.instant is None or target.instant in (source.uri(target.feed).period_of(values) or ())
