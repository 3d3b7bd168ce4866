"""Collects a day's counts: spark-submit workflows/collect.py COUNTS ... TARGET.

The paths and tables of all inputs and outputs come first, then what `args` of the step say.
"""

import sys

from pyspark.sql import SparkSession

if __name__ == "__main__":
    paths, target = sys.argv[1].split(","), sys.argv[-1]
    spark = SparkSession.builder.appName("collect").getOrCreate()
    spark.read.parquet(*paths).write.mode("overwrite").parquet(target)
