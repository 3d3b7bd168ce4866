"""All queries of TPC-DS, as the tests of Apache Spark 4.0.1 have them (Apache License 2.0; 1.4 and 2.7)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import pytest

from toolkit.lineage.columns import Schemas
from toolkit.lineage.statements import statement_lineage

TABLES = {
    "c": "customer",
    "ca": "customer_address",
    "cc": "call_center",
    "cd": "customer_demographics",
    "cp": "catalog_page",
    "cr": "catalog_returns",
    "cs": "catalog_sales",
    "d": "date_dim",
    "hd": "household_demographics",
    "i": "item",
    "ib": "income_band",
    "inv": "inventory",
    "p": "promotion",
    "r": "reason",
    "s": "store",
    "sm": "ship_mode",
    "sr": "store_returns",
    "ss": "store_sales",
    "t": "time_dim",
    "w": "warehouse",
    "web": "web_site",
    "wp": "web_page",
    "wr": "web_returns",
    "ws": "web_sales",
}
"""By the prefix of its columns, which is how the queries name all of them."""
NAMED = ("tpcds/q1.sql", "tpcds/q14a.sql", "tpcds/q64.sql", "tpcds/q67.sql", "tpcds-v2.7.0/q5a.sql")
"""A few for each run of the tests; all of them take seconds."""


@cache
def queries() -> Mapping[str, str]:
    """The queries by their name."""
    with ZipFile(Path(__file__).with_name("tpcds.zip")) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@cache
def schemas() -> Schemas:
    """The columns that the queries name, by table."""
    columns = defaultdict(set)
    for text in queries().values():
        for found in re.finditer(r"\b([a-z]+)_\w+", text.lower()):
            if found[1] in TABLES and found[0] not in TABLES.values():
                columns[f"default.{TABLES[found[1]]}"].add(found[0])
    return Schemas(columns={table: tuple(sorted(names)) for table, names in columns.items()})


def test_there_are_all_queries() -> None:
    assert len(queries()) == 135
    assert len(schemas().columns) == 24


@pytest.mark.parametrize(
    "name", [each if each in NAMED else pytest.param(each, marks=pytest.mark.extended) for each in sorted(queries())]
)
def test_each_column_of_a_query_comes_from_columns_of_the_schema(name: str) -> None:
    (found,) = statement_lineage(f"CREATE TABLE target AS\n{queries()[name].strip().rstrip(';')}", schemas())

    assert found.unknown in {"", "a column has no name"}
    columns = {each.target.column for each in found.relations if each.target.column}
    assert columns or found.unknown
    read = {(each.source.table, each.source.column) for each in found.relations if each.source.column}
    assert read <= {(table, each) for table, names in schemas().columns.items() for each in names}


def test_the_sources_of_a_column_over_unions_of_three_channels_are_one_column_of_each() -> None:
    name = "tpcds/q5.sql"
    (found,) = statement_lineage(f"CREATE TABLE target AS\n{queries()[name].strip().rstrip(';')}", schemas())

    sales = {each.source.column for each in found.relations if each.target.column == "sales" and each.source.column}
    assert sales == {"ss_ext_sales_price", "cs_ext_sales_price", "ws_ext_sales_price"}
