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
from toolkit.exchange.export_targets import EXPORT
from toolkit.exchange.import_targets import code_of
from toolkit.exchange.rows import NotExchanged, StageRequest, no_rows
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.staging import ExportRecord, Neighbours
from toolkit.printable import on_one_line

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.exchange.export_targets import DatabaseExportItem, DatabaseExportPlan
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.port import Database, Session, Value
    from toolkit.jdbc.staging import StagedLoad

_MOST_SHOWN = 60


@dataclass(frozen=True, kw_only=True)
class ExportBatch:
    """Staging tables of dead runs that are dropped, or the export of an instance; see `Batch`.

    Attributes:
        plan: of the run.
        work: of the run.
        rows: writes rows into the staging table.
        positions: of items of one kind.
    """

    plan: DatabaseExportPlan
    work: RunContext
    rows: Rows
    positions: range

    def apply(self, advance: Callable[[int], None]) -> Applied[DatabaseExportItem]:
        """Drop them; or stage the rows, check them, and merge them in one transaction."""
        items = [self.plan.items[at] for at in self.positions]
        effect = self._exported if self._item.kind == EXPORT else self._dropped

        def checked() -> tuple[str, ...]:
            self.work.guard.check()
            return effect()

        found = attempted(self.work, checked, failures=(FeedctlError,))
        advance(len(items))
        if isinstance(found, FailedAttempt):
            named = found if found.error is None else replace(found, code=code_of(found.error))
            results = tuple(named.of(item) for item in items)
            is_unknown = found.code in UNKNOWN
            return Applied(results=results, open=frozenset(self.positions if is_unknown else ()))
        counters = self.plan.detail.counters
        writes = (copy_counters(counters),) if counters else ()
        return Applied(results=tuple(map(ItemResult.done, items)), writes=writes, notes=found)

    @property
    def _item(self) -> DatabaseExportItem:
        return self.plan.items[self.positions.start]

    @property
    def _database(self) -> Database:
        return self.plan.target.database()

    @property
    def _beside(self) -> Neighbours:
        return Neighbours(dialect=dialect(self._database.access.type), table=self.plan.target.table)

    def _dropped(self) -> tuple[str, ...]:
        for at in self.positions:
            with self._database.transaction() as session:
                self._beside.drop(session, self.plan.items[at].table)
        return ()

    def _exported(self) -> tuple[str, ...]:
        began, plan = time.monotonic(), self.plan
        database, load = self._database, plan.detail.load
        if load is None:
            return ()
        with database.transaction() as session:
            if plan.detail.needs_records:
                self._beside.create_records(session)
            load.create(session)
        with ExitStack() as stack:
            stack.callback(self._drop, load)
            staged = self._staged(load)
            with database.transaction(read_only=True) as session:
                self._check(load, session, staged)
            self._check_files()
            self.work.guard.check()
            merged = self._merged(load, staged)
        counters = {"COPY": self._item.files, "BYTESCOPIED": self._item.bytes, "ROWS": staged, "ROWSWRITTEN": merged}
        plan.detail.counters.update(TIMETAKEN=round((time.monotonic() - began) * 1000), **counters)
        return (f"{staged:,} rows of the instance; {merged:,} rows of {plan.target.table} were written",)

    def _drop(self, load: StagedLoad) -> None:
        """Drop the staging table; where that fails, the next run of the feed does."""
        with suppress(FeedctlError), self._database.transaction() as session:
            self._beside.drop(session, load.staging.parts[-1])

    def _staged(self, load: StagedLoad) -> int:
        """Write the rows of each part, and return how many the files have."""
        target, detail, rows = self.plan.target, self.plan.detail, self.rows
        columns = ExportColumns(target=target, table=load.table, dialect=load.dialect, rows=rows)
        staged = 0
        for part in detail.inputs.parts if detail.inputs else ():
            self.work.guard.check()
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
        target = self.plan.target
        _require_all(load, session, staged)
        if not staged and not target.export.allow_empty:
            raise no_rows(target.entity, "export.allow_empty")
        cut = load.cut_columns(session)
        if cut:
            why = f"the table cannot keep values of {', '.join(cut)} as they are: they have more digits or characters"
            raise NotExchanged(code="value_cut", why=f"{why}; widen the columns, or round the data")
        without = load.count_without_key(session)
        if without:
            why = f"{without:,} rows have no value in {', '.join(load.key)}, which identifies a row; correct the data"
            raise NotExchanged(code="key_missing", why=why)
        duplicates = load.duplicates(session)
        if duplicates:
            examples = "; ".join(f"{_shown(key)}: {_shown([count])} rows" for *key, count in duplicates)
            why = f"several rows of the instance have one key ({', '.join(load.key)}), for example {examples}"
            raise NotExchanged(code="duplicate_keys", why=f"{why}; correct the data, or update_key")
        outside = load.count_outside(session)
        if outside:
            why = f"{outside:,} rows are not of the slice that they would replace; correct load.slice, or the data"
            raise NotExchanged(code="outside_slice", why=why)

    def _check_files(self) -> None:
        """Refuse rows that were read while the instance changed."""
        plan = self.plan
        inputs = plan.detail.inputs
        now = plan.target.files(self.work)
        if inputs is None or now.fingerprint.digest != inputs.fingerprint.digest:
            why = f"{plan.target.entity} {plan.target.instance_key} changed while it was read; run again"
            raise NotExchanged(code="changed", why=why)

    def _merged(self, load: StagedLoad, staged: int) -> int:
        """Merge the rows and record the export in one transaction; return how many rows of the table were written."""
        target, digest = self.plan.target, self._item.digest
        with target.database().transaction() as session:
            if not self._beside.lock(session):
                why = f"another export merges rows into {target.table} for very long; run again"
                raise NotExchanged(code="table_busy", why=why)
            before = self._beside.record(session, target.key, locked=True)
            if before is not None and before.digest == digest:
                return 0  # a run that was taken for dead has committed it since the plan
            _require_all(load, session, staged)  # a task that Spark gave up may have committed its rows meanwhile
            merged = load.merge(session)
            record = ExportRecord(digest=digest, run_id=self.work.run_name, rows=staged)
            self._beside.write_record(session, target.key, record)
        return merged


def _require_all(load: StagedLoad, session: Session, staged: int) -> None:
    """Refuse a staging table that has other rows than the files."""
    found = load.count(session)
    if found != staged:
        why = f"the files have {staged:,} rows, and the staging table has {found:,}; run again"
        raise NotExchanged(code="rows_differ", why=why)


def _shown(key: Sequence[Value]) -> str:
    """Return the values of a key for a message."""
    return ", ".join(on_one_line(str(each))[:_MOST_SHOWN] for each in key)
