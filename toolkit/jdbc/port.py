"""The port of a database: what it has, one consistent view of it, and transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Protocol, TypeAlias

from toolkit.entities.vocabulary import DatasourceType

Value: TypeAlias = bool | int | Decimal | str | bytes | date | datetime | None
"""A value of a row or a parameter. An aware `datetime` is a moment, a naive one a local time. What none of these
types holds (a float, `infinity` as a date, an interval) is the database's own text."""
Row: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Secret:
    """A password; its text never shows it."""

    text: str = field(repr=False)

    def __str__(self) -> str:
        return "***"


@dataclass(frozen=True, kw_only=True, slots=True)
class JdbcAccess:
    """Everything that opens connections, here or in Spark.

    Attributes:
        name: the datasource's, for messages.
        url: the JDBC URL, without user and password.
        properties: connection properties without user and password.
        init_statements: statements that each session executes first, so that values mean the same in all of them.
    """

    name: str
    type: DatasourceType
    url: str
    driver_class: str
    jars: tuple[str, ...] = ()
    user: str | None = None
    password: Secret | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    init_statements: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerInfo:
    """Server behind a datasource.

    Attributes:
        product: its own name.
        user: the session's user, as the server knows it.
        database: the current database.
        abilities: what the account may do there, for people: ``create tables in public``, ``read only``.
    """

    product: str
    version: str
    user: str
    database: str
    abilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationName:
    """Name of a table, part by part, in the database's own case; never more than identifiers."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class TableColumn:
    """A column of a table.

    Attributes:
        type: the database's name of the type, in lower case and without its length.
        size: characters, digits or bits; None: the type has none, or no limit is declared.
        scale: digits behind the point.
        unsigned: an integer without a sign.
    """

    name: str
    type: str
    size: int | None = None
    scale: int | None = None
    unsigned: bool = False

    def __str__(self) -> str:
        inner = ",".join(str(each) for each in (self.size, self.scale) if each is not None)
        return f"{self.type}{f'({inner})' if inner else ''}{' unsigned' if self.unsigned else ''}"


@dataclass(frozen=True, kw_only=True, slots=True)
class TableDescription:
    """Columns of a table in its own order, and the names of its keys.

    Attributes:
        primary_key: columns of the primary key; empty: there is none.
        unique_keys: columns of each unique constraint or unique index of plain columns, the primary key first.
    """

    name: RelationName
    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()

    def column(self, name: str) -> TableColumn | None:
        """Return a column by its exact name."""
        return next((each for each in self.columns if each.name == name), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class ValueRange:
    """Rows by the value of a column: above or from `low`, up to or below `high`; None: no bound on that side.

    Rows without a value are outside.
    """

    column: str
    low: Value = None
    high: Value = None
    includes_low: bool = True
    includes_high: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RowQuery:
    """Rows and columns of a table.

    Attributes:
        columns: in the order of the result; not empty.
        casts: by column, the type of the database that it is read as (`dialect`'s own text, never a user's).
    """

    table: RelationName
    columns: tuple[str, ...]
    ranges: tuple[ValueRange, ...] = ()
    casts: Mapping[str, str] = field(default_factory=dict)


class DatabaseSnapshot(Protocol):
    """One consistent view of the database, read only, until its context ends.

    Attributes:
        id: the database's name of the snapshot, by which other sessions share it; None: they cannot.
        init_statement: what another session executes first to see this snapshot; None: others see a later state.
    """

    @property
    def id(self) -> str | None: ...  # noqa: D102 - see the class

    @property
    def init_statement(self) -> str | None: ...  # noqa: D102

    def describe(self, table: RelationName) -> TableDescription:
        """Return the definition of a table, which nobody alters until the snapshot ends.

        Raises:
            NoSuchRelation: there is none, or the user sees none.
        """
        ...

    def count(self, rows: RowQuery, *conditions: str) -> tuple[int, ...]:
        """Return the exact number of rows, then how many of them meet each condition, by one look at the table."""
        ...

    def estimate(self, rows: RowQuery) -> int | None:
        """Return the planner's estimate of the number of rows; None: the database gives none."""
        ...

    def bounds(self, rows: RowQuery, column: str) -> tuple[Value, Value] | None:
        """Return least and greatest value of a column among the rows; None: no row has a value."""
        ...

    def splits(self, rows: RowQuery, column: str, parts: int) -> tuple[str, ...]:
        """Return SQL conditions that divide the rows: each row meets exactly one, also without a value.

        There are at most so many, of about equal size; one alone means that dividing does not pay.

        Raises:
            NoSuchField: the table has no such column.
        """
        ...

    def select_text(self, rows: RowQuery) -> str:
        """Return the SQL text of the query, with values as literals, as Spark needs it."""
        ...


class Session(Protocol):
    """A transaction: committed when its context ends, rolled back when it ends by an exception."""

    def query(self, statement: str, *values: Value) -> Sequence[Row]:
        """Return all rows of a statement; each ``?`` is one of the values."""
        ...

    def execute(self, statement: str, *values: Value) -> int:
        """Execute a statement and return the number of rows that it changed."""
        ...

    def describe(self, table: RelationName) -> TableDescription:
        """Return the definition of a table.

        Raises:
            NoSuchRelation: there is none, or the user sees none.
        """
        ...


class Database(Protocol):
    """An open datasource. All methods raise the errors of `toolkit.jdbc.errors`.

    Attributes:
        access: how Spark opens connections to it.
    """

    @property
    def access(self) -> JdbcAccess: ...  # noqa: D102

    def server(self) -> ServerInfo:
        """Return what the server says of itself and of the account."""
        ...

    def snapshot(self) -> AbstractContextManager[DatabaseSnapshot]:
        """Take a snapshot, read only."""
        ...

    def transaction(self, *, read_only: bool = False) -> AbstractContextManager[Session]:
        """Begin a transaction that may write, or one in which the database refuses each change."""
        ...

    def close(self) -> None:
        """End its connections."""
        ...
