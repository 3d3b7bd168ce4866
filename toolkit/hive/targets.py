"""Targets of exports, imports and replications of tables: one instance, and its plan."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult

if TYPE_CHECKING:
    from toolkit.actions.validation import FeedValidation
    from toolkit.catalog.model import Partition, StorageDescriptor, Table, TableKind, TableName
    from toolkit.el import CanonicalPath
    from toolkit.hive.export_layout import ExportedPart
    from toolkit.hive.table_reader import Contents, TablePart

EXPORT, IMPORT, REPLICATION = "hive_export", "hive_import", "hive_replication"
"""The names of the actions."""


class SchemaChange(StrEnum):
    """Treatment of a table whose definition differs from that of the imported data (USERS, Hive tables)."""

    FAIL = "fail"
    """Nothing is imported; the differences are named."""
    ADDITIVE = "additive"
    """New columns are added at its end; any other difference fails."""
    REPLACE = "replace"
    """Its definition is replaced; its partitions keep theirs."""


class TableStep(StrEnum):
    """Step of an item, as the ledger has it."""

    EXPORT = "export"
    """A partition is copied into an export."""
    FINISH = "finish"
    """The manifest and ``_metadata`` are written, which makes it one."""
    TABLE = "table"
    """The table, or the view, is created, or its definition changes."""
    ADD = "add"
    """A partition, or an unpartitioned table, is new at the target."""
    REPLACE = "replace"
    """Its data are replaced by others, in another place."""
    DESCRIBE = "describe"
    """Its definition alone changes."""
    CLEAN = "clean"
    """Replaced data are removed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportRules:
    """Rules of an import.

    Attributes:
        schema_change: when it is there already, and is another one.
        kind: managed or external; None: as it was.
        at_once: so many files of one instance at once; None: as many as the store is good for.
        bandwidth: bytes a second of one instance; inf: as many as come.
    """

    schema_change: SchemaChange = SchemaChange.FAIL
    kind: TableKind | None = None
    at_once: int | None = None
    bandwidth: float = inf


@dataclass(frozen=True, kw_only=True)
class TableTarget:
    """An instance of a table feed, or the whole table.

    Attributes:
        feed: name.
        cluster: where it is exported from, imported to, or replicated to.
        counterpart: the source of a replication; else empty.
        instance_key: its time; of the whole table the nominal time.
        instant: its time; None: the whole table is meant.
        table: on the cluster.
        source: on the counterpart; None: there is none.
        directory: the export; None: of a replication.
        is_export: the export is written; else it is read, or there is none.
        flag: the file in each partition that says that it is complete; empty: the partition's existence does.
        waits_until: from then on an instance that has not come has failed; None: never.
        rules: of an import.
        validation: of the feed; None: it is not validated.
    """

    feed: str
    cluster: str
    counterpart: str = ""
    instance_key: str
    instant: datetime | None
    table: TableName
    source: TableName | None = None
    directory: CanonicalPath | None = None
    is_export: bool = False
    flag: str = ""
    waits_until: datetime | None = None
    rules: ImportRules = field(default_factory=ImportRules)
    validation: FeedValidation | None = field(default=None, compare=False)

    @property
    def entity(self) -> str:
        """The feed."""
        return self.feed

    def item(self, step: TableStep, place: CanonicalPath, part: TablePart | None = None) -> TableItem:
        """Return an item of this instance; arguments as of `TableItem`."""
        return TableItem(instance_key=self.instance_key, step=step, table=self.table, place=place, part=part)


@dataclass(frozen=True, kw_only=True, eq=False)
class TableItem:
    """A partition, or a table, of a plan.

    Attributes:
        instance_key: of the instance.
        step: what is done.
        table: which table, at the target; at the source, of an export.
        place: where its effect is: a directory of data, of an export, or of a table.
        part: its data; None: it has none.
        wanted: the definition that is registered, whatever its location; None: of an export.
        outdated: of `TableStep.REPLACE` the place whose data are replaced.
        is_there: the data are at the place already, and only have to be seen to be the same.
        location: of `TableStep.DESCRIBE` the place as the metastore has it, which stays.
        note: for the user.
        batch: items of one number are done together.
    """

    instance_key: str
    step: TableStep
    table: TableName
    place: CanonicalPath
    part: TablePart | None = None
    wanted: Partition | Table | None = None
    outdated: CanonicalPath | None = None
    is_there: bool = False
    location: str = ""
    note: str = ""
    batch: int = 0

    @property
    def kind(self) -> str:
        """The step, as the ledger has it."""
        return self.step.value

    @property
    def uri(self) -> str:
        """The place of its effect."""
        return str(self.place)

    @cached_property
    def identity(self) -> tuple[str, ...]:
        """The files and table definitions of the item, so that an approval covers nothing else."""
        fingerprint = self.part.fingerprint if self.part else ""
        described = hashlib.sha256(repr(self.wanted).encode(errors="surrogateescape")).hexdigest()
        return (self.instance_key, self.step, str(self.table), self.name, self.uri, fingerprint, described)

    @property
    def name(self) -> str:
        """The name of the partition; empty: the item is about the table, or its only data."""
        return self.part.name if self.part else ""

    @property
    def copies(self) -> bool:
        """True if files are copied for it."""
        return (
            self.step in {TableStep.EXPORT, TableStep.ADD, TableStep.REPLACE}
            and self.part is not None
            and not self.is_there
        )

    @property
    def files(self) -> int:
        """Return the number of files to copy."""
        return len(self.part.files) if self.part and self.copies else 0

    @property
    def bytes(self) -> int:
        """Return the number of bytes to copy."""
        return self.part.bytes if self.part and self.copies else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredPart:
    """Stored data of a partition, or the only data of a table.

    Attributes:
        part: what it has.
        place: its directory.
        storage: its definition.
    """

    part: TablePart
    place: CanonicalPath
    storage: StorageDescriptor


@dataclass(frozen=True, kw_only=True)
class TableDetail:
    """Further content of an instance's plan.

    Attributes:
        kept: so many partitions are there already, and the same.
        contents: what is copied, as it was read; None: nothing was.
        present: the table at the target; None: it is not there.
        root: the directory at the target that bounds every effect; None: there is none yet.
        root_text: the same as the metastore there writes it.
        unchanged: of an import, what is there already and the same.
        kept_parts: of an export, what it keeps, by the names of the partitions.
        counters: filled while it is worked on: ``TIMETAKEN`` (milliseconds), ``COPY`` (files), ``BYTESCOPIED``.
    """

    kept: int = 0
    contents: Contents | None = None
    present: Table | None = None
    root: CanonicalPath | None = None
    root_text: str = ""
    unchanged: tuple[StoredPart, ...] = ()
    counters: Counter[str] = field(default_factory=Counter)
    kept_parts: Mapping[str, ExportedPart] = field(default_factory=dict)


TablePlan: TypeAlias = "TargetPlan[TableTarget, TableItem, TableDetail]"
TableResult: TypeAlias = "ActionResult[TableTarget, TableItem, TableDetail]"
