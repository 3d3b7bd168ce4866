"""Tables of every format between two metastores and two HDFS: Spark SQL finds the same rows in both."""
# ruff: noqa: S608 - the texts are this test's own

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.integration.replications import End
from tests.integration.table_copies import Side, TableCopies
from tests.tables.databases import create_database
from tests.tables.spark_sql import spark_sql
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.metastore import HiveMetastoreServer

pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(1800)]
_COLUMNS = "(id BIGINT, what STRUCT<a: INT, b: STRING>, price DECIMAL(10, 2), at TIMESTAMP)"
_ROWS = """SELECT id, named_struct('a', CAST(id AS INT), 'b', CONCAT('é ', id)), CAST(id AS DECIMAL(10, 2)) / 3,
TIMESTAMP '2026-03-01 10:00:00'"""
_TABLES: Mapping[str, tuple[str, str]] = {
    "t_orc": (f"{_COLUMNS} PARTITIONED BY (ds STRING, n INT) STORED AS ORC", "CAST(id % 2 AS INT)"),
    "t_parquet": (f"{_COLUMNS} PARTITIONED BY (ds STRING, d DATE) STORED AS PARQUET", "DATE '2026-03-05'"),
    "t_avro": (f"{_COLUMNS} PARTITIONED BY (ds STRING) STORED AS AVRO", ""),
    "t_sequence": (f"{_COLUMNS} PARTITIONED BY (ds STRING) STORED AS SEQUENCEFILE", ""),
    "t_text": (
        f"{_COLUMNS} PARTITIONED BY (ds STRING, region STRING) STORED AS TEXTFILE",
        "CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a/b=c %20' WHEN 2 THEN 'Zoë d' ELSE 'us' END",
    ),
    "t_bucketed": (
        f"{_COLUMNS} PARTITIONED BY (ds STRING) CLUSTERED BY (id) SORTED BY (id) INTO 2 BUCKETS STORED AS ORC",
        "",
    ),
    "t_spark": (f"{_COLUMNS} USING parquet PARTITIONED BY (ds, region)", "'us'"),
}
"""Of each table: how it is made, and the values of its last key."""


def _statements(database: str, outside: str) -> list[str]:
    made: list[str] = []
    for table, (shape, key) in _TABLES.items():
        columns = shape.replace(_COLUMNS, f"{_COLUMNS[:-1]}, ds STRING, region STRING)") if "USING" in shape else shape
        made.append(f"CREATE TABLE {database}.{table} {columns}")
        keys = f"IF(id < 4, '2026-03-01', '2026-03-02'){', ' if key else ''}{key}"
        made.append(f"INSERT INTO {database}.{table} {_ROWS}, {keys} FROM range(8)")
    text = f"{database}.t_text"
    return [
        *made,
        f"ALTER TABLE {text} ADD PARTITION (ds='2026-03-02', region='out') LOCATION '{outside}'",
        f"INSERT INTO {text} PARTITION (ds='2026-03-02', region='out') {_ROWS} FROM range(3)",
        f"ALTER TABLE {database}.t_orc ADD COLUMNS (later STRING)",
        f"CREATE TABLE {database}.t_plain {_COLUMNS} STORED AS ORC",
        f"INSERT INTO {database}.t_plain {_ROWS} FROM range(8)",
        f"CREATE VIEW {database}.t_view AS SELECT id, ds, '{database}.x' AS it FROM {database}.t_orc",
    ]


@pytest.fixture
def copies(
    metastore: HiveMetastoreServer,
    other_metastore: HiveMetastoreServer,
    hdfs: HdfsCluster,
    other_hdfs: HdfsCluster,
    tmp_path: Path,
) -> TableCopies:
    """Two metastores, each with an HDFS of its own."""
    sides = []
    for server, cluster in ((metastore, hdfs), (other_metastore, other_hdfs)):
        path, database = f"/tables/{uuid4().hex}", f"test_{uuid4().hex[:12]}"
        hdfs_native.Client(cluster.uri).mkdirs(path, permission=0o777, create_parent=True)
        create_database(server.spec, database, f"{cluster.uri}{path}")
        sides.append(Side(registry=server.uri, end=End(uri=f"{cluster.uri}{path}"), database=database))
    feeds = (*_TABLES, "t_plain", "t_view")
    return TableCopies(directory=tmp_path, source=sides[0], target=sides[1], feeds=feeds)


def test_spark_finds_the_same_rows_in_the_copies_of_all_formats(copies: TableCopies) -> None:
    source, target = copies.source, copies.target
    again = f"{target.database}_again"
    create_database(target.spec, again, f"{target.end.uri}/again")
    partitioned = list(_TABLES)
    whole = [*partitioned, "t_plain", "t_view"]
    kept = {table: f"file://{copies.directory}/kept/{table}" for table in whole}
    found = spark_sql(
        source.registry,
        _statements(source.database, f"{source.end.uri}/outside"),
        queries=[f"SELECT * FROM {source.database}.t_view"],
        kept={kept[table]: f"SELECT * FROM {source.database}.{table}" for table in whole[:-1]},
    )
    code, result = copies.replicated(*(word for table in partitioned for word in ("--feed", table)))
    assert code == 0, result
    exports = f"{source.end.uri}/exports"
    for table in whole:
        arguments = ("--feed", table, "--whole-table")
        code, result = copies.exported(f"{exports}/{table}", *arguments)
        assert code == 0, (table, result)
    renamed = copies.renamed(again)
    for table in whole:
        code, result = renamed.imported(f"{exports}/{table}", "--feed", table, "--whole-table")
        assert code == 0, (table, result)
    equal = [(kept[table], f"SELECT * FROM {target.database}.{table}") for table in partitioned]
    equal += [(kept[table], f"SELECT * FROM {again}.{table}") for table in whole[:-1]]
    view = spark_sql(target.registry, queries=[f"SELECT * FROM {again}.t_view"], equal=equal)
    assert view in (found, [[row.replace(source.database, again) for row in rows] for rows in found])
