"""Targets, items and plans of exports to databases."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult
from toolkit.jdbc.staging import ExportKey

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.entities.exchange import FeedExport
    from toolkit.exchange.instance_files import InstanceFiles
    from toolkit.jdbc.port import Database, RelationName
    from toolkit.jdbc.staging import ExportRecord, StagedLoad

NAME = "db_export"
EXPORT, DROP = "export", "drop"
"""Kinds of items: the merge of an instance, and the removal of a dead run's staging table."""


@dataclass(frozen=True, kw_only=True)
class DatabaseExportTarget:
    """An instance of a feed on a cluster, and the table that it is exported to.

    Attributes:
        entity: the feed.
        counterpart: the datasource.
        export: of the feed on the cluster.
        table: its name, by parts.
        slice: texts by column of the rows that the instance replaces.
        twin: the instance before or after it, if it has the same slice; empty: neither has.
        files: lists the instance's files; raises `InputMissing`.
        database: opens the datasource for writing, once.
    """

    entity: str
    cluster: str
    counterpart: str
    instance_key: str
    export: FeedExport
    table: RelationName
    slice: Mapping[str, str]
    twin: str
    files: Callable[[RunContext], InstanceFiles] = field(compare=False)
    database: Callable[[], Database] = field(compare=False)

    @property
    def key(self) -> ExportKey:
        """The key of the instance in the database's own record."""
        return ExportKey(feed=self.entity, cluster=self.cluster, instance_key=self.instance_key, table=str(self.table))

    def uri(self, table: str) -> str:
        """Return the name of a table in results and in the ledger."""
        return f"datasource:{self.counterpart}/{table}"

    def digest(self, files: InstanceFiles) -> str:
        """Return a digest of the files, and of everything that decides what becomes of them."""
        export = self.export
        facts = (
            files.fingerprint.digest,
            self.table.parts,
            str(export.target.load.type),
            export.key_columns,
            sorted(self.slice.items()),
            str(export.format),
            export.null_text,
        )
        return hashlib.sha256(repr(facts).encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseExportItem:
    """An effect on the database.

    Attributes:
        kind: `EXPORT` or `DROP`.
        uri: of the table.
        instance_key: of the instance.
        table: its name.
        digest: of the export, see `DatabaseExportTarget.digest`.
        files: that are read.
        bytes: of them.
    """

    kind: str
    uri: str
    instance_key: str
    table: str
    digest: str = ""
    files: int = 0
    bytes: int = 0

    @property
    def identity(self) -> tuple[str, ...]:
        """Return all by which two plans differ."""
        return (self.instance_key, self.kind, self.uri, self.digest)


@dataclass(frozen=True, kw_only=True, slots=True)
class DatabaseExportDetail:
    """Further content of a plan.

    Attributes:
        columns: types of Spark of the columns that are written, in the table's order.
        load: staging table and merge; None: nothing is exported.
        inputs: the files; None: they were not listed.
        expected: rows of the instance, which a dry run counts; None: they were not counted.
        record: the export of the same digest that the database has; None: it has none.
        needs_records: the database has no table of exports yet.
        counters: filled by the export: ``TIMETAKEN`` (milliseconds), ``COPY`` (files), ``BYTESCOPIED``, ``ROWS`` of
            the instance, ``ROWSWRITTEN`` of the table.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    load: StagedLoad | None = None
    inputs: InstanceFiles | None = None
    expected: int | None = None
    record: ExportRecord | None = None
    needs_records: bool = False
    counters: Counter[str] = field(default_factory=Counter)


DatabaseExportPlan: TypeAlias = "TargetPlan[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail]"
DatabaseExportResult: TypeAlias = "ActionResult[DatabaseExportTarget, DatabaseExportItem, DatabaseExportDetail]"
