"""Config repo with a feed that is exported to a database of the test bed, and runs of its exports in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.databases.datasources import PASSWORD, USER, VARIABLE, DataServer, variables
from tests.unit.exchange.fake_rows import FakeRows, rows_of
from toolkit.actions.progress import NoProgress
from toolkit.actions.selection import EntitySelection
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.db_export import SPARK_FOR_WRITING, export_to_databases
from toolkit.bootstrap.db_import import ExchangeAdapters
from toolkit.bootstrap.replication import ReplicationOptions
from toolkit.clock import SystemClock
from toolkit.el import parse_instant
from toolkit.entities.vocabulary import DatasourceType
from toolkit.exchange.rows import StageRequest
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.port import Database
from toolkit.rendering.action_result import rendered
from toolkit.rendering.db_export import DB_EXPORT_VIEW
from toolkit.rendering.tables import ResultFormat
from toolkit.runs.stop import NeverStopped

T1, T2 = "2026-03-01T00:00Z", "2026-03-02T00:00Z"
REPLACE = '{type: replace, slice: {day: "${YEAR}-${MONTH}-${DAY}"}}'
ALLOWINSERT, UPDATEONLY = "{type: allowinsert}", "{type: updateonly}"


@dataclass
class RowsInDatabase(FakeRows):
    """Fake of Spark that writes the rows of its files into the real staging table.

    Attributes:
        database: where that is.
        after: called when the rows are staged.
        extra: so many rows are written twice.
    """

    database: Database | None = None
    after: Callable[[], object] = lambda: None
    extra: int = 0

    def stage(self, request: StageRequest) -> int:
        """Insert the rows."""
        assert self.database is not None
        self.requests.append(request)
        own = dialect(self.database.access.type)
        names = [each for each in request.columns if each not in request.constants] + list(request.constants)
        found = [(*row, *request.constants.values()) for row in rows_of(request.files)]
        with self.database.transaction() as session:
            for row in found[:1] if self.failure else (*found, *found[: self.extra]):
                values = ", ".join("NULL" if each is None else own.literal(str(each)) for each in row)
                session.execute(f"INSERT INTO {own.table(request.table)} ({own.names(names)}) VALUES ({values})")  # noqa: S608
        self.after()
        if self.failure is not None:
            raise self.failure
        return len(found)


@dataclass
class ExportRepo:
    """A repo, its data, and runs.

    Attributes:
        path: of the repo.
        data: the database.
        rows: writes the staging tables.
        database: the same database, by its driver.
        by_spark: rows are moved by Spark, and the datasource is opened as users do.
        text: of the last result.
        document: the same as JSON.
    """

    path: Path
    data: DataServer
    rows: RowsInDatabase
    database: Database
    files: Path = field(init=False)
    by_spark: bool = False
    text: str = ""
    document: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.files = self.path.parent / "orders"

    def write(self, load: str, more: str = "", *, flag: bool = True) -> None:
        """Write the config repo, with an export of `orders` as asked for."""
        source = self.data.datasource
        driver = source.driver
        assert driver is not None
        assert source.interfaces.write is not None
        texts = {
            "repo.yaml": "name: r\nledger: sqlite:///.feedctl/ledger.db\n",
            "clusters/primary.yaml": "kind: cluster\nname: primary\ninterfaces: {write: {endpoint: 'file:///'}}\n",
            "datasources/crm.yaml": (
                f"kind: datasource\nname: crm\ntype: {source.type}\n"
                f"interfaces: {{write: {{endpoint: '{source.interfaces.write.endpoint}'}}}}\n"
                f"credential: {{user: {USER}, env: {VARIABLE}}}\n"
                f"driver: {{class: {driver.class_}, jars: ['{driver.jars[0]}']}}\n"
            ),
            "feeds/orders.yaml": (
                "kind: feed\nname: orders\nfrequency: days(1)\n"
                + ("availability_flag: _SUCCESS\n" if flag else "")
                + f"locations: {{data: '{self.files}/${{YEAR}}-${{MONTH}}-${{DAY}}'}}\n"
                "clusters:\n  - name: primary\n    validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}\n"
                f"    export: {{target: {{name: crm, table_name: orders, load: {load}}}{more}}}\n"
            ),
        }
        for name, text in texts.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text)

    def instance(
        self, rows: Sequence[Sequence[object]], *, key: str = T1, columns: Mapping[str, str] | None = None
    ) -> Path:
        """Write the files of an instance in place of those that it had."""
        place = self.files / key[:10]
        place.mkdir(parents=True, exist_ok=True)
        types = columns or {"id": "int", "day": "date", "note": "string"}
        (place / "part-0.parquet").write_text(json.dumps({"columns": list(types.items()), "rows": rows}))
        (place / "_SUCCESS").touch()
        return place

    def run(self, time: str = T1, *, start: str | None = None, dry_run: bool = False) -> int:
        """Return the exit code of a run."""
        options = ActionOptions(
            selection=EntitySelection(names=("orders",)),
            repo=RepoRequest(config_repo=str(self.path), variables=variables()),
            nominal_time=parse_instant(time),
            dry_run=dry_run,
            allow_dirty=True,
        )
        adapters = SPARK_FOR_WRITING
        if not self.by_spark:
            adapters = ExchangeAdapters(rows=lambda _: self.rows, database=lambda *_: self.database)
        own = ReplicationOptions(start=start)
        result = export_to_databases(own, options, SystemClock(), NeverStopped(), NoProgress(), adapters)
        self.text = "".join(rendered(result, DB_EXPORT_VIEW, ResultFormat.TEXT))
        self.document = json.loads("".join(rendered(result, DB_EXPORT_VIEW, ResultFormat.JSON)))
        return result.exit_code

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows of the table, as texts."""
        return [tuple(map(str, row)) for row in self.data.rows("SELECT id, day, note FROM orders ORDER BY id, note")]

    def tables(self) -> set[str]:
        """Return the names of all tables of the database."""
        where = "DATABASE()" if self.data.datasource.type is DatasourceType.MYSQL else "'public'"
        found = self.data.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema = {where}")  # noqa: S608
        return {str(name) for (name,) in found}


def make_export_repo(path: Path, data: DataServer, database: Database) -> ExportRepo:
    """Return a repo whose exports use an open database and a fake of Spark."""
    (path / "repo").mkdir()
    data.run("CREATE TABLE orders (id int PRIMARY KEY, day date NOT NULL, note varchar(20))")
    data.run("INSERT INTO orders VALUES (1, '2026-03-01', 'old'), (2, '2026-03-02', 'old')")
    outlives = _SharedDatabase(database)
    return ExportRepo(path=path / "repo", data=data, rows=RowsInDatabase(database=database), database=outlives)


def make_spark_export_repo(
    path: Path, data: DataServer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> ExportRepo:
    """Return the same with Spark itself, which finds the password in a variable."""
    monkeypatch.setenv(VARIABLE, PASSWORD)
    found = make_export_repo(path, data, database)
    found.by_spark = True
    return found


class _SharedDatabase:
    """A database whose JVM other tests use, too."""

    def __init__(self, database: Database) -> None:
        self.access, self.server = database.access, database.server
        self.snapshot, self.transaction = database.snapshot, database.transaction

    def close(self) -> None:
        """Leave the JVM open."""
