"""Tables, their formats and their statistics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tables.tables import TEXT, table_of
from toolkit.catalog.formats import TableFormat, table_format, unsupported_reason
from toolkit.catalog.model import Serde, Statistics, StorageDescriptor, TableName, without_statistics

_TABLE = table_of(TableName("Logs", "Clicks"), "hdfs://nn/clicks", ds="string")


def test_names_of_tables_are_one_whatever_their_case() -> None:
    assert TableName("Logs", "CLICKS") == TableName("logs", "clicks")
    assert str(_TABLE.name) == "logs.clicks"


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, TableFormat.HIVE),
        ({"table_type": "ICEBERG"}, TableFormat.ICEBERG),
        ({"table_type": "iceberg"}, TableFormat.ICEBERG),
        ({"storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"}, TableFormat.ICEBERG),
        ({"spark.sql.sources.provider": "DELTA"}, TableFormat.DELTA),
        ({"spark.sql.sources.provider": "hudi"}, TableFormat.HUDI),
        ({"transactional": "TRUE"}, TableFormat.ACID),
        ({"transactional": "true", "transactional_properties": "insert_only"}, TableFormat.ACID),
        ({"transactional": "false"}, TableFormat.HIVE),
        ({"storage_handler": "org.apache.hadoop.hive.hbase.HBaseStorageHandler"}, TableFormat.HANDLER),
        ({"spark.sql.sources.provider": "parquet", "spark.sql.sources.schema.numPartCols": "1"}, TableFormat.HIVE),
    ],
)
def test_the_parameters_say_who_knows_which_files_belong_to_a_table(
    parameters: dict[str, str], expected: TableFormat
) -> None:
    table = replace(_TABLE, parameters=parameters)
    assert table_format(table) is expected
    assert bool(unsupported_reason(table)) is (expected is not TableFormat.HIVE)


@pytest.mark.parametrize(
    ("input_format", "expected"),
    [
        ("org.apache.hudi.hadoop.HoodieParquetInputFormat", TableFormat.HUDI),
        ("com.uber.hoodie.hadoop.HoodieInputFormat", TableFormat.HUDI),
        ("io.delta.hive.HiveInputFormat", TableFormat.DELTA),
        ("org.apache.iceberg.mr.hive.HiveIcebergInputFormat", TableFormat.ICEBERG),
        ("org.apache.hadoop.hive.ql.io.orc.OrcInputFormat", TableFormat.HIVE),
    ],
)
def test_the_class_that_reads_files_says_so_too(input_format: str, expected: TableFormat) -> None:
    assert table_format(replace(_TABLE, storage=replace(TEXT, input_format=input_format))) is expected


def test_a_table_whose_partitions_only_spark_knows_is_left_alone() -> None:
    parameters = {"spark.sql.sources.provider": "parquet", "spark.sql.sources.schema.numPartCols": "1"}
    assert table_format(replace(_TABLE, keys=(), parameters=parameters)) is TableFormat.SPARK_OWN


def test_what_is_left_alone_is_said_with_what_to_use_instead() -> None:
    reason = unsupported_reason(replace(_TABLE, parameters={"table_type": "ICEBERG"}))
    assert "logs.clicks" in reason
    assert "expire_snapshots" in reason
    directories = replace(_TABLE, storage=replace(TEXT, as_directories=True))
    assert "STORED AS DIRECTORIES" in unsupported_reason(directories)


def test_the_directory_of_a_table_that_spark_made_is_where_spark_keeps_it() -> None:
    storage = StorageDescriptor(location="file:/w/t-__PLACEHOLDER__", serde=Serde(parameters={"path": "file:/d"}))
    of_spark = replace(_TABLE, storage=storage, parameters={"spark.sql.sources.provider": "json"})
    assert of_spark.location == "file:/d"
    assert replace(of_spark, parameters={}).location == "file:/w/t-__PLACEHOLDER__"
    assert replace(of_spark, storage=StorageDescriptor()).location == ""


def test_statistics_are_read_from_parameters_and_are_true_when_the_metastore_says_so() -> None:
    parameters = {"numFiles": "2", "numRows": "-1", "totalSize": "x", "COLUMN_STATS_ACCURATE": "true"}
    assert Statistics.of(parameters) == Statistics(files=2, accurate=True)
    assert Statistics.of({"COLUMN_STATS_ACCURATE": '{"BASIC_STATS": "true"}', "numRows": "3"}).accurate
    assert not Statistics.of({"COLUMN_STATS_ACCURATE": "false"}).accurate
    assert Statistics.of({}) == Statistics()


def test_without_statistics_everything_else_stays() -> None:
    parameters = {"numFiles": "2", "spark.sql.statistics.totalSize": "9", "COLUMN_STATS_ACCURATE": "true", "a": "b"}
    assert without_statistics(parameters) == {"a": "b"}
