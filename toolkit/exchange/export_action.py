"""Export of instances to tables of databases, as an action of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.action import Action, Recovery, RunContext, left_over
from toolkit.actions.model import Problem, TargetPlan
from toolkit.actions.output_leases import SOURCE_BEING_WRITTEN, output_lease, resource_name, writer_of
from toolkit.errors import FeedctlError
from toolkit.exchange.export_batches import ExportBatch
from toolkit.exchange.export_plan import ExportColumns, stored_format
from toolkit.exchange.export_targets import (
    DROP,
    EXPORT,
    NAME,
    DatabaseExportDetail,
    DatabaseExportItem,
    DatabaseExportPlan,
    DatabaseExportTarget,
)
from toolkit.exchange.import_targets import code_of
from toolkit.exchange.instance_files import InputMissing
from toolkit.exchange.rows import NotExchanged, no_rows
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.staging import RECORDS, Neighbours
from toolkit.ledger.runs.leases import Wanted
from toolkit.ledger.vocabulary import LeaseMode, LifeCycle
from toolkit.runs.errors import Stopped
from toolkit.runs.recorder import path_of

if TYPE_CHECKING:
    from toolkit.exchange.instance_files import InstanceFiles
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.staging import ExportRecord
    from toolkit.ledger.runs.items import Item
    from toolkit.runs.output_use import OutputUse


@dataclass(frozen=True, kw_only=True)
class DatabaseExportAction(Action[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail]):
    """Exports instances to tables; see `Action`.

    Attributes:
        rows: reads files on the stores of a cluster, and writes their rows into staging tables.
        outputs: tells which instances runs read or write now.
        counts_rows: plans have the rows of files with a footer, for a dry run.
    """

    rows: Callable[[str], Rows]
    outputs: OutputUse
    counts_rows: bool = False
    name: str = NAME
    life_cycle: LifeCycle = LifeCycle.EXPORT

    def leases(self, target: DatabaseExportTarget) -> tuple[Wanted, ...]:
        """One run at a time exports an instance to a datasource; while it reads, nothing may write the instance."""
        own = f"db_export/{target.counterpart}/{target.entity}/{target.cluster}/{target.instance_key}"
        read = output_lease(target.entity, target.cluster, target.instance_key, LeaseMode.SHARED)
        return (Wanted(resource=resource_name(own)), read)

    def conditions(self, plan: DatabaseExportPlan, work: RunContext) -> tuple[()]:
        """Return nothing: a hold keeps data, and an export only reads it."""
        del plan, work
        return ()

    def blank_plan(self, target: DatabaseExportTarget) -> DatabaseExportPlan:
        """Return the plan of a target that is not looked at."""
        return TargetPlan(target=target, detail=DatabaseExportDetail())

    def plan(self, target: DatabaseExportTarget, work: RunContext) -> DatabaseExportPlan:
        """Return the plan: staging tables of dead runs that are dropped, and the export unless it was committed."""
        blank = self.blank_plan(target)
        try:
            return self._planned(blank, work)
        except InputMissing as error:
            return replace(blank, waiting=Problem(code=error.code, message=str(error)))
        except Stopped:
            raise
        except FeedctlError as error:
            return replace(blank, failed=Problem(code=code_of(error), message=str(error)))

    def _planned(self, blank: DatabaseExportPlan, work: RunContext) -> DatabaseExportPlan:
        target = blank.target
        files = target.files(work)
        writer = writer_of(target.entity, target.cluster, target.instance_key, work)
        if writer:
            message = f"{target.entity} {target.instance_key} is being written on {target.cluster}: {writer}"
            return replace(blank, waiting=Problem(code=SOURCE_BEING_WRITTEN, message=message))
        database = target.database()
        beside = Neighbours(dialect=dialect(database.access.type), table=target.table)
        with database.transaction(read_only=True) as session:
            table, names = session.describe(target.table), beside.names(session)
            if fault := beside.fault(session, names):
                raise NotExchanged(code="unfit_table", why=fault)
            record = beside.record(session, target.key) if RECORDS in names else None
        drops = tuple(self._drops(target, names, work))
        detail = DatabaseExportDetail(inputs=files, needs_records=RECORDS not in names)
        digest = target.digest(files)
        if record is not None and record.digest == digest:
            return replace(
                blank, items=drops, detail=replace(detail, record=record), notes=(_committed(target, record),)
            )
        if not files.parts and not target.export.allow_empty:
            raise no_rows(target.entity, "export.allow_empty")
        staging = beside.beside(target.key.staging_name(work.run_name))
        columns = ExportColumns(target=target, table=table, dialect=beside.dialect, rows=self.rows(target.cluster))
        load, types = columns.load(files, staging)
        if target.twin:
            why = f"the instance {target.twin} has the same slice, and each would delete the rows of the other"
            raise NotExchanged(code="shared_slice", why=f"{why}; let load.slice tell them apart")
        items = (*drops, _export(target, files, digest))
        detail = replace(detail, columns=types, load=load, expected=self._expected(target, files))
        return replace(blank, items=items, detail=detail, notes=tuple(columns.notes(files)))

    def _expected(self, target: DatabaseExportTarget, files: InstanceFiles) -> int | None:
        if not self.counts_rows:
            return None
        rows = self.rows(target.cluster)
        counts = [rows.count(each.files, stored_format(target, each)) for each in files.parts]
        known = [each for each in counts if each is not None]
        return sum(known) if len(known) == len(counts) else None

    def _drops(
        self, target: DatabaseExportTarget, names: frozenset[str], work: RunContext
    ) -> Iterator[DatabaseExportItem]:
        """Yield the staging tables of dead runs; the live ones hold a lease on the instance that they read."""
        open_now = {each.instance_key for each in self.outputs.held([(target.entity, target.cluster)])}
        for name in target.key.abandoned(names, open_now, work.run_name):
            yield DatabaseExportItem(kind=DROP, uri=target.uri(name), instance_key=target.instance_key, table=name)

    def recover(self, plan: DatabaseExportPlan, open_items: Sequence[Item], work: RunContext) -> Recovery:
        """Settle what dead runs began: the database itself tells whether an export was committed."""
        del work
        if plan.waiting is not None:
            return Recovery()
        planned = {(item.kind, item.uri) for item in plan.items}
        settled = [left_over(each, is_done=(each.kind, path_of(each.path)) not in planned) for each in open_items]
        return Recovery.of(settled, "items")

    def batches(self, plan: DatabaseExportPlan, work: RunContext) -> Sequence[ExportBatch]:
        """Return a batch that drops, if there is anything to drop, and one that exports."""
        rows, drops = self.rows(plan.target.cluster), sum(item.kind == DROP for item in plan.items)
        kinds = (range(drops), range(drops, len(plan.items)))
        return [ExportBatch(plan=plan, work=work, rows=rows, positions=each) for each in kinds if each]


def _export(target: DatabaseExportTarget, files: InstanceFiles, digest: str) -> DatabaseExportItem:
    return DatabaseExportItem(
        kind=EXPORT,
        uri=target.uri(str(target.table)),
        instance_key=target.instance_key,
        table=str(target.table),
        digest=digest,
        files=files.fingerprint.files,
        bytes=files.fingerprint.size,
    )


def _committed(target: DatabaseExportTarget, record: ExportRecord) -> str:
    return f"nothing to do: run {record.run_id} exported the same files to {target.table}, {record.rows:,} rows"
