"""A Hive metastore as tests see it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.testbed.client import Testbed, TestbedFailed
from tests.testbed.metastore_server import answers
from tests.testbed.waiting import becomes_true
from toolkit.catalog.port import CatalogSpec

_READY_SECONDS = 90
_PROGRAM = "metastore"


@dataclass(frozen=True, kw_only=True, slots=True)
class HiveMetastoreServer:
    """A metastore on Derby with a warehouse on this machine; its port and data stay over restarts.

    Args:
        testbed: which owns it.
        name: what the test bed calls it.
        port: on 127.0.0.1.
        directory: of its warehouse, data and log.
    """

    testbed: Testbed
    name: str
    port: int
    directory: Path

    @classmethod
    def of(cls, testbed: Testbed, name: str = "metastore") -> Self:
        """Return the metastore of a fixture of that name, started when it was not.

        Raises:
            Missing: this machine lacks Java.
            TestbedFailed: it did not start.
        """
        facts = testbed.facts(name)
        return cls(testbed=testbed, name=name, port=int(facts["port"]), directory=Path(str(facts["directory"])))

    @property
    def uri(self) -> str:
        """The end point of a cluster's `registry` interface."""
        return f"thrift://127.0.0.1:{self.port}"

    @property
    def spec(self) -> CatalogSpec:
        """Return what feedctl opens it by."""
        return CatalogSpec(uris=self.uri)

    @property
    def warehouse(self) -> str:
        """The URI of the directory of databases and tables that have no place of their own."""
        return f"file:{self.directory}/warehouse"

    @property
    def pid(self) -> int:
        """Its process, 0 while it is stopped."""
        return int(self.testbed.facts(self.name)[f"{_PROGRAM}_pid"])

    def stop(self, number: int = signal.SIGKILL) -> None:
        """Send it a signal and wait until it has ended; calls to its port are refused from now on."""
        self.testbed.stop(self.name, _PROGRAM, number)

    def start(self) -> None:
        """Start it again with its data, and wait until it answers.

        Raises:
            TestbedFailed: it does not.
        """
        self.testbed.start(self.name, _PROGRAM)
        if not becomes_true(lambda: answers(self.port), seconds=_READY_SECONDS):
            raise TestbedFailed(server=self.name, why=f"it does not answer; its log is in {self.directory}")

    def freeze(self) -> None:
        """From now on it accepts connections and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen one go on."""
        os.kill(self.pid, signal.SIGCONT)

    def repair(self) -> None:
        """Whatever a test did to its process: have it run again, and wait until it answers."""
        if self.pid:
            self.thaw()
        self.start()
