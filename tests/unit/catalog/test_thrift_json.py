"""Tests of what is read out of the metastore's own structs."""

from __future__ import annotations

from dataclasses import replace

from tests.tables.tables import of_spark, table_of
from toolkit.catalog.adapters.thrift_json import directories_in, table_struct
from toolkit.catalog.model import StorageDescriptor, TableName


def test_directories_are_those_of_tables_also_where_spark_keeps_another() -> None:
    table = table_of(TableName("web", "clicks"), "file:/data/clicks")
    spark = of_spark(replace(table, name=TableName("web", "spark")), "file:/wh/spark-__PLACEHOLDER__")
    view = replace(table, name=TableName("web", "v"), storage=StorageDescriptor())
    structs = [table_struct(each) for each in (table, spark, view)]
    found = directories_in({"1": {"lst": ["rec", len(structs), *structs]}})
    assert found == {"clicks": "file:/data/clicks", "spark": "file:/data/clicks"}
