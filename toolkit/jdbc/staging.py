"""Staging tables of exports: their rows are checked, then merged into the table by one transaction."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from toolkit.entities.vocabulary import DatasourceType, LoadType
from toolkit.jdbc.dialect import Dialect
from toolkit.jdbc.port import RelationName, Row, Session, TableDescription, Value

RECORDS = "feedctl_export"
"""Table of the exports that were committed, beside the tables that they are exported to."""
_PREFIX = "feedctl_stage_"
_NAME = re.compile(rf"{_PREFIX}(?P<feed>[0-9a-f]{{12}})_(?P<instance>[0-9a-f]{{12}})_[0-9a-z]{{1,20}}")
_EXAMPLES = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportKey:
    """Instance that is exported to a table.

    Attributes:
        table: as `RelationName` writes it.
    """

    feed: str
    cluster: str
    instance_key: str
    table: str

    @property
    def values(self) -> tuple[str, str, str, str]:
        """The values of the key's columns."""
        return (self.feed, self.cluster, self.instance_key, self.table)

    def staging_name(self, run_name: str) -> str:
        """Return the name of the staging table of a run."""
        return f"{_PREFIX}{_short(self.feed, self.cluster)}_{_short(self.instance_key)}_{run_name}"

    def abandoned(self, names: Collection[str], open_instances: Collection[str], run_name: str = "") -> tuple[str, ...]:
        """Return which tables are staging tables of dead runs of this feed on this cluster.

        Args:
            names: of all tables beside the table that is exported to.
            open_instances: keys of the feed's other instances that runs work on now.
            run_name: of this run, which holds the lease of its instance: other runs of the instance are dead.
        """
        spared = {_short(each) for each in open_instances} - {_short(self.instance_key)}
        found = ((each, _NAME.fullmatch(each)) for each in names)
        own, mine = _short(self.feed, self.cluster), self.staging_name(run_name)
        return tuple(
            sorted(
                name
                for name, match in found
                if match and match["feed"] == own and match["instance"] not in spared and name != mine
            )
        )


def _short(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportRecord:
    """An export that was committed.

    Attributes:
        digest: of the files, and of what the export does with them.
        rows: of the instance.
    """

    digest: str
    run_id: str
    rows: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """Tables of feedctl beside a table that is exported to.

    Attributes:
        dialect: of the database.
        table: the table.
    """

    dialect: Dialect
    table: RelationName

    def beside(self, name: str) -> RelationName:
        """Return a table of the same schema."""
        return RelationName((*self.table.parts[:-1], name))

    def names(self, session: Session) -> frozenset[str]:
        """Return the names of feedctl's tables there that the account sees."""
        schema = ", ".join("?" for _ in self.table.parts[-2:-1]) or _SCHEMAS.get(self.dialect.type, "CURRENT_SCHEMA")
        found = session.query(
            f"SELECT table_name FROM information_schema.tables WHERE table_schema = {schema}",
            *self.table.parts[-2:-1],
        )
        return frozenset(str(name) for (name,) in found if is_own(str(name)))

    def fault(self, session: Session, names: Collection[str]) -> str:
        """Return why exports to the table cannot be whole and once; empty: they can.

        Args:
            session: of a transaction.
            names: what `names` returned.
        """
        if is_own(self.table.parts[-1]):
            return f"{self.table} has the name of a table of feedctl itself"
        if RECORDS in names:
            found = session.describe(self.beside(RECORDS))
            has_key = not self.dialect.is_tested or set(found.primary_key) == set(tuple(_RECORD)[:4])
            if not has_key or not {each.name for each in found.columns} >= set(_RECORD):
                return f"{self.beside(RECORDS)} is no table of feedctl; rename it"
        for name in (self.table, *([self.beside(RECORDS)] if RECORDS in names else [])):
            if self.dialect.type is DatasourceType.MYSQL and session.query(_NO_TRANSACTIONS, *_place(name)):
                return f"the engine of {name} has no transactions; convert it: ALTER TABLE ... ENGINE=InnoDB"
        return ""

    def lock(self, session: Session) -> bool:
        """Wait until no other run merges rows into the table, until the transaction ends; return False if one does."""
        query, values = self.dialect.lock_query(self.table)
        return not query or str(session.query(query, *values)[0][0]) == "1"

    def create_records(self, session: Session) -> None:
        """Create the table of exports unless it exists."""
        names = ", ".join(f"{self.dialect.quote(name)} {kind}" for name, kind in _RECORD.items())
        key = self.dialect.names(tuple(_RECORD)[:4])
        session.execute(
            f"CREATE TABLE IF NOT EXISTS {self.dialect.table(self.beside(RECORDS))} ({names}, PRIMARY KEY ({key}))"
            f"{self.dialect.engine}"
        )

    def record(self, session: Session, key: ExportKey, *, locked: bool = False) -> ExportRecord | None:
        """Return the last export of an instance; None: there is none.

        Args:
            session: of a transaction.
            key: of the instance.
            locked: no other transaction changes it until this one ends.
        """
        columns = self.dialect.names(("digest", "run_id", "rows"))
        found = session.query(
            f"SELECT {columns} FROM {self.dialect.table(self.beside(RECORDS))} WHERE {self._is_key}"
            f"{' FOR UPDATE' if locked else ''}",
            *key.values,
        )
        return next((ExportRecord(digest=str(a), run_id=str(b), rows=int(str(c))) for a, b, c in found), None)

    def write_record(self, session: Session, key: ExportKey, record: ExportRecord) -> None:
        """Write the export of an instance in place of the last one."""
        table = self.dialect.table(self.beside(RECORDS))
        session.execute(f"DELETE FROM {table} WHERE {self._is_key}", *key.values)
        session.execute(
            f"INSERT INTO {table} ({self.dialect.names(_RECORD)}) VALUES (?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP)",
            *key.values,
            record.digest,
            record.run_id,
            record.rows,
        )

    def drop(self, session: Session, name: str) -> None:
        """Drop a staging table; one that is gone is fine.

        Raises:
            ValueError: it is not the name of one.
        """
        if _NAME.fullmatch(name) is None:
            message = f"{name} is not a staging table"
            raise ValueError(message)
        if self.dialect.type in _LOCK_LIMITS:  # a dead run's statement may hold the table for as long as it works
            session.execute(_LOCK_LIMITS[self.dialect.type])
        session.execute(f"DROP TABLE IF EXISTS {self.dialect.table(self.beside(name))}")

    @property
    def _is_key(self) -> str:
        return " AND ".join(f"{self.dialect.quote(each)} = ?" for each in tuple(_RECORD)[:4])


def is_own(name: str) -> bool:
    """Return whether a table's name is one of those that feedctl uses."""
    return name.lower().startswith((RECORDS, _PREFIX))


def _place(name: RelationName) -> tuple[str | None, str]:
    return (name.parts[-2] if len(name.parts) > 1 else None, name.parts[-1])


_NO_TRANSACTIONS = """
SELECT 1 FROM information_schema.tables t JOIN information_schema.engines e ON e.engine = t.engine
WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ? AND e.transactions <> 'YES'"""
_LOCK_LIMITS = {
    DatasourceType.POSTGRES: "SET LOCAL lock_timeout = '20s'",
    DatasourceType.MYSQL: "SET SESSION lock_wait_timeout = 20",
}
_SCHEMAS = {DatasourceType.MYSQL: "DATABASE()"}
_RECORD: Mapping[str, str] = {
    "feed": "VARCHAR(120) NOT NULL",
    "cluster": "VARCHAR(120) NOT NULL",
    "instance_key": "VARCHAR(40) NOT NULL",
    "table_name": "VARCHAR(250) NOT NULL",
    "digest": "VARCHAR(64) NOT NULL",
    "run_id": "VARCHAR(40) NOT NULL",
    "rows": "BIGINT NOT NULL",
    "at": "TIMESTAMP NOT NULL",
}
"""Columns of `RECORDS`; the first four are its key."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedLoad:
    """Staged rows, and the merge of them into the table.

    Attributes:
        dialect: of the database.
        table: that the rows are merged into.
        staging: the staging table.
        columns: that the rows have.
        key: columns that identify a row; empty: of `LoadType.REPLACE`.
        type: of the merge.
        slice: of `LoadType.REPLACE`: values by column of the rows that are replaced.
    """

    dialect: Dialect
    table: TableDescription
    staging: RelationName
    columns: tuple[str, ...]
    type: LoadType
    key: tuple[str, ...] = ()
    slice: Mapping[str, Value]

    def create(self, session: Session) -> None:
        """Create the empty staging table."""
        types = {name: wide for name, (wide, _) in self._widened.items()}
        session.execute(self.dialect.staging_statement(self.staging, self.table.name, self.columns, types))

    def count(self, session: Session, where: str = "") -> int:
        """Return the number of staged rows."""
        ((found,),) = session.query(f"SELECT count(*) FROM {self.dialect.table(self.staging)}{where}")
        return int(str(found))

    def count_without_key(self, session: Session) -> int:
        """Return the number of staged rows that lack a value of the key."""
        missing = " OR ".join(f"{self.dialect.quote(each)} IS NULL" for each in self.key)
        return self.count(session, f" WHERE {missing}") if missing else 0

    def cut_columns(self, session: Session) -> tuple[str, ...]:
        """Return the columns that cannot keep a staged value as it is: the table would round or cut it."""
        found = []
        for name, (_, own) in self._widened.items():
            field = self.dialect.quote(name)
            if self.count(session, f" WHERE {field} <> CAST({field} AS {own})"):
                found.append(name)
        return tuple(found)

    @property
    def _widened(self) -> Mapping[str, tuple[str, str]]:
        kinds = {each.name: self.dialect.widened(each) for each in self.table.columns if each.name in self.columns}
        return {name: kind for name, kind in kinds.items() if kind is not None}

    def count_outside(self, session: Session) -> int:
        """Return the number of staged rows that are not of the slice."""
        return self.count(session) - self.count(session, self._of_slice) if self.slice else 0

    def duplicates(self, session: Session) -> Sequence[Row]:
        """Return some keys that several staged rows have, each with its number of rows."""
        if not self.key:
            return ()
        names = self.dialect.names(self.key)
        return session.query(
            f"SELECT {names}, count(*) FROM {self.dialect.table(self.staging)} "
            f"GROUP BY {names} HAVING count(*) > 1 ORDER BY {names} LIMIT {_EXAMPLES}"
        )

    def merge(self, session: Session) -> int:
        """Merge the staged rows; return how many rows of the table were updated or inserted."""
        own = (self.staging, self.table.name, self.columns)
        if self.type is LoadType.REPLACE:
            session.execute(f"DELETE FROM {self.dialect.table(self.table.name)}{self._of_slice}")
        if not self.count(session):
            return 0  # a statement that inserts nothing may be refused, for a column that the database fills
        if self.type is LoadType.REPLACE:
            return session.execute(self.dialect.insert_statement(*own))
        upsert = self.dialect.upsert_statement(*own, self.key)
        if self.type is LoadType.ALLOWINSERT and upsert is not None and self._is_unique:
            return session.execute(upsert)
        has_more = set(self.columns) - set(self.key)
        updated = session.execute(self.dialect.update_statement(*own, self.key)) if has_more else 0
        if self.type is LoadType.UPDATEONLY:
            return updated
        return updated + session.execute(self.dialect.insert_statement(*own, self.key))

    @property
    def _is_unique(self) -> bool:
        return any(set(each) == set(self.key) for each in self.table.unique_keys)

    @property
    def _of_slice(self) -> str:
        values = (f"{self.dialect.quote(name)} = {self.dialect.literal(value)}" for name, value in self.slice.items())
        return f" WHERE {' AND '.join(values)}"
