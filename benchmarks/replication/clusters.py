"""The two HDFS of a benchmark: those of the tests, with Hadoop's own settings for writing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hdfs_native import Client

from tests.testbed.hdfs_server import HdfsServer
from tests.testbed.processes import Starter


@dataclass(frozen=True, kw_only=True, slots=True)
class Clusters:
    """Both run.

    Args:
        source: URI of the one that is read.
        target: URI of the other.
        webs: authorities of WebHDFS of both.
    """

    source: str
    target: str
    webs: tuple[str, str]

    @property
    def at_source(self) -> Client:
        """A client of the one that is read."""
        return Client(self.source)

    @property
    def at_target(self) -> Client:
        """A client of the other."""
        return Client(self.target)


@contextmanager
def running_clusters() -> Iterator[Clusters]:
    """Two empty clusters, ended and removed afterwards.

    Raises:
        Missing: no Java, or neither Hadoop's jars nor Maven.
        DidNotStart: with the end of its log.
    """
    starter = Starter()
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        servers = [HdfsServer(starter, Path(name, each)) for each in ("source", "target")]
        try:
            for server in servers:
                server.start()
            source, target = (f"hdfs://127.0.0.1:{server.facts()['rpc']}" for server in servers)
            one, two = (f"127.0.0.1:{server.facts()['http']}" for server in servers)
            yield Clusters(source=source, target=target, webs=(one, two))
        finally:
            starter.end()
