"""docs/reference/database-types.md, from the rules of types."""

from __future__ import annotations

from collections.abc import Iterator

from reference_pages.markdown import code, codes, page, prose, table
from toolkit.entities import DatasourceType
from toolkit.jdbc.types import RULES, TypeRule

_INTRODUCTION = """
An import keeps each value exactly, or fails before it reads a row and names the column. The column `columns` of this
table is the way out: `columns: {price: "decimal(38,10)"}` in the `import` of the feed. A type that is not listed is
refused, and can be read as `string`.

Values that a type of Spark does not have are counted in the snapshot of the import. One of them fails the import, with
the number of rows.
"""
_TITLES = {DatasourceType.POSTGRES: "PostgreSQL", DatasourceType.MYSQL: "MariaDB and MySQL"}
_DECIMAL = "decimal(p,s)"


def databases_page() -> str:
    """The page."""
    blocks = [part for kind, rules in RULES.items() for part in (f"## {_TITLES[kind]}", _table(rules))]
    return page("Types of databases", _INTRODUCTION, *blocks)


def _table(rules: tuple[TypeRule, ...]) -> str:
    return table(("type", "type of Spark", "`columns`", "limits"), (list(_cells(each)) for each in rules))


def _cells(rule: TypeRule) -> Iterator[str]:
    yield codes("arrays" if each == "[]" else each for each in rule.names)
    spark, unsigned = (_DECIMAL if each == "decimal" else each for each in (rule.spark, rule.unsigned))
    more = f"; {code(unsigned)} without a sign" if unsigned and unsigned != spark else ""
    yield f"{code(spark)}{more}" if spark else "refused"
    yield codes(rule.instead)
    yield prose(rule.why)
