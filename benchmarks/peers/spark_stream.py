"""Appends the JSON files of a directory to an Iceberg table by Structured Streaming, and ends when all are in it."""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def main(jars: str, database: str, warehouse: str, source: str, checkpoint: str) -> None:
    """Run the stream to its end."""
    catalog = "spark.sql.catalog.feedctl"
    settings = {
        "spark.jars": jars,
        "spark.ui.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.iceberg.check-nullability": "false",  # columns of JSON may be null
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:{database}",
        f"{catalog}.warehouse": warehouse,
        f"{catalog}.jdbc.schema-version": "V1",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    rows = spark.readStream.schema("ts timestamp, word string").option("maxFilesPerTrigger", 20).json(source)
    stamped = rows.selectExpr("ts", "word", "date_format(ts, 'yyyy-MM-dd-HH') AS ds")
    stream = stamped.writeStream.format("iceberg").trigger(availableNow=True)
    stream.option("checkpointLocation", checkpoint).option("fanout-enabled", "true").toTable(
        "feedctl.web.clicks"
    ).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
