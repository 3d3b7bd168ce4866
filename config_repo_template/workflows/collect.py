"""Collects a day's counts: spark-submit workflows/collect.py INPUT_PATHS OUTPUT_PATH."""

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    paths, target = sys.argv[1].split(","), sys.argv[2]
    spark = SparkSession.builder.appName("collect").getOrCreate()
    spark.read.parquet(*paths).write.mode("overwrite").parquet(target)
