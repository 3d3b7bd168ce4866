"""Types of databases as types of Spark: kept exactly, or refused by name with the way out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolkit.entities.vocabulary import DatasourceType
from toolkit.errors import InvalidInput
from toolkit.jdbc.dialect import Dialect
from toolkit.jdbc.port import TableColumn

MOST_DIGITS = 38
"""A decimal of Spark has no more."""
_DECIMAL = re.compile(r"decimal\((?P<digits>\d+),(?P<scale>\d+)\)")
_WIDER = {"smallint": ("int", "bigint"), "int": ("bigint",), "float": ("double",), "date": ("timestamp_ntz",)}
_DIGITS = {"smallint": 5, "int": 10, "bigint": 19}


class UnsupportedTypes(InvalidInput):
    """Columns cannot be kept exactly; the message names each, and what to write instead."""

    def __init__(self, *, table: str, problems: Sequence[str]) -> None:
        self.table, self.problems = table, tuple(problems)
        super().__init__(f"table {table}: {'; '.join(problems)}")


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeRule:
    """Treatment of types of a database.

    Attributes:
        names: of the types; ``[]`` stands for all arrays.
        spark: type of Spark; ``decimal`` takes digits and scale of the column; empty: refused.
        unsigned: the same of an integer without a sign.
        cast: type of the database that the value is read as.
        check: condition of values that would change, with ``{}`` for the column.
        instead: types for `columns`, when the type is refused or too wide.
        why: reason of the refusal, or what is checked.
    """

    names: tuple[str, ...]
    spark: str = ""
    unsigned: str = ""
    cast: str | None = None
    check: str | None = None
    instead: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class MappedColumn:
    """A column as it is imported.

    Attributes:
        spark: type of Spark.
        cast: type of the database that it is read as; None: its own.
        check: SQL condition of rows whose value would change; None: every value is kept.
    """

    name: str
    spark: str
    cast: str | None = None
    check: str | None = None


_UNFIT = "infinity and years outside 1 to 9999 fail the import"
_ZERO = "a zero date fails the import"
_POSTGRES_DAY = "NOT isfinite({0}) OR {0} < DATE '0001-01-01' OR {0} > DATE '9999-12-31'"
_POSTGRES_TIME = "NOT isfinite({0}) OR {0} < TIMESTAMP '0001-01-02' OR {0} >= TIMESTAMP '9999-12-31'"
_MYSQL_DAY = "YEAR({0}) = 0 OR MONTH({0}) = 0 OR DAY({0}) = 0"
_NUMERIC_CHECK = "CAST({0} AS text) IN ('NaN', 'Infinity', '-Infinity')"
_SHAPES = (
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    *("geometrycollection", "geomcollection", "vector"),
)

RULES: Mapping[DatasourceType, tuple[TypeRule, ...]] = {
    DatasourceType.POSTGRES: (
        TypeRule(names=("smallint",), spark="smallint"),
        TypeRule(names=("integer",), spark="int"),
        TypeRule(names=("bigint",), spark="bigint"),
        TypeRule(names=("boolean",), spark="boolean"),
        TypeRule(names=("real",), spark="float"),
        TypeRule(names=("double precision",), spark="double"),
        TypeRule(
            names=("numeric",),
            spark="decimal",
            check=_NUMERIC_CHECK,
            instead=("decimal(38,10)", "string"),
            why="NaN and infinity fail the import; without a precision, or with more than 38 digits, it is refused",
        ),
        TypeRule(names=("text", "character varying", "character", "name"), spark="string"),
        TypeRule(
            names=("uuid", "json", "jsonb", "xml", "enum", "inet", "cidr", "macaddr"), spark="string", cast="text"
        ),
        TypeRule(names=("bytea",), spark="binary"),
        TypeRule(names=("date",), spark="date", check=_POSTGRES_DAY, why=_UNFIT),
        TypeRule(names=("timestamp without time zone",), spark="timestamp_ntz", check=_POSTGRES_TIME, why=_UNFIT),
        TypeRule(names=("timestamp with time zone",), spark="timestamp", check=_POSTGRES_TIME, why=_UNFIT),
        TypeRule(
            names=("time without time zone", "time with time zone", "interval"),
            instead=("string",),
            why="Spark has no such type, and makes a timestamp of 1970 of it",
        ),
        TypeRule(names=("money",), instead=("string",), why="its text depends on the locale of the server"),
        TypeRule(names=("bit", "bit varying"), instead=("string",), why="Spark has no such type"),
        TypeRule(names=("[]",), instead=("string",), why="arrays lose their dimensions and bounds"),
    ),
    DatasourceType.MYSQL: (
        TypeRule(names=("tinyint",), spark="smallint", unsigned="smallint"),
        TypeRule(names=("smallint", "year"), spark="smallint", unsigned="int"),
        TypeRule(names=("mediumint",), spark="int", unsigned="int"),
        TypeRule(names=("int",), spark="int", unsigned="bigint"),
        TypeRule(names=("bigint",), spark="bigint", unsigned="decimal(20,0)"),
        TypeRule(
            names=("decimal",),
            spark="decimal",
            unsigned="decimal",
            instead=("decimal(38,10)", "string"),
            why="with more than 38 digits it is refused",
        ),
        TypeRule(names=("float",), spark="double", unsigned="double", cast="DOUBLE", why="as a float, digits are lost"),
        TypeRule(names=("double",), spark="double", unsigned="double"),
        TypeRule(
            names=("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json", "uuid"),
            spark="string",
        ),
        TypeRule(names=("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), spark="binary"),
        TypeRule(names=("date",), spark="date", check=_MYSQL_DAY, why=_ZERO),
        TypeRule(names=("datetime",), spark="timestamp_ntz", check=_MYSQL_DAY, why=_ZERO),
        TypeRule(names=("timestamp",), spark="timestamp", check=_MYSQL_DAY, why=_ZERO),
        TypeRule(
            names=("time",), instead=("string",), why="Spark has no such type, and makes a timestamp of 1970 of it"
        ),
        TypeRule(names=("bit",), why="Spark has no such type; a boolean is tinyint(1)"),
        TypeRule(names=_SHAPES, why="its bytes are no text"),
    ),
}
"""Rules by type of database; a column type without a rule is refused, and can be read as string."""

_STANDARD = (
    TypeRule(names=("smallint",), spark="smallint"),
    TypeRule(names=("integer", "int"), spark="int"),
    TypeRule(names=("bigint",), spark="bigint"),
    TypeRule(names=("numeric", "decimal"), spark="decimal", instead=("decimal(38,10)", "string")),
    TypeRule(names=("character varying", "varchar", "char", "character", "text"), spark="string"),
    TypeRule(names=("date",), spark="date"),
)
TEXTS = {DatasourceType.POSTGRES: "text", DatasourceType.MYSQL: "CHAR"}
"""Types of texts without a limit."""


def map_columns(
    dialect: Dialect, table: str, columns: Sequence[TableColumn], wanted: Mapping[str, str]
) -> tuple[MappedColumn, ...]:
    """Return the columns as they are imported.

    Args:
        dialect: of the database.
        table: its name, for messages.
        columns: those that are imported.
        wanted: types by `columns` of the import; names that are not imported are ignored.

    Raises:
        UnsupportedTypes: naming each column that cannot be kept exactly.
    """
    found = [_mapped(dialect, each, wanted.get(each.name)) for each in columns]
    problems = [each for each in found if isinstance(each, str)]
    if problems:
        raise UnsupportedTypes(table=table, problems=problems)
    return tuple(each for each in found if isinstance(each, MappedColumn))


def _mapped(dialect: Dialect, column: TableColumn, wanted: str | None) -> MappedColumn | str:
    rule = _rule(dialect.type, column.type)
    own = _own(rule, column)
    is_text = own != "binary" if own else bool(rule.instead)  # a cast of other bytes changes them
    if wanted == "string" and is_text:
        as_text = None if own == "string" else TEXTS.get(dialect.type, "VARCHAR(4000)")
        return MappedColumn(name=column.name, spark="string", cast=as_text)
    if wanted is not None and wanted != own and (own or rule.instead):
        return _converted(dialect, column, own, rule, wanted)
    if not own:
        instead = " or ".join(f'columns: {{{column.name}: "{each}"}}' for each in rule.instead)
        way = f"write {instead}, or exclude it" if instead else "exclude it"
        return f"the column {column.name} of type {column} cannot be kept exactly ({rule.why}): {way}"
    check = None if rule.check is None else f"({rule.check.format(dialect.quote(column.name))})"
    return MappedColumn(name=column.name, spark=own, cast=rule.cast, check=check)


def _converted(dialect: Dialect, column: TableColumn, own: str, rule: TypeRule, wanted: str) -> MappedColumn | str:
    decimal = _DECIMAL.fullmatch(wanted)
    is_number = own in _DIGITS or rule.spark == "decimal" or own.startswith("decimal")
    if decimal is not None and is_number and int(decimal["digits"]) <= MOST_DIGITS:
        digits, scale, name = int(decimal["digits"]), int(decimal["scale"]), dialect.quote(column.name)
        wide = f"ABS({name}) >= 1{'0' * (digits - scale)}"
        checks = [rule.check.format(name)] if rule.check else []
        changes = " OR ".join([*checks, wide, f"{name} <> ROUND({name}, {scale})"])
        return MappedColumn(name=column.name, spark=wanted, cast=f"DECIMAL({digits},{scale})", check=f"({changes})")
    if wanted in _WIDER.get(own, ()):
        check = None if rule.check is None else f"({rule.check.format(dialect.quote(column.name))})"
        return MappedColumn(name=column.name, spark=wanted, cast=rule.cast, check=check)
    return f"the column {column.name} of type {column} cannot be read as {wanted}: write string, or remove it"


def _rule(kind: DatasourceType, name: str) -> TypeRule:
    name = "[]" if name.endswith("[]") else name
    unknown = TypeRule(names=(name,), instead=("string",), why="feedctl does not know the type")
    return next((each for each in RULES.get(kind, _STANDARD) if name in each.names), unknown)


def _own(rule: TypeRule, column: TableColumn) -> str:
    spark = rule.unsigned if column.unsigned else rule.spark
    if spark != "decimal":
        return spark
    digits, scale = column.size or 0, column.scale or 0
    return f"decimal({digits},{scale})" if 0 < digits <= MOST_DIGITS and 0 <= scale <= digits else ""
