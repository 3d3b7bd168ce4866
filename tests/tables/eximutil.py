"""Hive's own reading and writing of exports, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_SECONDS = 120


def read_by_hive(export: str) -> dict[str, Any]:
    """What `EximUtil.readMetaData` finds in an export."""
    return _ran("read", export)


def write_by_hive(metastore: str, database: str, export: str) -> None:
    """Have `EximUtil.createExportDump` write the ``_metadata`` of the table ``clicks``, in the way of EXPORT TABLE."""
    _ran("write", metastore, database, export)


def _ran(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.tables.eximutil", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _main(what: str, *arguments: str) -> dict[str, Any]:
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415 - in this process alone

    launched: Any = launch_gateway
    jvm = launched().jvm
    path = jvm.org.apache.hadoop.fs.Path(f"{arguments[-1]}/_metadata")
    system = path.getFileSystem(jvm.org.apache.hadoop.conf.Configuration())
    exim, api = jvm.org.apache.hadoop.hive.ql.parse.EximUtil, jvm.org.apache.hadoop.hive.ql.metadata
    if what == "read":
        found = exim.readMetaData(system, path)
        table = found.getTable()
        columns = [each.getName() for each in table.getSd().getCols()]
        partitions = len(list(found.getPartitions()))
        return {"table": table.getTableName(), "columns": columns, "partitions": partitions}
    conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
    conf.set("hive.metastore.uris", arguments[0])
    client = jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
    table = api.Table(client.getTable(arguments[1], "clicks"))
    partitions = jvm.java.util.ArrayList()
    for each in client.listPartitions(arguments[1], "clicks", -1):
        partitions.add(api.Partition(table, each))
    exim.createExportDump(system, path, table, partitions, None)
    return {}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_main(*sys.argv[1:])) + "\n")
