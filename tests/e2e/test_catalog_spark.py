"""Tables that Spark SQL made, as the port sees them, and what the port does, as Spark SQL sees it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commands import BIN, ROOT
from tests.testbed.metastore import HiveMetastoreServer

_SCRIPT = """
import json, shutil, sys
from dataclasses import replace
from pyspark.sql import SparkSession
from toolkit.catalog.formats import table_format
from toolkit.catalog.model import Statistics, TableName
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.opening import open_metastore
from toolkit.catalog.port import CatalogSpec
from toolkit.entities import Cluster, Interface, Interfaces
from toolkit.catalog.values import typed_value

uri, place = sys.argv[1:]
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
local = Cluster(name="local", interfaces=Interfaces(write=Interface(endpoint="file:///")))
metastore = open_metastore(CatalogSpec(uris=uri), LocationPolicy(cluster=local))
rows = "select 1 id, 'a/b=c' ds, 3 n, date'2026-03-01' day union all select 2, null, null, null"
for statement in (
    "set hive.exec.dynamic.partition.mode=nonstrict",
    f"create database by_spark location 'file:{place}/by_spark'",
    "create table by_spark.orc (id int) partitioned by (ds string, n int, day date) stored as orc",
    f"insert into by_spark.orc partition (ds, n, day) {rows}",
    "create table by_spark.source (id int, ds string, n int, day date) using parquet partitioned by (ds, n, day)",
    f"insert into by_spark.source {rows}",
    "create view by_spark.v as select * from by_spark.orc",
    "create table by_spark.flat using json as select 1 id",
):
    spark.sql(statement)


def seen(name):
    table = metastore.table(TableName("by_spark", name))
    partitions = metastore.partitions(table.name, metastore.partition_names(table.name))
    return {
        "kind": table.kind,
        "format": table_format(table),
        "location": table.location,
        "keys": [[key.name, key.type] for key in table.keys],
        "values": sorted(
            (
                [str(typed_value(text, key.key_type)) for text, key in zip(each.values, table.keys)]
                for each in partitions
            ),
            reverse=True,
        ),
        "inside": all(each.location.startswith(f"{table.location}/") for each in partitions),
        "files": [Statistics.of(each.parameters).files for each in partitions],
    }


def count(name):
    spark.sql(f"refresh table by_spark.{name}")
    return spark.sql(f"select count(*) from by_spark.{name}").collect()[0][0]


found = {name: seen(name) for name in metastore.tables("by_spark")}
counts = {}
for name in ("orc", "source"):
    table = metastore.table(TableName("by_spark", name))
    names = metastore.partition_names(table.name, matching={"ds": "a/b=c"})
    (kept,) = metastore.partitions(table.name, names)
    before = count(name)
    metastore.drop_partitions(table.name, names)
    dropped = count(name)
    elsewhere = f"{place}/elsewhere {name}"
    shutil.copytree(kept.location.removeprefix("file:"), elsewhere)
    storage = replace(kept.storage, location=f"file:{elsewhere}")
    added = replace(kept, values=("x%y", "4", "2026-03-02"), storage=storage)
    metastore.add_partitions(table.name, [added])
    day = spark.sql(f"select ds, n, day from by_spark.{name} where n = 4").collect()
    counts[name] = [before, dropped, count(name), [[str(value) for value in row] for row in day]]
print(json.dumps({"found": found, "counts": counts}))
"""
_SECONDS = 580


def _output(directory: Path, uri: str, java_home: Path) -> dict[str, Any]:
    script = directory / "tables.py"
    script.write_text(_SCRIPT)
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    environment = {**os.environ, "JAVA_HOME": str(java_home), "PYTHONPATH": str(ROOT), "PATH": path}
    settings = {
        "spark.hadoop.hive.metastore.uris": uri,
        "spark.sql.warehouse.dir": f"{directory}/warehouse",
        "spark.ui.enabled": "false",
    }
    options = [f"--conf={name}={value}" for name, value in settings.items()]
    command = [str(BIN / "spark-submit"), "--master", "local[1]", *options, str(script), uri, str(directory)]
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stderr
    output: dict[str, Any] = json.loads(done.stdout)
    return output


@pytest.mark.slow
@pytest.mark.extended
@pytest.mark.timeout(600)  # Spark starts, beside whatever else runs
def test_tables_of_spark_are_read_and_what_is_dropped_and_added_shows_in_its_queries(
    tmp_path: Path, metastore: HiveMetastoreServer, java_home: Path
) -> None:
    output = _output(tmp_path, metastore.uri, java_home)
    keys = [["ds", "string"], ["n", "int"], ["day", "date"]]
    for name in ("orc", "source"):
        found = output["found"][name]
        assert (found["kind"], found["format"], found["keys"], found["inside"]) == ("MANAGED_TABLE", "Hive", keys, True)
        assert found["values"] == [["a/b=c", "3", "2026-03-01"], ["None", "None", "None"]]
        assert found["location"] == f"file:{tmp_path}/by_spark/{name}"
        assert output["counts"][name] == [2, 1, 2, [["x%y", "4", "2026-03-02"]]]
    assert output["found"]["v"]["kind"] == "VIRTUAL_VIEW"
    assert output["found"]["flat"]["location"] == f"file:{tmp_path}/by_spark/flat"
