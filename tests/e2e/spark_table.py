"""Counts the rows of an Iceberg table by Spark, and adds one; a process of its own, whose class path has Iceberg."""

from __future__ import annotations

import json
import sys

from pyspark.sql import SparkSession


def main(jars: str, type_: str, uri: str, warehouse: str) -> None:
    """Write what Spark finds before it adds a row, as JSON to standard output."""
    catalog = "spark.sql.catalog.feedctl"
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jars).config("spark.ui.enabled", "false")
    settings = {
        "spark.sql.shuffle.partitions": "1",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": type_,
        f"{catalog}.uri": uri,
        f"{catalog}.warehouse": warehouse,
        f"{catalog}.jdbc.schema-version": "V1",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    table = spark.table("feedctl.web.clicks")
    rows = sorted((row.a, row.hour) for row in table.collect())
    files = spark.table("feedctl.web.clicks.files").count()
    summary = spark.table("feedctl.web.clicks.snapshots").orderBy("committed_at").collect()[-1].summary
    spark.sql("INSERT INTO feedctl.web.clicks VALUES (9, '09')")
    found = {"rows": rows, "files": files, "transactions": summary["feedctl.transactions"]}
    sys.stdout.write(f"{json.dumps(found)}\n")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
