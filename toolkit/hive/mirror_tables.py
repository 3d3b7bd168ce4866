"""Mirror of the tables of databases: each table is replicated whole, and what the source lost is dropped (ADR 0106)."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import override

from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.guard import HELD, CalledOff
from toolkit.actions.model import Problem, SkipReason
from toolkit.catalog.errors import CatalogError, NoSuchTable, UnsupportedTable
from toolkit.catalog.model import TableName
from toolkit.el import ElError
from toolkit.hive.action import TableAction
from toolkit.hive.mirror_drops import TableDrop, TableDropper
from toolkit.hive.mirror_recovery import EarlierRuns, unregistered_items
from toolkit.hive.sources import MetastoreSource
from toolkit.hive.table_context import TableContext
from toolkit.hive.table_import import TableImport
from toolkit.hive.targets import REPLICATION, ImportRules, TableDetail, TablePlan, TableStep, TableTarget
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.mirror.diff import MirrorChange, MirrorDiff
from toolkit.result import Outcome
from toolkit.storage import StorageError
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import RunContext
    from toolkit.el import TableUri
    from toolkit.hive.sources import Catalog

_Thing = TypeVar("_Thing")
_NAME = re.compile(r"\w[\w $-]*")
_FAILURES = (CatalogError, StorageError, ElError)
_ACTIONS = {TableStep.ADD: "copy", TableStep.REPLACE: "replace", TableStep.CLEAN: "remove"}


@dataclass(frozen=True, kw_only=True)
class TableChange:
    """Changes of one table.

    Attributes:
        name: on both sides.
        plan: of its replication; None: the source does not have it.
        drop: what goes at the target; None: nothing does.
        problem: why nothing, or not all, of it is done.
    """

    name: TableName
    plan: TablePlan | None = None
    drop: TableDrop | None = None
    problem: Problem | None = None


@dataclass(frozen=True, kw_only=True)
class DatabaseChanges(MirrorDiff):
    """Changes of all tables that a mirror compared.

    Attributes:
        tables: each of them, in order of the names.
        notes: for the user.
    """

    tables: Sequence[TableChange]
    notes: tuple[str, ...] = ()

    @property
    def drops(self) -> Sequence[TableDrop]:
        """The drops."""
        return [each.drop for each in self.tables if each.drop is not None and each.drop.places]

    @property
    @override
    def facts(self) -> Mapping[str, object]:
        return {}

    @property
    @override
    def basis(self) -> str:
        size = sum(each.plan.volume.bytes for each in self.tables if each.plan is not None)
        return f"in {len(self.tables):,} tables that were compared, {size:,} bytes to copy"

    @override
    def changes(self) -> Iterator[MirrorChange]:
        for each in self.tables:
            for item in each.plan.items if each.plan is not None else ():
                action = _ACTIONS.get(item.step, "attributes")
                size = item.bytes if item.copies else None
                yield MirrorChange(action, f"{each.name}{f'/{item.name}' if item.name else ''}", bytes=size)
            for name in sorted(each.drop.places) if each.drop is not None else ():
                yield MirrorChange("remove", f"{each.name}{f'/{name}' if name else ''}")
            if each.drop is not None and each.drop.is_whole and "" not in each.drop.places:
                yield MirrorChange("remove", str(each.name))


@dataclass(frozen=True, kw_only=True)
class MirrorOutcome:
    """Outcome of a run.

    Attributes:
        counters: ``COPY`` (files), ``BYTESCOPIED`` and ``DELETES`` (partitions, and tables without them).
        failed: why a table is not, or not all, as the source has it.
        called_off: what ended the run before all tables were done; None: nothing.
    """

    counters: Counter[str]
    failed: Mapping[TableName, Problem]
    called_off: CalledOff | None = None


@dataclass(frozen=True, kw_only=True)
class TableMirror:
    """Mirrors tables between two metastores in one run.

    Attributes:
        name: of the mirror.
        clusters: of the source and the target.
        nominal: the time of the run.
        instance_key: the same as a key.
        source: the metastore that is copied from.
        target: the metastore that is copied to, whose tables are under leases of the run.
        rules: of the imports.
        drops: what the source lost is dropped.
        at_once: so many tables at once.
        work: of the run.
        earlier: runs of this mirror, whose copies are removed if they died.
    """

    name: str
    clusters: tuple[str, str]
    nominal: datetime
    instance_key: str
    source: Catalog
    target: Catalog
    rules: ImportRules
    drops: bool
    at_once: int
    work: RunContext
    earlier: EarlierRuns = field(default_factory=EarlierRuns)
    _alone: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def names(self, databases: Sequence[str], tables: Sequence[str]) -> tuple[set[TableName], set[TableName]]:
        """Return the tables of the mirror that the source has, and those that the target has.

        Raises:
            CatalogError: a metastore does not answer, or has no such database.
        """
        wanted = {each.lower() for each in tables}

        def found(catalog: Catalog) -> set[TableName]:
            pairs = [(each.lower(), catalog.metastore.tables(each.lower())) for each in databases]
            named = {TableName(database, table) for database, names in pairs for table in names}
            return {each for each in named if not wanted or each.table in wanted}

        here, there = found(self.source), found(self.target)
        for database in databases:
            for table in wanted or ():
                name = TableName(database, table)
                if name not in here | there:
                    raise NoSuchTable(about=str(name), detail="it is in `source_tables`")
        return here, there

    def planned(self, here: Collection[TableName], lost: Collection[TableName]) -> DatabaseChanges:
        """Compare tables, and return what is to be done; what fails of one table stops no other.

        Args:
            here: tables that the source has.
            lost: tables that only the target has.
        """
        found: dict[TableName, TableChange] = {}

        def plan(name: TableName) -> None:
            self.work.guard.run.check()
            try:
                found[name] = self._lost(name) if name in lost else self._planned(name)
            except _FAILURES as error:
                found[name] = TableChange(name=name, problem=problem_of(error))

        self._each(plan, sorted({*here, *lost}))
        tables = [found[name] for name in sorted(found)]
        stays = [each.drop.stays for each in tables if each.drop is not None and each.drop.stays]
        notes = [note for each in tables if each.plan is not None for note in each.plan.notes]
        return DatabaseChanges(tables=tables, notes=(*stays, *notes))

    def _lost(self, name: TableName) -> TableChange:
        return TableChange(name=name, drop=self._dropper.table(name) if self.drops else None)

    def _planned(self, name: TableName) -> TableChange:
        if not _NAME.fullmatch(name.table):  # the source's owners choose it, and it becomes a directory at the target
            detail = "feedctl makes no directory of this name; rename the table"
            raise UnsupportedTable(about=str(name), detail=detail)
        plan = self._action.plan(self._target(name), self.work)
        why = plan.failed or plan.waiting
        if why is not None:
            return TableChange(name=name, problem=why)
        first = next(iter(plan.unreadable), None)
        problem = None if first is None else Problem(code=first.code, message=first.message)
        is_there = plan.detail.present is not None
        drop = self._dropper.partitions(name) if self.drops and is_there and problem is None else None
        if not plan.items and not self.earlier.dead:
            plan = replace(plan, detail=TableDetail())  # listings of all tables may be large
        return TableChange(name=name, plan=plan, drop=drop, problem=problem)

    @cached_property
    def _dropper(self) -> TableDropper:
        return TableDropper(source=self.source, target=self.target, work=self.work)

    @cached_property
    def _action(self) -> TableAction:
        """The action of `hive_replication`: a mirror does for each table what that does."""
        return TableAction(
            name=REPLICATION,
            life_cycle=LifeCycle.REPLICATION,
            mode_of=self._mode,
            nominal=self.nominal,
            limits=CopyLimits(instances=1),
            address=lambda target: f"catalog:{target.table.database}:{target.table.table}",
        )

    def _mode(self, context: TableContext) -> TableImport:
        source = MetastoreSource(catalog=self.source, uri=_no_uri)
        return TableImport(source=source, catalog=self.target, context=context)

    def _target(self, name: TableName) -> TableTarget:
        source, target = self.clusters
        return TableTarget(
            feed=self.name,
            cluster=target,
            counterpart=source,
            instance_key=self.instance_key,
            instant=None,
            table=name,
            source=name,
            rules=self.rules,
        )

    def apply(self, changes: DatabaseChanges) -> MirrorOutcome:
        """Apply a plan.

        Raises:
            Stopped: the run must not go on.
        """
        failed = {each.name: each.problem for each in changes.tables if each.problem is not None}
        dropped: dict[TableName, int] = {}
        called_off: list[CalledOff] = []  # appending is atomic

        def apply(each: TableChange) -> None:
            self.work.guard.check()
            if called_off:
                return
            try:
                problem = self._replicated(each.plan) if each.plan is not None else None
                if problem is None and each.drop is not None:
                    dropped[each.name] = self._dropper.apply(each.drop)
            except CalledOff as error:
                called_off.append(error)
                return
            except _FAILURES as error:
                problem = problem_of(error)
            if problem is not None:
                failed[each.name] = problem

        self._each(apply, [each for each in changes.tables if each.plan is not None or each.drop is not None])
        counted = Counter[str](DELETES=sum(dropped.values()))
        for each in changes.tables:
            if each.plan is not None:
                counted.update({name: each.plan.detail.counters[name] for name in ("COPY", "BYTESCOPIED")})
        return MirrorOutcome(counters=counted, failed=failed, called_off=called_off[0] if called_off else None)

    def _replicated(self, plan: TablePlan) -> Problem | None:
        """Replicate a table, and remove what dead runs left; return the first failure."""
        contents = plan.detail.contents
        # Tables without partitions are copied in one directory, which none may remove while another begins.
        is_alone = contents is not None and not contents.table.keys
        with self._alone if is_alone else nullcontext():
            self._recover(plan)
            batches = self._action.batches(plan, self.work)
            results = [each for batch in batches for each in batch.apply(lambda _: None).results]
        if self.work.guard.stopped is not None:
            raise self.work.guard.stopped
        if any(each.code == SkipReason.HELD for each in results):
            raise CalledOff(refusal=HELD)
        failures = [each for each in results if each.outcome is Outcome.FAILED]
        return Problem(code=failures[0].code, message=failures[0].message) if failures else None

    def _recover(self, plan: TablePlan) -> None:
        if plan.detail.root is None or not self.earlier.dead:
            return
        context = TableContext(plan=plan, work=self.work, address="")
        items = unregistered_items(context, self.earlier)
        if items:
            self._mode(context).recover(items)

    def _each(self, work: Callable[[_Thing], None], things: Sequence[_Thing]) -> None:
        pool = WorkerPool(self.at_once, "feedctl-tables")
        try:
            pool.run_all(work, things)
        finally:
            pool.shutdown()


def _no_uri(feed: str) -> TableUri:
    message = f"{feed} has no instances"
    raise AssertionError(message)


def problem_of(error: CatalogError | StorageError | ElError) -> Problem:
    """Return the problem that an error is."""
    return Problem(code=getattr(error, "code", "bad_location"), message=str(error))


def is_refusal(problem: Problem) -> bool:
    """Return whether a table is refused for what it is, so that another run refuses it again."""
    return problem.code == UnsupportedTable.code
