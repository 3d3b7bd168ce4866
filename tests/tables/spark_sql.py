"""Spark SQL on a metastore, in a process of its own: one Java knows one metastore."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

_SECONDS = 400


def spark_sql(metastore: str, statements: Sequence[str], *, queries: Sequence[str] = ()) -> list[list[str]]:
    """Run statements, then queries; the rows of each query as texts, sorted.

    Raises:
        AssertionError: one failed.
    """
    given = json.dumps({"metastore": metastore, "statements": list(statements), "queries": list(queries)})
    command = [sys.executable, "-m", "tests.tables.spark_sql"]
    ran = subprocess.run(command, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr[-6000:]
    rows: list[list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return rows


def _main() -> None:
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
    found = [sorted(str(row) for row in spark.sql(query).collect()) for query in given["queries"]]
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    _main()
