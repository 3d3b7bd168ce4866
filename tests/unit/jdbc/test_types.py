from __future__ import annotations

import pytest

from toolkit.entities import DatasourceType
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.port import TableColumn
from toolkit.jdbc.types import RULES, MappedColumn, UnsupportedTypes, map_columns

POSTGRES, MYSQL = dialect(DatasourceType.POSTGRES), dialect(DatasourceType.MYSQL)


def mapped(column: TableColumn, wanted: str | None = None, own: object = POSTGRES) -> MappedColumn:
    (found,) = map_columns(own, "t", [column], {} if wanted is None else {column.name: wanted})  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("column", "spark"),
    [
        (TableColumn(name="c", type="integer"), "int"),
        (TableColumn(name="c", type="numeric", size=12, scale=3), "decimal(12,3)"),
        (TableColumn(name="c", type="numeric", size=38, scale=0), "decimal(38,0)"),
        (TableColumn(name="c", type="timestamp without time zone", size=6), "timestamp_ntz"),
        (TableColumn(name="c", type="timestamp with time zone"), "timestamp"),
        (TableColumn(name="c", type="uuid"), "string"),
    ],
)
def test_a_type_becomes_that_of_spark(column: TableColumn, spark: str) -> None:
    assert mapped(column).spark == spark


@pytest.mark.parametrize(
    ("column", "way"),
    [
        (TableColumn(name="price", type="numeric"), 'columns: {price: "decimal(38,10)"}'),
        (TableColumn(name="price", type="numeric", size=39, scale=2), 'columns: {price: "string"}'),
        (TableColumn(name="price", type="numeric", size=3, scale=-2), 'columns: {price: "string"}'),
        (TableColumn(name="at", type="time without time zone"), 'columns: {at: "string"}'),
        (TableColumn(name="tags", type="text[]"), 'columns: {tags: "string"}'),
        (TableColumn(name="place", type="geometry"), 'columns: {place: "string"}'),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name_with_the_way_out(column: TableColumn, way: str) -> None:
    with pytest.raises(UnsupportedTypes) as raised:
        mapped(column)
    assert f"the column {column.name} of type" in str(raised.value)
    assert way in str(raised.value)


def test_a_decimal_that_is_asked_for_is_checked_for_values_that_would_be_rounded() -> None:
    found = mapped(TableColumn(name="price", type="numeric"), "decimal(20,2)")
    assert found.spark == "decimal(20,2)"
    assert found.check is not None
    assert 'ROUND("price", 2)' in found.check
    assert f"1{'0' * 18}" in found.check


def test_all_that_is_refused_is_named_at_once() -> None:
    columns = [
        TableColumn(name="a", type="money"),
        TableColumn(name="b", type="integer"),
        TableColumn(name="c", type="interval"),
    ]
    with pytest.raises(UnsupportedTypes) as raised:
        map_columns(POSTGRES, "t", columns, {})
    assert len(raised.value.problems) == 2


def test_a_type_that_cannot_be_asked_for_is_refused() -> None:
    with pytest.raises(UnsupportedTypes, match="cannot be read as boolean"):
        mapped(TableColumn(name="c", type="integer"), "boolean")


@pytest.mark.parametrize(
    ("kind", "unsigned", "spark"),
    [("tinyint", False, "smallint"), ("int", True, "bigint"), ("bigint", True, "decimal(20,0)"), ("int", False, "int")],
)
def test_integers_of_mysql_have_room_without_a_sign(kind: str, unsigned: bool, spark: str) -> None:  # noqa: FBT001
    assert mapped(TableColumn(name="c", type=kind, unsigned=unsigned), own=MYSQL).spark == spark


def test_no_type_has_two_rules() -> None:
    for rules in RULES.values():
        names = [name for rule in rules for name in rule.names]
        assert len(names) == len(set(names))
