"""The configuration of one HDFS: for its two servers, and for clients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

_LOG4J = """\
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n
"""
_QUICK = {
    "dfs.replication": "1",
    "dfs.permissions.enabled": "true",
    "dfs.heartbeat.interval": "1",
    "dfs.namenode.heartbeat.recheck-interval": "500",  # milliseconds; a DataNode is dead after 11 seconds
    "dfs.namenode.stale.datanode.interval": "3000",
    "dfs.namenode.decommission.interval": "1",
    "dfs.namenode.safemode.extension": "0",
    "dfs.namenode.safemode.threshold-pct": "1.0",  # less is rounded down: of one block, none must be reported
    "dfs.namenode.safemode.min.datanodes": "1",
    "dfs.namenode.edits.noeditlogchannelflush": "true",  # a killed process loses nothing, a crashed machine may
    "dfs.namenode.redundancy.interval.seconds": "1s",
    "dfs.datanode.du.reserved": "0",
}


@dataclass(frozen=True, slots=True)
class HdfsPorts:
    """The ports of a NameNode and its DataNode, all on 127.0.0.1."""

    rpc: int
    http: int
    data: int
    data_http: int
    data_ipc: int


def write_settings(directory: Path, ports: HdfsPorts, superuser: str) -> None:
    """Write `conf` for the servers and `client`, a HADOOP_CONF_DIR, into the directory of a cluster."""
    core = {"fs.defaultFS": f"hdfs://127.0.0.1:{ports.rpc}"}
    servers, client = directory / "conf", directory / "client"
    for each in (servers, client, directory / "webapps" / "hdfs", directory / "webapps" / "datanode"):
        each.mkdir(parents=True)
    write_conf(client / "core-site.xml", core)
    write_conf(client / "hdfs-site.xml", {"dfs.replication": "1"})
    write_conf(servers / "core-site.xml", core | _server_core(directory, superuser))
    write_conf(servers / "hdfs-site.xml", _QUICK | _places(directory, ports))
    (servers / "log4j.properties").write_text(_LOG4J)


def _server_core(directory: Path, superuser: str) -> dict[str, str]:
    return {
        "hadoop.tmp.dir": str(directory / "tmp"),
        f"hadoop.proxyuser.{superuser}.hosts": "*",
        f"hadoop.proxyuser.{superuser}.groups": "*",
        "ipc.client.connect.retry.interval": "100",  # milliseconds; the DataNode waits for the NameNode
        "ipc.client.connect.max.retries": "100",
    }


def _places(directory: Path, ports: HdfsPorts) -> dict[str, str]:
    return {
        "dfs.namenode.name.dir": f"file://{directory}/name",
        "dfs.datanode.data.dir": f"file://{directory}/data",
        "dfs.namenode.rpc-address": f"127.0.0.1:{ports.rpc}",
        "dfs.namenode.http-address": f"127.0.0.1:{ports.http}",
        "dfs.datanode.hostname": "127.0.0.1",  # WebHDFS sends its clients there
        "dfs.datanode.address": f"127.0.0.1:{ports.data}",
        "dfs.datanode.http.address": f"127.0.0.1:{ports.data_http}",
        "dfs.datanode.ipc.address": f"127.0.0.1:{ports.data_ipc}",
    }


def write_conf(file: Path, settings: Mapping[str, str]) -> None:
    """Write settings as Hadoop and Hive read them."""
    lines = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    file.write_text(f"<configuration>\n{''.join(lines)}</configuration>\n")
