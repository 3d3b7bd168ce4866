"""Batches of an export: staging tables that are dropped, and the export of an instance."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, copy_counters
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.model import ItemResult
from toolkit.errors import FeedctlError
from toolkit.exchange.export_plan import ExportColumns, stored_format
from toolkit.exchange.export_targets import ExportRefused, no_rows
from toolkit.exchange.import_targets import code_of
from toolkit.exchange.rows import StageRequest
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.staging import ExportRecord, Neighbours
from toolkit.printable import on_one_line

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.exchange.export_targets import DatabaseExportItem, DatabaseExportPlan
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.port import Session, Value
    from toolkit.jdbc.staging import StagedLoad

_MOST_SHOWN = 60


@dataclass(frozen=True, kw_only=True)
class ExportWork:
    """Work of the run of one target.

    Attributes:
        plan: of the run.
        work: of the run.
        rows: writes rows into the staging table.
    """

    plan: DatabaseExportPlan
    work: RunContext
    rows: Rows

    @property
    def beside(self) -> Neighbours:
        """Tables of feedctl beside the table."""
        target = self.plan.target
        return Neighbours(dialect=dialect(target.database().access.type), table=target.table)

    def applied(
        self,
        positions: range,
        effect: Callable[[], tuple[str, ...]],
        advance: Callable[[int], None],
    ) -> Applied[DatabaseExportItem]:
        """Do an effect that returns notes; what stands against it becomes the result of all items."""

        def checked() -> tuple[str, ...]:
            self.work.guard.check()
            return effect()

        items = [self.plan.items[at] for at in positions]
        found = attempted(self.work, checked, failures=(FeedctlError,))
        advance(len(items))
        if isinstance(found, FailedAttempt):
            named = found if found.error is None else replace(found, code=code_of(found.error))
            results = tuple(named.of(item) for item in items)
            is_unknown = found.code in UNKNOWN
            return Applied(results=results, open=frozenset(positions if is_unknown else ()))
        counters = self.plan.detail.counters
        writes = (copy_counters(counters),) if counters else ()
        return Applied(results=tuple(map(ItemResult.done, items)), writes=writes, notes=found)


@dataclass(frozen=True, kw_only=True)
class DropBatch:
    """Staging tables of dead runs; see `Batch`."""

    run: ExportWork
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[DatabaseExportItem]:
        """Drop them."""
        return self.run.applied(self.positions, self._dropped, advance)

    def _dropped(self) -> tuple[str, ...]:
        for at in self.positions:
            with self.run.plan.target.database().transaction() as session:
                self.run.beside.drop(session, self.run.plan.items[at].table)
        return ()


@dataclass(frozen=True, kw_only=True)
class ExportBatch:
    """Export of an instance; see `Batch`."""

    run: ExportWork
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[DatabaseExportItem]:
        """Stage the rows, check them, and merge them in one transaction."""
        return self.run.applied(self.positions, self._exported, advance)

    def _exported(self) -> tuple[str, ...]:
        began, plan = time.monotonic(), self.run.plan
        database, load = plan.target.database(), plan.detail.load
        if load is None:
            return ()
        with database.transaction() as session:
            if plan.detail.needs_records:
                self.run.beside.create_records(session)
            load.create(session)
        with ExitStack() as stack:
            stack.callback(self._drop, load)
            staged = self._staged(load)
            with database.transaction(read_only=True) as session:
                self._check(load, session, staged)
            self._check_files()
            self.run.work.guard.check()
            merged = self._merged(load, staged)
        counters = {"COPY": self._item.files, "BYTESCOPIED": self._item.bytes, "ROWS": staged, "ROWSWRITTEN": merged}
        plan.detail.counters.update(TIMETAKEN=round((time.monotonic() - began) * 1000), **counters)
        return (f"{staged:,} rows of the instance; {merged:,} rows of {plan.target.table} were written",)

    @property
    def _item(self) -> DatabaseExportItem:
        return self.run.plan.items[self.positions.start]

    def _drop(self, load: StagedLoad) -> None:
        """Drop the staging table; where that fails, the next run of the feed does."""
        with suppress(FeedctlError), self.run.plan.target.database().transaction() as session:
            self.run.beside.drop(session, load.staging.parts[-1])

    def _staged(self, load: StagedLoad) -> int:
        """Write the rows of each part, and return how many the files have."""
        target, detail, rows = self.run.plan.target, self.run.plan.detail, self.run.rows
        columns = ExportColumns(target=target, table=load.table, dialect=load.dialect, rows=rows)
        staged = 0
        for part in detail.inputs.parts if detail.inputs else ():
            self.run.work.guard.check()
            stored = stored_format(target, part)
            own = rows.columns(part.files, stored)
            constants = columns.constants(part, own)
            staged += rows.stage(
                StageRequest(
                    access=target.database().access,
                    table=load.staging,
                    files=part.files,
                    stored=stored,
                    columns={name: detail.columns[name] for name in (*own, *constants)},
                    constants=constants,
                    connections=target.export.connections,
                )
            )
        return staged

    def _check(self, load: StagedLoad, session: Session, staged: int) -> None:
        target = self.run.plan.target
        found = load.count(session)
        if found != staged:
            why = f"the files have {staged:,} rows, and the staging table has {found:,}; run again"
            raise ExportRefused(code="rows_differ", why=why)
        if not staged and not target.export.allow_empty:
            raise no_rows(target)
        cut = load.cut_columns(session)
        if cut:
            why = f"the table cannot keep values of {', '.join(cut)} as they are: they have more digits or characters"
            raise ExportRefused(code="value_cut", why=f"{why}; widen the columns, or round the data")
        without = load.count_without_key(session)
        if without:
            why = f"{without:,} rows have no value in {', '.join(load.key)}, which identifies a row; correct the data"
            raise ExportRefused(code="key_missing", why=why)
        duplicates = load.duplicates(session)
        if duplicates:
            examples = "; ".join(f"{_shown(key)}: {_shown([count])} rows" for *key, count in duplicates)
            why = f"several rows of the instance have one key ({', '.join(load.key)}), for example {examples}"
            raise ExportRefused(code="duplicate_keys", why=f"{why}; correct the data, or update_key")
        outside = load.count_outside(session)
        if outside:
            why = f"{outside:,} rows are not of the slice that they would replace; correct load.slice, or the data"
            raise ExportRefused(code="outside_slice", why=why)

    def _check_files(self) -> None:
        """Refuse rows that were read while the instance changed."""
        plan = self.run.plan
        inputs = plan.detail.inputs
        now = plan.target.files(self.run.work)
        if inputs is None or now.fingerprint.digest != inputs.fingerprint.digest:
            why = f"{plan.target.entity} {plan.target.instance_key} changed while it was read; run again"
            raise ExportRefused(code="changed", why=why)

    def _merged(self, load: StagedLoad, staged: int) -> int:
        """Merge the rows and record the export in one transaction; return how many rows of the table were written."""
        target, digest = self.run.plan.target, self._item.digest
        with target.database().transaction() as session:
            if not self.run.beside.lock(session):
                why = f"another export merges rows into {target.table} for very long; run again"
                raise ExportRefused(code="table_busy", why=why)
            before = self.run.beside.record(session, target.key, locked=True)
            if before is not None and before.digest == digest:
                return 0  # a run that was taken for dead has committed it since the plan
            merged = load.merge(session)
            record = ExportRecord(digest=digest, run_id=self.run.work.run_name, rows=staged)
            self.run.beside.write_record(session, target.key, record)
        return merged


def _shown(key: Sequence[Value]) -> str:
    """Return the values of a key for a message."""
    return ", ".join(on_one_line(str(each))[:_MOST_SHOWN] for each in key)
