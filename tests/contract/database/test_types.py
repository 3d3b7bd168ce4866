"""Values that Spark would change silently are counted before they are read."""

from __future__ import annotations

import pytest

from tests.contract.database.conftest import database_of
from tests.databases.datasources import DataServer, MariaDbData, PostgresData
from toolkit.jdbc.dialect import dialect, parse_table_name
from toolkit.jdbc.gateway import JdbcGateway
from toolkit.jdbc.port import RowQuery
from toolkit.jdbc.types import UnsupportedTypes, map_columns


def changed(data: DataServer, gateway: JdbcGateway, wanted: dict[str, str] | None = None) -> dict[str, int]:
    own, table = dialect(data.datasource.type), parse_table_name("t")
    with database_of(data, gateway).snapshot() as snapshot:
        described = snapshot.describe(table)
        columns = map_columns(own, "t", described.columns, wanted or {})
        checks = {each.name: each.check for each in columns if each.check is not None}
        casts = {each.name: each.cast for each in columns if each.cast is not None}
        names = tuple(each.name for each in columns)
        rows = RowQuery(table=table, columns=names, casts=casts)
        assert snapshot.estimate(rows) is not None  # the casts are SQL of this database
        _, *counts = snapshot.count(rows, *checks.values())
        return {name: count for name, count in zip(checks, counts, strict=True) if count}


def test_postgresql_values_without_a_place_in_spark_are_counted(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    postgres_data.run(
        "CREATE TABLE t (day date, wall timestamp, at timestamptz, n numeric(10,2), ok date, u uuid, j jsonb);"
        "INSERT INTO t VALUES ('infinity', '-infinity', 'infinity', 'NaN', '2026-03-29', NULL, '{}'),"
        " ('0044-03-15 BC', '10000-01-01', '2026-10-25 02:30+01', 1.23, '0001-01-01', NULL, NULL),"
        " (NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    assert changed(postgres_data, jdbc_gateway) == {"day": 2, "wall": 2, "at": 1, "n": 1}


def test_postgresql_digits_that_a_decimal_has_no_room_for_are_counted(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    postgres_data.run(
        "CREATE TABLE t (n numeric); INSERT INTO t VALUES (1.23), (1.234), (-1000), (999.99), (NULL), ('NaN')"
    )
    with pytest.raises(UnsupportedTypes, match="column n of type numeric"):
        changed(postgres_data, jdbc_gateway)
    assert changed(postgres_data, jdbc_gateway, {"n": "decimal(5,2)"}) == {"n": 3}
    assert changed(postgres_data, jdbc_gateway, {"n": "string"}) == {}


def test_mariadb_zero_dates_and_digits_are_counted(mariadb_data: MariaDbData, jdbc_gateway: JdbcGateway) -> None:
    mariadb_data.run(
        "SET sql_mode = ''; "
        "CREATE TABLE t (day DATE, wall DATETIME, n DECIMAL(65,30), f FLOAT, y YEAR, b BIGINT UNSIGNED);"
        "INSERT INTO t VALUES ('0000-00-00', '0000-00-00 00:00:00', 1.001, 1.1, 2026, 18446744073709551615),"
        " ('2026-03-29', '2026-03-29 02:30:00', 1.01, 1.1, 2026, 0), (NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    with pytest.raises(UnsupportedTypes, match="column n of type decimal"):
        changed(mariadb_data, jdbc_gateway)
    assert changed(mariadb_data, jdbc_gateway, {"n": "decimal(20,2)"}) == {"day": 1, "wall": 1, "n": 1}


def test_each_type_of_postgresql_is_described_by_the_name_that_rules_have(
    postgres_data: PostgresData, jdbc_gateway: JdbcGateway
) -> None:
    kinds = "smallint integer bigint boolean real float8 numeric(9,2) text varchar(3) char(3) name uuid json jsonb xml "
    kinds += "inet cidr macaddr bytea date timestamp timestamptz(3)"
    postgres_data.run("CREATE TYPE mood AS ENUM ('a'); CREATE DOMAIN small AS numeric(5,1);")
    columns = ", ".join(f"c{index} {kind}" for index, kind in enumerate(kinds.split()))
    postgres_data.run(f"CREATE TABLE t ({columns}, e mood, d small)")
    assert changed(postgres_data, jdbc_gateway) == {}


def test_bytes_of_mariadb_that_are_no_text_are_refused_as_text_too(
    mariadb_data: MariaDbData, jdbc_gateway: JdbcGateway
) -> None:
    mariadb_data.run("CREATE TABLE t (id INT, b BIT(8), p POINT, v INET6); INSERT INTO t VALUES (1, 129, NULL, '::1')")
    with pytest.raises(UnsupportedTypes, match=r"column b of type bit\(8\) .*exclude it; the column p of type point"):
        changed(mariadb_data, jdbc_gateway, {"b": "string", "p": "string", "v": "string"})
