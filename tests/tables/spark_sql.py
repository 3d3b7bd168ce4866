"""Spark SQL on a metastore, in a process of its own: one Java knows one metastore."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

_SECONDS = 1200  # with many other processes on two cores


def spark_sql(
    metastore: str,
    statements: Sequence[str] = (),
    *,
    queries: Sequence[str] = (),
    kept: Mapping[str, str] = MappingProxyType({}),
    equal: Sequence[tuple[str, str]] = (),
) -> list[list[str]]:
    """Run statements, then queries; the rows of each query as texts, sorted.

    Args:
        metastore: its end point.
        statements: run first.
        queries: whose rows are wanted.
        kept: directories that get what queries find.
        equal: a directory that another session has kept the rows of a query in, and the query that must find the same.

    Raises:
        AssertionError: one failed, or found something else.
    """
    given = json.dumps(
        {
            "metastore": metastore,
            "statements": list(statements),
            "queries": list(queries),
            "kept": dict(kept),
            "equal": list(equal),
        }
    )
    command = [sys.executable, "-m", "tests.tables.spark_sql"]
    ran = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr[-6000:]
    rows: list[list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return rows


def _main() -> None:
    from chispa import assert_df_equality  # noqa: PLC0415 - in this process alone
    from pyspark.sql import SparkSession  # noqa: PLC0415 - in this process alone

    given: dict[str, Any] = json.load(sys.stdin)
    settings = {
        "spark.hadoop.hive.metastore.uris": given["metastore"],
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.hadoop.hive.enforce.bucketing": "false",
        "spark.hadoop.hive.enforce.sorting": "false",
        "spark.hadoop.dfs.replication": "1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    for statement in given["statements"]:
        spark.sql(statement)
    for directory, query in given["kept"].items():
        spark.sql(query).write.parquet(directory)
    for directory, query in given["equal"]:
        assert_df_equality(spark.read.parquet(directory), spark.sql(query), ignore_nullable=True, ignore_row_order=True)
    found = [sorted(str(row) for row in spark.sql(query).collect()) for query in given["queries"]]
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    _main()
