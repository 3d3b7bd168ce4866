"""The one HDFS of a benchmark: a NameNode with Hadoop's own settings. Zero-byte files never need a DataNode."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed import java
from tests.testbed.jars import Jars
from tests.testbed.processes import Command, DidNotStart, Starter
from tests.testbed.waiting import becomes_true, state

_MAIN = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_START_SECONDS = 60
_METRICS_SECONDS = 0.25
_SETTING = "  <property><name>{}</name><value>{}</value></property>\n"
_FILES = {
    "log4j.properties": "log4j.rootLogger=WARN,console\n"
    "log4j.appender.console=org.apache.log4j.ConsoleAppender\n"
    "log4j.appender.console.target=System.err\n"
    "log4j.appender.console.layout=org.apache.log4j.SimpleLayout\n",
    "hadoop-metrics2-namenode.properties": f"*.periodMillis={_METRICS_SECONDS * 1000 / 2:.0f}\n",
}
"""How the NameNode logs, and how old the counts may be that it tells: 10 seconds without this."""
_NOT_COUNTED = ("Overall", "RenewLease", "GetServerDefaults")
"""The same calls with their waiting, and what clients ask from time to time whatever they do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NameNode:
    """A running NameNode.

    Args:
        rpc: its port for clients.
        http: its port for metrics.
    """

    rpc: int
    http: int

    @property
    def store(self) -> str:
        """Its URI."""
        return f"hdfs://127.0.0.1:{self.rpc}"

    def calls(self) -> Counter[str]:
        """How often each of its methods was called since it started."""
        time.sleep(_METRICS_SECONDS)
        query = f"/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort{self.rpc}"
        beans = state(self.http, query)["beans"]
        assert isinstance(beans, list)
        return Counter(
            {
                name.removesuffix("NumOps"): count
                for name, count in beans[0].items()
                if name.endswith("NumOps") and not name.startswith(_NOT_COUNTED) and "Exception" not in name
            }
        )


@contextmanager
def running_namenode(heap: str) -> Iterator[NameNode]:
    """An empty HDFS, ended and removed afterwards.

    Args:
        heap: of the NameNode, as Java wants it.

    Raises:
        Missing: no Java, or neither Hadoop's jars nor Maven.
        DidNotStart: with the end of its log.
    """
    starter = Starter()
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name, reserved_port() as rpc, reserved_port() as http:
        node = NameNode(rpc=rpc.getsockname()[1], http=http.getsockname()[1])
        directory = Path(name)
        _write_settings(directory, node)
        try:
            _start(starter, directory, node, heap)
            yield node
        finally:
            starter.end()


def _start(starter: Starter, directory: Path, node: NameNode, heap: str) -> None:
    formatting = _command(directory, "256m", "-format", "-force", "-nonInteractive")
    if starter.start(formatting).wait(_START_SECONDS):
        raise DidNotStart(program="NameNode -format", log=formatting.log)
    command = _command(directory, heap)
    process = starter.start(command)

    def is_up_or_ended() -> bool:
        return process.poll() is not None or _is_out_of_safe_mode(node)

    if not becomes_true(is_up_or_ended, seconds=_START_SECONDS) or process.poll() is not None:
        raise DidNotStart(program="NameNode", log=command.log)


def _is_out_of_safe_mode(node: NameNode) -> bool:
    beans = state(node.http, "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo").get("beans")
    return isinstance(beans, list) and bool(beans) and not beans[0].get("Safemode", "unknown")


def _command(directory: Path, heap: str, *more: str) -> Command:
    class_path = f"{directory}:{Jars().fetched()}/*"
    return Command(
        arguments=("java", f"-Xmx{heap}", "-cp", class_path, _MAIN, *more),
        environment=java.environment(),
        directory=directory,
        name="namenode",
    )


def _write_settings(directory: Path, node: NameNode) -> None:
    settings = {
        "core-site.xml": {"fs.defaultFS": node.store, "hadoop.tmp.dir": str(directory / "tmp")},
        "hdfs-site.xml": {
            "dfs.namenode.name.dir": f"file://{directory}/name",
            "dfs.namenode.rpc-address": f"127.0.0.1:{node.rpc}",
            "dfs.namenode.http-address": f"127.0.0.1:{node.http}",
        },
    }
    for file, pairs in settings.items():
        lines = "".join(_SETTING.format(*pair) for pair in pairs.items())
        (directory / file).write_text(f"<configuration>\n{lines}</configuration>\n")
    for file, text in _FILES.items():
        (directory / file).write_text(text)
    (directory / "webapps" / "hdfs").mkdir(parents=True)
