"""An HDFS as tests see it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.testbed.client import Testbed, TestbedFailed
from tests.testbed.hdfs_state import becomes_ready, is_ready

_READY_SECONDS = 90


@dataclass(frozen=True, kw_only=True, slots=True)
class HdfsCluster:
    """A NameNode and a DataNode with permissions on; its addresses and data stay over restarts.

    Args:
        testbed: which owns it.
        name: what the test bed calls it.
        rpc: port of the NameNode's RPC, on 127.0.0.1.
        http: port of its web server, which is WebHDFS too.
        data_http: port of the DataNode's web server, which WebHDFS sends its clients to.
        directory: of its data, logs and configuration.
        superuser: who may do everything; who runs the tests.
    """

    testbed: Testbed
    name: str
    rpc: int
    http: int
    data_http: int
    directory: Path
    superuser: str

    @classmethod
    def of(cls, testbed: Testbed, name: str = "hdfs") -> Self:
        """The cluster `hdfs` or `restartable_hdfs`, started when it was not.

        Raises:
            Missing: this machine lacks Java, or jars and Maven.
            TestbedFailed: it did not start.
        """
        facts = testbed.facts(name)
        return cls(
            testbed=testbed,
            name=name,
            rpc=int(facts["rpc"]),
            http=int(facts["http"]),
            data_http=int(facts["data_http"]),
            directory=Path(str(facts["directory"])),
            superuser=str(facts["superuser"]),
        )

    @property
    def uri(self) -> str:
        """For Hadoop's own protocol."""
        return f"hdfs://127.0.0.1:{self.rpc}"

    @property
    def webhdfs(self) -> str:
        """For WebHDFS; the NameNode's web server is on the same port over http."""
        return f"webhdfs://127.0.0.1:{self.http}"

    @property
    def conf_dir(self) -> Path:
        """A HADOOP_CONF_DIR for clients; its default file system is this cluster."""
        return self.directory / "client"

    @property
    def namenode_pid(self) -> int:
        """The NameNode's process, 0 while it is stopped."""
        return int(self.testbed.facts(self.name)["namenode_pid"])

    @property
    def datanode_pid(self) -> int:
        """The DataNode's process, 0 while it is stopped."""
        return int(self.testbed.facts(self.name)["datanode_pid"])

    def stop_namenode(self, number: int = signal.SIGTERM) -> None:
        """Send the NameNode a signal and wait until it has ended; calls to its port are refused from now on."""
        self.testbed.stop(self.name, "namenode", number)

    def start_namenode(self) -> None:
        """Start it again with its data; `wait_ready` waits until it serves."""
        self.testbed.start(self.name, "namenode")

    def freeze_namenode(self) -> None:
        """From now on it accepts connections and answers nothing."""
        os.kill(self.namenode_pid, signal.SIGSTOP)

    def thaw_namenode(self) -> None:
        """Let a frozen one go on."""
        os.kill(self.namenode_pid, signal.SIGCONT)

    def stop_datanode(self, number: int = signal.SIGKILL) -> None:
        """End the DataNode: names can be listed and deleted, files cannot be read or written."""
        self.testbed.stop(self.name, "datanode", number)

    def start_datanode(self) -> None:
        """Start it again with its data."""
        self.testbed.start(self.name, "datanode")

    def wait_ready(self, seconds: float = _READY_SECONDS) -> None:
        """Wait until files can be read and written.

        Raises:
            TestbedFailed: not within the time.
        """
        if not becomes_ready(self.http, self.data_http, seconds=seconds):
            raise TestbedFailed(server=self.name, why=f"it is not ready; its logs are in {self.directory}")

    def repair(self) -> None:
        """Whatever a test did to its processes: have both run again, and wait until they are ready."""
        if self.namenode_pid:
            self.thaw_namenode()
        if self.namenode_pid and self.datanode_pid and is_ready(self.http, self.data_http):
            return
        self.start_namenode()
        self.start_datanode()
        self.wait_ready()
