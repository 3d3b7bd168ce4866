"""Counts the rows of the demo's table by Spark, again and again, and says when the number has changed.

Ends with an error when a count is not what whole transactions give, or is less than one before.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

A_TRANSACTION = 100
CATALOG = "spark.sql.catalog.feedctl"


def main(demo: str, jars: str) -> int:
    """Count until the file ``stop`` is there; returns the exit code.

    Args:
        demo: directory of the demo.
        jars: of Iceberg.
    """
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jars).config("spark.ui.enabled", "false")
    settings = {
        CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.type": "jdbc",
        f"{CATALOG}.uri": f"jdbc:sqlite:{demo}/catalog.db?busy_timeout=10000",
        f"{CATALOG}.warehouse": f"file://{demo}/warehouse",
        f"{CATALOG}.jdbc.schema-version": "V1",
        f"{CATALOG}.cache-enabled": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    before, looks = -1, 0
    while True:
        is_last = Path(demo, "stop").exists()
        found = spark.sql("SELECT count(*) AS rows FROM feedctl.web.clicks").collect()[0].rows
        looks += 1
        if found % A_TRANSACTION or found < before:
            sys.stdout.write(f"look {looks}: {found} rows after {before}: a reader saw a part of a transaction\n")
            return 1
        if found != before:
            sys.stdout.write(f"look {looks}: {found:,} rows\n")
            sys.stdout.flush()
        before = found
        if is_last:
            sys.stdout.write(f"{looks} looks; each saw whole transactions alone\n")
            return 0
        time.sleep(0.2)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
