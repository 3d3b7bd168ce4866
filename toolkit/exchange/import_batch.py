"""Import of one instance: read in one snapshot, written beside its place, verified, and only then visible."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.actions.action import Applied, copy_counters, feed_event
from toolkit.actions.attempt import UNKNOWN, FailedAttempt, attempted
from toolkit.actions.guard import CalledOff
from toolkit.actions.model import ItemResult
from toolkit.actions.staged_unit import StagedUnit
from toolkit.actions.staging import InstanceStaging
from toolkit.actions.validation import QualityFailed
from toolkit.availability import is_there
from toolkit.availability.hidden import is_hidden
from toolkit.catalog.errors import CatalogError
from toolkit.entities.vocabulary import ImportVerification
from toolkit.errors import InvalidInput, StopRequested
from toolkit.exchange.import_planner import PREVIOUS_MISSING, SCHEMA_CHANGED
from toolkit.exchange.import_targets import DATABASE_ERRORS, RECORD_FILE, ImportRecord, code_of
from toolkit.exchange.instance_files import spark_uri
from toolkit.exchange.rows import (
    Merge,
    NotExchanged,
    ReadRequest,
    RowsFailed,
    StoredFormat,
    WrittenRows,
    no_rows,
)
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.types import map_columns
from toolkit.ledger import exchange_marks
from toolkit.ledger.batches.files import enqueue_instance
from toolkit.ledger.batches.rows import FeedInstance
from toolkit.ledger.exchange_marks import ImportMark
from toolkit.ledger.vocabulary import EventKind
from toolkit.storage import StorageError
from toolkit.transfer.trees import below, read_tree

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.exchange.import_place import ImportPlaces
    from toolkit.exchange.import_targets import ImportItem, ImportPlace, ImportPlan
    from toolkit.exchange.rows import Rows
    from toolkit.jdbc.port import Database, DatabaseSnapshot
    from toolkit.ledger.database import Transaction
    from toolkit.runs.recorder import LedgerWrite
    from toolkit.transfer.trees import Tree

ROWS_DIFFER, VALUES_CHANGE = "rows_differ", "values_change"
"""Codes of instances whose rows are not those of the table, or could not be kept exactly."""
PARTITION_DROPPED = "partition_dropped"
"""Code of an instance whose data went with its partition while it was published."""


@dataclass(frozen=True, kw_only=True)
class ImportBatch:
    """Import of the one item of a plan; see `Batch`.

    Attributes:
        plan: of the instance.
        work: of the run.
        database: that is read.
        rows: moves the rows.
        places: of the feed.
        address: of the instance, as consumers know it.
    """

    plan: ImportPlan
    work: RunContext
    database: Database
    rows: Rows
    places: ImportPlaces
    address: str
    positions: range = range(1)

    @property
    def _item(self) -> ImportItem:
        return self.plan.items[0]

    @cached_property
    def _place(self) -> ImportPlace:
        assert self.plan.detail.place is not None  # noqa: S101 - a plan with items has one
        return self.plan.detail.place

    @property
    def _stored(self) -> StoredFormat:
        return StoredFormat.of(self._place.format, self.plan.target.settings.null_string)

    @cached_property
    def _unit(self) -> StagedUnit:
        top = None if self._place.table is None else self._place.base
        return StagedUnit(work=self.work, unit=self._place.unit, base=self._place.base, top=top)

    @cached_property
    def _staging(self) -> InstanceStaging | None:
        target = self.plan.target
        if target.validation is None:
            return None
        return InstanceStaging(
            validation=target.validation, instance_key=target.instance_key, base=self._place.base, work=self.work
        )

    def apply(self, advance: Callable[[int], None]) -> Applied[ImportItem]:
        """Import and publish."""
        refusal = self.work.guard.refusal(self._place.base, must_look=True)
        if refusal is not None:
            return Applied(results=(refusal.of(self._item),))
        began = time.monotonic()
        found = attempted(self.work, self._imported, failures=(NotExchanged, StorageError, CatalogError, QualityFailed))
        advance(1)
        if isinstance(found, FailedAttempt):
            is_unknown = found.code in UNKNOWN
            return Applied(results=(found.of(self._item),), open=frozenset(self.positions if is_unknown else ()))
        record, notes = found
        counters = self.plan.detail.counters
        taken = round((time.monotonic() - began) * 1000)
        counters.update(ROWS=record.rows, BYTESCOPIED=record.size, TIMETAKEN=taken)
        kind = EventKind.UPDATED if self.plan.detail.is_there else EventKind.AVAILABLE
        return Applied(
            results=(ItemResult.done(self._item),),
            events=(feed_event(kind, self.plan.target, self.address),),
            writes=(self._marked(record), copy_counters(counters)),
            notes=notes,
        )

    def _marked(self, record: ImportRecord) -> LedgerWrite:
        """Return the write of the instance's mark, and of a batch for the steps that read the feed."""
        target = self.plan.target
        mark = ImportMark(
            instance_key=target.instance_key,
            low=record.low,
            high=record.high,
            snapshot=record.snapshot,
            rows=record.rows,
        )
        instance = FeedInstance(
            feed=target.entity, cluster=target.cluster, instance_key=target.instance_key, uri=self.address
        )

        def write(tx: Transaction, run_id: int) -> None:
            exchange_marks.record(tx, run_id, target.subject, mark)
            enqueue_instance(tx, instance, record.size, str(self._place.unit))

        return write

    def _imported(self) -> tuple[ImportRecord, tuple[str, ...]]:
        """Read, verify and publish the instance.

        Raises:
            NotExchanged, StorageError, CatalogError, QualityFailed: it failed; readers see what they saw before.
            StopRequested: the run was stopped, or called off, before anything was visible.
        """
        notes: tuple[str, ...] = ()
        released = self._released()
        with ExitStack() as unless_staged:
            if released is None:
                self._unit.clear()
                self._unit.system.mkdirs(self._unit.place)
                unless_staged.callback(self._forget)
                record = self._read()
                self._unit.system.write(self._unit.place.child(RECORD_FILE), [record.text()])
                if self._staging is not None:
                    unless_staged.pop_all()  # blocked data stays for a person's decision
                    notes = tuple(self._staging.validate_unit(self._unit.unit, self._unit.place))
            else:
                record = released
            self._require_alone(record)
            flag = self.plan.target.feed.availability_flag or ""
            if flag:
                self._unit.system.write(self._unit.place.child(flag), ())
            refusal = self.work.guard.refusal(self._place.base, must_look=True)  # reading may have taken hours
            if refusal is not None:
                raise CalledOff(refusal=refusal)
            self._unit.publish(flag)
            unless_staged.pop_all()
        self.places.register(self._place, self.plan.target.partition, self.work.guard.check)
        if self._place.table is not None and not is_there(self._unit.system, self._unit.unit):
            why = f"{self._unit.unit} went with a partition that was dropped while this run published it; run it again"
            raise NotExchanged(code=PARTITION_DROPPED, why=why)
        return record, notes

    def _require_alone(self, record: ImportRecord) -> None:
        """Refuse staged files that were not counted: a run that was taken for dead may write them until now."""
        size = sum(each.size for each in self._tree(self._unit.place).values())
        if record.size not in {0, size}:  # old records have no size
            why = f"{self._unit.place} has {size} bytes, and {record.size} were counted: another run writes there too"
            raise NotExchanged(code=ROWS_DIFFER, why=f"{why}; run again")

    def _released(self) -> ImportRecord | None:
        """Return the record of staged data that was validated before, and may be published by now."""
        if self._staging is None or not is_there(self._unit.system, self._unit.place):
            return None
        if not self._staging.may_publish(self._unit.unit):
            return None
        found = ImportRecord.read(self._unit.system, self._unit.place)
        if found is None or found.form not in {"", str(self._stored)}:
            return None
        return found if (found.low, dict(found.columns)) == (self._item.low, dict(self._item.columns)) else None

    def _forget(self) -> None:
        """Remove the staged data of an import that failed; what stays goes with the next run."""
        with suppress(StorageError, StopRequested):
            self._unit.clear()

    def _read(self) -> ImportRecord:
        item = self._item
        try:
            with self.database.snapshot() as snapshot:
                expected = self._expected(snapshot)
                written = self._written(snapshot)
                name = snapshot.id
        except (*DATABASE_ERRORS, RowsFailed, InvalidInput) as error:
            raise NotExchanged(code=code_of(error), why=str(error)) from error
        if item.previous is None and expected is not None and written.rows != expected:
            why = f"{written.rows} rows were written, and the snapshot has {expected}"
            raise NotExchanged(code=ROWS_DIFFER, why=f"{why}; run it again")
        if written.rows == 0 and not self.plan.target.settings.allow_empty:
            raise no_rows(str(item.rows.table), "allow_empty")
        self.plan.detail.counters.update(COPY=written.files)
        return ImportRecord(
            columns=item.columns,
            low=item.low,
            high=item.high,
            snapshot=name,
            rows=written.rows,
            size=written.bytes,
            run=self.work.run_name,
            form=str(self._stored),
        )

    def _expected(self, snapshot: DatabaseSnapshot) -> int | None:
        """Compare the table with the plan, look for values that would change, and return the number of rows.

        None: nothing compares the number, or the rows are read at another moment.
        """
        item, settings = self._item, self.plan.target.settings
        described = snapshot.describe(item.rows.table)
        chosen = [each for each in described.columns if each.name in item.columns]
        kind = dialect(self.database.access.type)
        mapped = map_columns(kind, str(described.name), chosen, settings.columns)
        if {each.name: each.spark for each in mapped} != dict(item.columns):
            raise NotExchanged(
                code=SCHEMA_CHANGED, why=f"the table {described.name} changed since the plan; run it again"
            )
        is_compared = settings.verify is ImportVerification.COUNT and snapshot.init_statement is not None
        if not is_compared and not item.checks:
            return None
        expected, *counts = snapshot.count(item.rows, *item.checks.values())
        changed = [f"{name} in {count} rows" for name, count in zip(item.checks, counts, strict=True) if count]
        if changed:
            why = f"values of {described.name} cannot be kept exactly: {', '.join(changed)}; give these columns a type"
            raise NotExchanged(code=VALUES_CHANGE, why=f'{why} by columns, for example "string", or exclude them')
        return expected if is_compared else None

    def _written(self, snapshot: DatabaseSnapshot) -> WrittenRows:
        item, settings = self._item, self.plan.target.settings
        extract, merge, before = settings.source.extract, None, self._previous_files()
        if extract.is_merge:  # also without an instance before: the merge_key has to tell the rows of the first one
            assert extract.delta_column is not None  # noqa: S101 - lint has seen to it
            previous = () if item.previous is None else _uris(item.previous, before)
            parts = max(1, settings.connections)
            is_one_moment = snapshot.init_statement is not None or not self.plan.detail.splits
            merge = Merge(
                previous=previous,
                key=extract.merge_key,
                order=extract.delta_column,
                parts=parts,
                is_unique=item.previous is None and is_one_moment and settings.verify is ImportVerification.COUNT,
            )
        written = self.rows.read(
            ReadRequest(
                access=self.database.access,
                init_statement=snapshot.init_statement,
                selects=self._selects(snapshot),
                columns=item.columns,
                fetch_size=settings.fetched_rows,
                stored=self._stored,
                target=spark_uri(self._unit.place),
                merge=merge,
            )
        )
        if item.previous is not None and self._tree(item.previous) != before:
            why = f"the instance at {item.previous}, which was merged, changed meanwhile; run it again"
            raise NotExchanged(code=ROWS_DIFFER, why=why)
        return written

    def _selects(self, snapshot: DatabaseSnapshot) -> tuple[str, ...]:
        text, word = snapshot.select_text(self._item.rows), "AND" if self._item.rows.ranges else "WHERE"
        return tuple(f"{text} {word} {each}" for each in self.plan.detail.splits) or (text,)

    def _previous_files(self) -> Tree:
        """Return the files of the instance that new rows are merged with, if they are.

        Raises:
            NotExchanged: it, or one of its files, went, so that rows which did not change would be lost; or it would be
                read as what it was not written as.
        """
        place = self._item.previous
        if place is None:
            return {}
        found, record = self._tree(place), ImportRecord.read(self.work.stores(place), place)
        if record is None or (record.rows and not found):
            why = f"the instance at {place}, with which new rows are merged, went meanwhile; import all rows by --whole"
            raise NotExchanged(code=PREVIOUS_MISSING, why=why)
        if record.form not in {"", str(self._stored)}:
            why = f"the instance at {place}, with which new rows are merged, is {record.form}, and the feed is now"
            raise NotExchanged(code=SCHEMA_CHANGED, why=f"{why} {self._stored}; import all rows by --whole")
        if not self._is_whole(place, found, record):
            why = f"the files of the instance at {place}, with which new rows are merged, are not those of its import"
            raise NotExchanged(code=ROWS_DIFFER, why=f"{why} of {record.rows} rows; import all rows by --whole")
        return found

    def _is_whole(self, place: CanonicalPath, found: Tree, record: ImportRecord) -> bool:
        """Return whether files have the rows of an import; of other sizes they may, if somebody has compacted them."""
        if sum(each.size for each in found.values()) == record.size:
            return True
        counted = self.rows.count(_uris(place, found), self._stored)
        return not record.size if counted is None else counted == record.rows  # old records have no size

    def _tree(self, place: CanonicalPath) -> Tree:
        """Return the files with rows; the flag of a feed may have a name that is not hidden."""
        flag = self.plan.target.feed.availability_flag
        found = read_tree(self.work.stores(place), place, self.work.guard.check, directories=False) or {}
        return {name: each for name, each in found.items() if name != flag and not is_hidden(name)}


def _uris(place: CanonicalPath, files: Tree) -> tuple[str, ...]:
    return tuple(spark_uri(below(place, name)) for name in sorted(files))
