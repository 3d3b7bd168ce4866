"""Columns that tables share, and column types that SQLite and PostgreSQL store differently."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa
from sqlalchemy.types import TypeDecorator, TypeEngine
from typing_extensions import override

if TYPE_CHECKING:
    from sqlalchemy import Dialect


E = TypeVar("E", bound=StrEnum)

Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""A 64-bit number; SQLite counts rows up by itself only for the type INTEGER."""

_TEXT_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


class UtcTime(TypeDecorator[datetime]):
    """An instant with microseconds: timestamptz on PostgreSQL, text of fixed width that sorts by time on SQLite."""

    impl = sa.String(27)
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime]:
        is_sqlite = dialect.name == "sqlite"
        return dialect.type_descriptor(self.impl_instance if is_sqlite else sa.DateTime(timezone=True))

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> object:
        """Refuse a naive time with ValueError."""
        if value is None:
            return None
        if value.tzinfo is None:
            message = f"a naive time has no place in the ledger: {value!r}"
            raise ValueError(message)
        return _as_text(value) if dialect.name == "sqlite" else value.astimezone(UTC)

    @override
    def process_result_value(self, value: object, dialect: Dialect) -> datetime | None:
        del dialect
        if isinstance(value, str):
            return datetime.fromisoformat(value)  # a tenth of what strptime takes, and status reads thousands
        return value.astimezone(UTC) if isinstance(value, datetime) else None


@lru_cache(maxsize=64)
def _as_text(value: datetime) -> str:
    """Convert an instant to text; cached, since all rows of one statement have the same few instants."""
    return value.astimezone(UTC).strftime(_TEXT_FORMAT)


class UnknownWord(ValueError):  # noqa: N818 - named for what was found
    """A word in the ledger that its closed set does not have.

    Args:
        word: as it was found.
        kind: the closed set.
    """

    def __init__(self, *, word: str, kind: type[StrEnum]) -> None:
        self.word, self.kind = word, kind
        super().__init__(f"{word!r} as a {kind.__name__}, expected one of {', '.join(kind)}")


class Choice(TypeDecorator[E]):
    """A column of a closed set's words, kept as text; the code decides which words there are, and not the database.

    A check constraint would make each new word a migration that rewrites the table on SQLite.

    Args:
        kind: the closed set.
        length: of its longest word, at most.
    """

    impl = sa.String
    cache_ok = True

    def __init__(self, kind: type[E], length: int = 16) -> None:
        super().__init__(length)
        self.kind, self.length = kind, length

    @override
    def process_bind_param(self, value: E | str | None, dialect: Dialect) -> str | None:
        """Refuse a word outside the closed set with ValueError."""
        del dialect
        return None if value is None else self.kind(value).value

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> E | None:
        """Raise UnknownWord for a word outside the closed set, which another program may have written."""
        del dialect
        try:
            return None if value is None else self.kind(value)
        except ValueError:
            raise UnknownWord(word=value or "", kind=self.kind) from None


def is_one_of(column: sa.ColumnElement[E], *values: E) -> sa.ColumnElement[bool]:
    """Return whether a column of `Choice` has one of these values, which stand in the statement itself.

    A database uses a partial index only where it can see at planning that the statement asks for nothing else.
    """
    written = [sa.literal_column(f"'{value.value}'", column.type) for value in values]
    return column == written[0] if len(written) == 1 else column.in_(written)


metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Metadata of the whole ledger; every constraint has a name, so that migrations can speak of it."""


def partial_unique(name: str, *columns: str, where: str) -> sa.Index:
    """A unique index over some of the rows, on both databases."""
    return sa.Index(name, *columns, unique=True, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def partial_index(name: str, *columns: str, where: str) -> sa.Index:
    """An index over some of the rows, so that it stays small while the table grows."""
    return sa.Index(name, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
