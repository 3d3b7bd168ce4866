"""A config repo with one import, its ledger and stores on this disk, a database in memory, and runs in this process."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.databases.ledgers import make_ledger, sqlite_url
from tests.tables.memory_metastore import MemoryMetastore
from tests.unit.exchange.fake_rows import FakeRows, rows_of
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.db_import import ExchangeAdapters, ImportOptions, import_rows
from toolkit.bootstrap.replication import ReplicationOptions
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities import DatasourceType
from toolkit.errors import FeedctlError
from toolkit.exchange.import_targets import RECORD_FILE, ImportResult
from toolkit.exchange.rows import ReadRequest
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.errors import NoSuchRelation
from toolkit.jdbc.port import (
    JdbcAccess,
    RelationName,
    Row,
    RowQuery,
    ServerInfo,
    Session,
    TableColumn,
    TableDescription,
    Value,
)
from toolkit.rendering.action_result import rendered
from toolkit.rendering.db_import import IMPORT_VIEW
from toolkit.rendering.tables import ResultFormat
from toolkit.runs.stop import NeverStopped

NOMINAL = "2026-03-03T00:00Z"
SELECT = 'SELECT "id", "note", "at" FROM "customers"'


@dataclass
class MemoryDatabase:
    """A database of one table, and its only snapshot.

    Attributes:
        columns: of the table.
        rows: as they are now.
        changes: rows that meet a check, by column.
        failure: raised by each call.
        is_shared: other connections can see the snapshot.
        touched: called when a snapshot is taken.
    """

    columns: list[TableColumn] = field(
        default_factory=lambda: [
            TableColumn(name="id", type="integer"),
            TableColumn(name="note", type="text"),
            TableColumn(name="at", type="timestamp with time zone"),
        ]
    )
    rows: list[Row] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)
    failure: FeedctlError | None = None
    is_shared: bool = True
    touched: Callable[[], None] = lambda: None
    opened: int = 0
    queries: dict[str, RowQuery] = field(default_factory=dict)

    @property
    def id(self) -> str | None:
        return "snapshot-1" if self.is_shared else None

    @property
    def init_statement(self) -> str | None:
        return "SET TRANSACTION SNAPSHOT 'snapshot-1'" if self.is_shared else None

    @property
    def access(self) -> JdbcAccess:
        return JdbcAccess(name="datasource crm", type=DatasourceType.POSTGRES, url="jdbc:x", driver_class="X")

    def server(self) -> ServerInfo:
        raise NotImplementedError

    @contextmanager
    def snapshot(self) -> Iterator[MemoryDatabase]:
        self.opened += 1
        self.touched()
        if self.failure is not None:
            raise self.failure
        yield self

    def transaction(self, *, read_only: bool = False) -> AbstractContextManager[Session]:
        del read_only
        raise NotImplementedError

    def close(self) -> None:
        pass

    def describe(self, table: RelationName) -> TableDescription:
        if str(table) != "customers":
            raise NoSuchRelation(about="datasource crm", detail=f"no table {table}")
        return TableDescription(name=table, columns=tuple(self.columns), primary_key=("id",))

    def count(self, rows: RowQuery, *conditions: str) -> tuple[int, ...]:
        changes = (sum(count for name, count in self.changes.items() if f'"{name}"' in each) for each in conditions)
        return (len(self.among(rows)), *changes)

    def estimate(self, rows: RowQuery) -> int | None:
        return len(self.among(rows))

    def bounds(self, rows: RowQuery, column: str) -> tuple[Value, Value] | None:
        at = [each.name for each in self.columns].index(column)
        values: list[int] = [value for row in self.among(rows) if isinstance(value := row[at], int)]
        return (min(values), max(values)) if values else None

    def splits(self, rows: RowQuery, column: str, parts: int) -> tuple[str, ...]:
        del rows
        return dialect(DatasourceType.POSTGRES).hashed(column, parts)

    def select_text(self, rows: RowQuery) -> str:
        text = dialect(DatasourceType.POSTGRES).select(rows)
        self.queries[text] = rows
        return text

    def among(self, rows: RowQuery) -> list[Row]:
        """Return the rows of a query, with its columns."""
        names = [each.name for each in self.columns]
        found = list(self.rows)
        for each in rows.ranges:
            at = names.index(each.column)
            found = [row for row in found if _is_in(row[at], each.low, each.high, each.includes_low)]
        return [tuple(row[names.index(name)] for name in rows.columns) for row in found]


def _is_in(value: Any, low: Any, high: Any, includes_low: bool) -> bool:  # noqa: ANN401, FBT001 - of any one type
    """Ranges of numbers are (low, high], those of times [low, high)."""
    if value is None:
        return low is None and high is None
    above = low is None or value > low or (includes_low and value == low)
    below = high is None or value < high or (not includes_low and value == high)
    return bool(above and below)


@dataclass
class MemoryRows(FakeRows):
    """Rows of a database in memory, as they are when they are read; of several connections the first has all.

    Attributes:
        database: whose rows.
        lost: so many rows are not written.
        touched: called when rows are read.
    """

    database: MemoryDatabase = field(default_factory=MemoryDatabase)
    lost: int = 0
    touched: Callable[[], object] = lambda: None

    def _rows(self, select: str) -> list[Row]:
        self.touched()
        text = max((each for each in self.database.queries if select.startswith(each)), key=len)
        rows = self.database.among(self.database.queries[text])
        is_first = select == text or "= 0" in select.removeprefix(text)
        return rows[: len(rows) - self.lost] if is_first else []


@dataclass
class ImportSite:
    """See the module.

    Attributes:
        root: a directory of this test.
        extract: of the import, as YAML.
        more: further keys of the import, as YAML lines.
        of_feed: further keys of the feed, as YAML lines.
        datasource: its file.
        variables: of the process.
        frequency: of the feed.
        place_text: of the data, as YAML.
        adapters: None: the database, the rows and the metastore in memory.
    """

    root: Path
    extract: str = "{type: full}"
    more: str = ""
    of_feed: str = "availability_flag: _SUCCESS"
    datasource: str = """kind: datasource
name: crm
type: postgres
interfaces: {readonly: {endpoint: "jdbc:postgresql://x/y"}}
"""
    place_text: str = 'locations: {data: "/data/customers/${YEAR}-${MONTH}-${DAY}"}'
    metastore: MemoryMetastore = field(default_factory=lambda: MemoryMetastore(["web"]))
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    frequency: str = "days(1)"
    adapters: ExchangeAdapters | None = None
    database: MemoryDatabase = field(default_factory=MemoryDatabase)
    rows: MemoryRows = field(default_factory=MemoryRows)

    def __post_init__(self) -> None:
        self.rows.database = self.database
        make_ledger(sqlite_url(self.root / "ledger.db"))
        self.write()

    def write(self) -> None:
        """Write the config repo."""
        repo = self.root / "repo"
        for kind in ("clusters", "feeds", "datasources"):
            (repo / kind).mkdir(parents=True, exist_ok=True)
        (repo / "repo.yaml").write_text(f"name: shop\nledger: sqlite:///{self.root}/ledger.db\n")
        cluster = (
            f'kind: cluster\nname: primary\ncolo: dub\ninterfaces: {{write: {{endpoint: "file://{self.root}"}}}}\n'
        )
        (repo / "clusters/primary.yaml").write_text(cluster)
        (repo / "datasources/crm.yaml").write_text(self.datasource)
        (repo / "feeds/customers.yaml").write_text(
            f"""kind: feed
name: customers
frequency: {self.frequency}
{self.of_feed}
{self.place_text}
clusters:
  - name: primary
    validity: {{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}}
    import:
      source: {{name: crm, table_name: customers, extract: {self.extract}}}
{self.more}
"""
        )

    def run(
        self,
        nominal: str = NOMINAL,
        *,
        start: str | None = None,
        end: str | None = None,
        dry_run: bool = False,
        whole: bool = False,
        inconsistent: bool = False,
        all_clusters: bool = False,
    ) -> ImportResult:
        """Import what is due at a time."""
        own = ImportOptions(
            instances=ReplicationOptions(start=start, end=end), whole=whole, inconsistent_splits=inconsistent
        )
        options = ActionOptions(
            selection=EntitySelection(names=("customers",), all_clusters=all_clusters),
            repo=RepoRequest(config_repo=str(self.root / "repo"), variables=self.variables),
            nominal_time=parse_instant(nominal),
            dry_run=dry_run,
            allow_dirty=True,
        )
        in_memory = ExchangeAdapters(
            database=lambda *_: self.database, rows=lambda _: self.rows, metastore=lambda *_: self.metastore
        )
        adapters = self.adapters or in_memory
        return import_rows(own, options, SystemClock(), NeverStopped(), NoProgress(), adapters)

    def text(self, result: ImportResult) -> str:
        """Return a result as people read it."""
        return "\n".join(rendered(result, IMPORT_VIEW, ResultFormat.TEXT))

    def place(self, day: str) -> Path:
        """Return the directory of an instance."""
        return self.root / f"data/customers/{day}"

    def imported(self, day: str) -> list[Row]:
        """Return the rows of an instance."""
        return sorted(rows_of([str(self.place(day))]), key=repr)

    @property
    def last_read(self) -> ReadRequest:
        """The last request to read."""
        return [each for each in self.rows.requests if isinstance(each, ReadRequest)][-1]

    def names(self, day: str) -> list[str]:
        """Return the names in the directory of an instance."""
        return sorted(each.name for each in self.place(day).iterdir()) if self.place(day).is_dir() else []

    def left(self) -> list[str]:
        """Return what is there besides instances."""
        return [str(each) for each in (self.root / "data").rglob(".feedctl*/*")]

    def ledger(self, query: str) -> list[tuple[Any, ...]]:
        """Return rows of the ledger."""
        with closing(sqlite3.connect(self.root / "ledger.db")) as ledger:
            return ledger.execute(query).fetchall()


FILES = ["_SUCCESS", RECORD_FILE, "part-00000.parquet"]
