"""Targets and plans of imports: one instance of a feed from one table of a datasource."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from toolkit.actions.model import TargetPlan
from toolkit.actions.result import ActionResult
from toolkit.el import format_instant
from toolkit.errors import FeedctlError
from toolkit.foreign_json import MOST_BYTES, parse_json
from toolkit.jdbc.errors import DatabaseError, DatabaseTimeout, DatabaseUnreachable
from toolkit.ledger.exchange_marks import ImportSubject
from toolkit.storage import NotFound

if TYPE_CHECKING:
    from toolkit.actions.validation import FeedValidation
    from toolkit.catalog.model import Table, TableName
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.entities.exchange import Import
    from toolkit.entities.vocabulary import DataFormat
    from toolkit.jdbc.port import RowQuery
    from toolkit.ledger.exchange_marks import ImportMark
    from toolkit.storage import FileSystem

NAME = "db_import"
RECORD_FILE = "_feedctl_import.json"
"""File in an instance that says what was imported; readers of data leave out names that begin with ``_``."""
_TOO_MANY = 1 << 63
DATABASE_ERRORS = (DatabaseError, DatabaseUnreachable, DatabaseTimeout)


@dataclass(frozen=True, kw_only=True)
class ImportTarget:
    """An instance of a feed that is imported.

    Attributes:
        feed: the feed.
        on: where.
        settings: of the import.
        instant: its time.
        until: the time of the next instance.
        path: its directory; None: it is a partition of a table.
        base: bounds every effect at a path; None: as above.
        table: in the metastore; None: a feed of paths.
        partition: values of its partition by key; of a path feed none.
        follows: the instance before it, when the same run imports that first.
        is_last: no later instance is due.
        is_named: the user named it, so that it is imported again.
        is_whole: all rows are read, also where the settings merge new ones.
        validation: of the feed before it is published; None: it is not validated.
    """

    feed: Feed
    on: Cluster
    settings: Import
    instant: datetime
    until: datetime
    path: CanonicalPath | None = None
    base: CanonicalPath | None = None
    table: TableName | None = None
    partition: Mapping[str, str] = field(default_factory=dict)
    follows: datetime | None = None
    is_last: bool = True
    is_named: bool = False
    is_whole: bool = False
    validation: FeedValidation | None = field(default=None, compare=False)

    @property
    def entity(self) -> str:
        """The feed."""
        return self.feed.name

    @property
    def cluster(self) -> str:
        """Name of the cluster."""
        return self.on.name

    @property
    def counterpart(self) -> str:
        """Return nothing: a datasource is no cluster."""
        return ""

    @property
    def datasource(self) -> str:
        """Name of the datasource."""
        return self.settings.source.name

    @property
    def instance_key(self) -> str:
        """Its time."""
        return format_instant(self.instant)

    @property
    def merges(self) -> bool:
        """True if new rows are merged with the instance before it."""
        return self.settings.source.extract.is_merge and not self.is_whole

    @property
    def subject(self) -> ImportSubject:
        """Subject of its mark in the ledger."""
        source = self.settings.source
        text = json.dumps([source.name, source.table_name, source.extract.delta_column])
        return ImportSubject(feed=self.entity, cluster=self.cluster, source=text)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportPlace:
    """Place of an instance, by the config repo or by the metastore.

    Attributes:
        unit: its directory, which is replaced as a whole.
        base: bounds every effect: the directory around all instances, or that of the table.
        format: of its files.
        table: as the metastore has it; None: a feed of paths.
        is_registered: the table has the partition.
    """

    unit: CanonicalPath
    base: CanonicalPath
    format: DataFormat
    table: Table | None = None
    is_registered: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportRecord:
    """Content of `RECORD_FILE`.

    Attributes:
        columns: type of Spark by name.
        low: as of `ImportMark`.
        high: as of `ImportMark`.
        snapshot: as of `ImportMark`.
        rows: in the instance.
        size: of its files in bytes.
        run: that imported it.
        form: of its files, with the text of a null in CSV; empty: not known.
    """

    columns: Mapping[str, str]
    low: str | None = None
    high: str | None = None
    snapshot: str | None = None
    rows: int = 0
    size: int = 0
    run: str = ""
    form: str = ""

    def text(self) -> bytes:
        """Return the content of the file."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}, indent=1).encode()

    @classmethod
    def read(cls, system: FileSystem, place: CanonicalPath) -> ImportRecord | None:
        """Return the record of a directory; None: no import made it, or anybody changed the file."""
        try:
            with system.read(place.child(RECORD_FILE), length=MOST_BYTES + 1) as stream:
                facts: Any = parse_json(stream.read())
            columns = {str(name): str(kind) for name, kind in facts["columns"].items()}
            texts = {key: None if facts[key] is None else str(facts[key]) for key in ("low", "high", "snapshot")}
            rows, size = int(facts["rows"]), int(facts.get("size", 0))
            if not (0 <= rows < _TOO_MANY and 0 <= size < _TOO_MANY):  # the ledger cannot keep such numbers
                return None
            run, form = str(facts["run"]), str(facts.get("form", ""))
            return cls(columns=columns, rows=rows, size=size, run=run, form=form, **texts)
        except (NotFound, ValueError, TypeError, KeyError, AttributeError, OverflowError):
            return None


@dataclass(frozen=True, kw_only=True)
class ImportItem:
    """The import of an instance; exactly this is done.

    Attributes:
        instance_key: which.
        uri: its directory.
        rows: that are read.
        columns: type of Spark by name.
        checks: by column, the condition of rows whose value would change.
        select: the query as text.
        previous: directory of the instance whose rows are merged with the new ones; None: none is.
        low: as of `ImportMark`.
        high: as of `ImportMark`.
    """

    instance_key: str
    uri: str
    rows: RowQuery
    columns: Mapping[str, str]
    checks: Mapping[str, str]
    select: str
    previous: CanonicalPath | None = None
    low: str | None = None
    high: str | None = None
    kind: str = "import"

    @property
    def identity(self) -> tuple[str, ...]:
        """Query, columns and place."""
        return (self.instance_key, self.uri, self.select, str(self.previous), json.dumps(dict(self.columns)))


@dataclass(frozen=True, kw_only=True)
class ImportDetail:
    """Further content of an instance's plan.

    Attributes:
        types: type in the database by the name of the column.
        splits: conditions of the connections.
        place: of the instance; None: it is not known yet.
        estimate: number of rows, as the database estimates it; None: it does not.
        is_there: an earlier run has imported and announced it, and it is replaced.
        counters: filled while it is worked on: ``TIMETAKEN`` (milliseconds), ``ROWS``, ``COPY`` (files) and
            ``BYTESCOPIED``.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    splits: tuple[str, ...] = ()
    place: ImportPlace | None = None
    estimate: int | None = None
    is_there: bool = False
    counters: Counter[str] = field(default_factory=Counter)


ImportPlan: TypeAlias = "TargetPlan[ImportTarget, ImportItem, ImportDetail]"
ImportResult: TypeAlias = "ActionResult[ImportTarget, ImportItem, ImportDetail]"


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportMarks:
    """Marks that the ledger has about an instance.

    Attributes:
        own: of the instance.
        before: of the newest imported one before it.
        newest: of the newest imported one of all.
    """

    own: ImportMark | None = None
    before: ImportMark | None = None
    newest: ImportMark | None = None


def code_of(error: FeedctlError) -> str:
    """Return the code of an error: its own, or its name in lower case with ``_``."""
    name = type(error).__name__
    words = "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")
    return str(getattr(error, "code", words))
