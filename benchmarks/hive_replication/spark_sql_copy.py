"""A table copied by Spark SQL and DistCp: `spark_sql_copy.py JSON`; prints seconds, at most those it may take.

That is `CREATE TABLE LIKE`, DistCp of all files in a process of its own, and `MSCK REPAIR TABLE`, in a session that is
up. Of DistCp's process its own seconds count, without those of its JVM's start; they are in the process's whole.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from pyspark.sql import SparkSession


def main() -> int:
    """0."""
    given = json.loads(sys.argv[1])
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.hadoop.hive.metastore.uris", given["metastore"]).enableHiveSupport().getOrCreate()
    session.sql("SHOW DATABASES").collect()
    began = time.perf_counter()
    session.sql(f"CREATE TABLE {given['table']} LIKE {given['like']} LOCATION '{given['location']}'")
    seconds = time.perf_counter() - began
    try:
        copied = subprocess.run(given["distcp"], capture_output=True, text=True, check=False, timeout=given["longest"])
    except subprocess.TimeoutExpired as over:
        print(over.timeout)
        return 0
    if copied.returncode:
        sys.stderr.write(copied.stdout + copied.stderr)
        return 1
    seconds += float(copied.stdout.split()[-1])
    began = time.perf_counter()
    session.sql(f"MSCK REPAIR TABLE {given['table']}")
    print(seconds + time.perf_counter() - began)
    session.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
