"""Round trips of tables: read into files, staged into a table of the same columns, compared in the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.contract.database.conftest import database_of
from tests.databases.datasources import DataServer
from toolkit.entities.vocabulary import DatasourceType, LoadType
from toolkit.exchange.rows import ReadRequest, Rows, StageRequest, StoredFormat, WrittenRows
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.port import DatabaseSnapshot, RelationName, RowQuery, TableDescription
from toolkit.jdbc.staging import StagedLoad
from toolkit.jdbc.types import MappedColumn, map_columns

SOURCE, STAGING, MERGED = (RelationName((name,)) for name in ("t", "s", "m"))


@dataclass
class RoundTrip:
    """A table `t` of a database, as the actions would bring it out and back.

    Attributes:
        wanted: types by `columns` of an import.
    """

    data: DataServer
    gateway: JdbcGateway
    rows: Rows
    directory: Path
    stored: StoredFormat = field(default_factory=StoredFormat)
    wanted: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """The directory of files."""
        return (f"file://{self.directory}",)

    def read(self, split_by: str | None = None, parts: int = 1) -> WrittenRows:
        """Write files, of one snapshot if the database has one.

        Raises:
            AssertionError: values would change, which an import refuses.
        """
        with database_of(self.data, self.gateway).snapshot() as snapshot:
            request = self.request(snapshot, split_by, parts)
            return self.rows.read(request)

    def request(self, snapshot: DatabaseSnapshot, split_by: str | None = None, parts: int = 1) -> ReadRequest:
        """Return the request that reads the table."""
        columns = self.columns(snapshot.describe(SOURCE))
        query = RowQuery(
            table=SOURCE,
            columns=tuple(each.name for each in columns),
            casts={each.name: each.cast for each in columns if each.cast is not None},
        )
        checks = {each.name: each.check for each in columns if each.check is not None}
        _, *counts = snapshot.count(query, *checks.values())
        changed = {name: count for name, count in zip(checks, counts, strict=True) if count}
        assert not changed, changed
        text = snapshot.select_text(query)
        conditions = snapshot.splits(query, split_by, parts) if split_by else ("1 = 1",)
        return ReadRequest(
            access=database_of(self.data, self.gateway).access,
            init_statement=snapshot.init_statement,
            selects=tuple(f"{text} WHERE {each}" for each in conditions),
            columns={each.name: each.spark for each in columns},
            fetch_size=1000,
            stored=self.stored,
            target=self.files[0],
        )

    def columns(self, described: TableDescription) -> tuple[MappedColumn, ...]:
        """Return how the columns are mapped."""
        return map_columns(dialect(self.data.datasource.type), "t", described.columns, self.wanted)

    def stage(self, connections: int = 2) -> int:
        """Write the files into a new staging table."""
        own, database = dialect(self.data.datasource.type), database_of(self.data, self.gateway)
        with database.transaction() as session:
            described = session.describe(SOURCE)
            columns = self.columns(described)
            names = [each.name for each in columns]
            session.execute(f"DROP TABLE IF EXISTS {own.table(STAGING)}")
            session.execute(own.staging_statement(STAGING, SOURCE, names))
        return self._staged(columns, connections)

    def export(self, key: str, connections: int = 2) -> int:
        """Write the files into a staging table and merge it into a new table `m`, twice: by inserts, then by updates.

        Raises:
            AssertionError: the table would cut values.
        """
        own, database = dialect(self.data.datasource.type), database_of(self.data, self.gateway)
        is_postgres = own.type is DatasourceType.POSTGRES
        like = f"(LIKE {own.table(SOURCE)} INCLUDING INDEXES)" if is_postgres else f"LIKE {own.table(SOURCE)}"
        with database.transaction() as session:
            for each in (STAGING, MERGED):
                session.execute(f"DROP TABLE IF EXISTS {own.table(each)}")
            session.execute(f"CREATE TABLE {own.table(MERGED)} {like}")
            columns = self.columns(session.describe(SOURCE))
            load = StagedLoad(
                dialect=own,
                table=session.describe(MERGED),
                staging=STAGING,
                columns=tuple(each.name for each in columns),
                type=LoadType.ALLOWINSERT,
                key=(key,),
                slice={},
            )
            load.create(session)
        self._staged(columns, connections)
        with database.transaction() as session:
            assert not load.cut_columns(session)
            load.merge(session)
            load.merge(session)
            return load.count(session)

    def _staged(self, columns: Sequence[MappedColumn], connections: int) -> int:
        return self.rows.stage(
            StageRequest(
                access=database_of(self.data, self.gateway).access,
                table=STAGING,
                files=self.files,
                stored=self.stored,
                columns={each.name: each.spark for each in columns},
                connections=connections,
                batch_rows=100,
            )
        )

    def differences(self, other: RelationName = STAGING) -> list[tuple[object, ...]]:
        """Return rows that only the table or only the other one has, by all bits of their values."""
        tables = ("t", str(other))
        if self.data.datasource.type is DatasourceType.POSTGRES:
            texts = [f"SELECT x::text FROM {table} AS x" for table in tables]  # noqa: S608 - ours
        else:
            with database_of(self.data, self.gateway).snapshot() as snapshot:
                columns = snapshot.describe(SOURCE).columns
            fields = ", ".join(_bits(each.name, each.type) for each in columns)
            texts = [f"SELECT CONCAT_WS('|', {fields}) FROM {table}" for table in tables]  # noqa: S608
        left, right = texts
        return self.data.rows(f"{left} EXCEPT ALL {right}") + self.data.rows(f"{right} EXCEPT ALL {left}")


def _bits(name: str, kind: str) -> str:
    quoted = dialect(DatasourceType.MYSQL).quote(name)
    text = f"CAST({quoted} AS DOUBLE)" if kind == "float" else quoted
    return f"COALESCE(HEX(CAST({text} AS BINARY)), '-')"
