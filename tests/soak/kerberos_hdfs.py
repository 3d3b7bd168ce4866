"""An HDFS that lets in only who has a ticket: a NameNode and a DataNode with Kerberos and block access tokens."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from tests.databases.port import reserved_port
from tests.soak.kerberos_realm import REALM, Realm
from tests.testbed import java
from tests.testbed.hdfs_state import is_ready
from tests.testbed.jars import Jars
from tests.testbed.processes import Command, DidNotStart, Starter
from tests.testbed.waiting import becomes_true

_SERVICE = f"hdfs/localhost@{REALM}"
_PACKAGE = "org.apache.hadoop.hdfs.server"
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class SecureHdfs:
    """The cluster; its superuser is ``hdfs``, whose ticket only the servers have.

    Args:
        directory: a new one is made there.
        realm: where its users come from.
    """

    directory: Path
    realm: Realm

    def start(self, starter: Starter) -> dict[str, str]:
        """Start both servers; what clients must know, by Hadoop's names.

        Raises:
            DidNotStart: with the end of a log.
        """
        ports = [str(each) for each in _free_ports(5)]
        self._write_settings(ports, self.realm.keytab("service", "hdfs/localhost", "HTTP/localhost"))
        starter.start(self._command("format", "namenode.NameNode", "-format", "-force", "-nonInteractive")).wait(60)
        for name, main in (("namenode", "namenode.NameNode"), ("datanode", "datanode.DataNode")):
            starter.start(self._command(name, main))
        if not becomes_true(lambda: is_ready(int(ports[1]), int(ports[3])), seconds=_START_SECONDS):
            raise DidNotStart(program="HDFS with Kerberos", log=self.directory / "namenode.log")
        return {"fs.defaultFS": f"hdfs://localhost:{ports[0]}", "hadoop.security.authentication": "kerberos"}

    def fetch_tokens(self, file: Path, kerberos: dict[str, str]) -> None:
        """Have ``hdfs fetchdt`` write delegation tokens for the holder of a ticket cache."""
        main = "org.apache.hadoop.hdfs.tools.DelegationTokenFetcher"
        arguments = self._java(main, "--renewer", "alice", str(file))
        subprocess.run(arguments, env=java.environment() | kerberos, check=True, capture_output=True, timeout=120)

    def _write_settings(self, ports: list[str], keytab: Path) -> None:
        for folder in ("conf", "webapps/hdfs", "webapps/datanode"):
            (self.directory / folder).mkdir(parents=True)
        core = {
            "fs.defaultFS": f"hdfs://localhost:{ports[0]}",
            "hadoop.tmp.dir": str(self.directory / "tmp"),
            "hadoop.security.authentication": "kerberos",
            "hadoop.security.authorization": "true",
        }
        _write(self.directory / "conf" / "core-site.xml", core)
        _write(self.directory / "conf" / "hdfs-site.xml", _places(self.directory, ports) | _security(keytab))

    def _command(self, name: str, main: str, *arguments: str) -> Command:
        words = self._java(f"{_PACKAGE}.{main}", *arguments)
        return Command(arguments=words, environment=java.environment(), directory=self.directory, name=name)

    def _java(self, main: str, *arguments: str) -> tuple[str, ...]:
        class_path = f"{self.directory / 'conf'}:{self.directory}:{Jars().fetched()}/*"
        flags = ("-Xmx512m", "-XX:TieredStopAtLevel=1", f"-Djava.security.krb5.conf={self.realm.clients}")
        return ("java", *flags, "-cp", class_path, main, *arguments)


def write_named(directory: Path, default_fs: str) -> None:
    """A HADOOP_CONF_DIR of clients that names the HDFS, and says nothing else of it."""
    directory.mkdir()
    _write(directory / "core-site.xml", {"fs.defaultFS": default_fs})


def _places(directory: Path, ports: list[str]) -> dict[str, str]:
    rpc, http, data, data_http, data_ipc = ports
    return {
        "dfs.replication": "1",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.name.dir": f"file://{directory}/name",
        "dfs.datanode.data.dir": f"file://{directory}/data",
        "dfs.namenode.rpc-address": f"localhost:{rpc}",
        "dfs.namenode.http-address": f"127.0.0.1:{http}",
        "dfs.datanode.hostname": "localhost",
        "dfs.datanode.address": f"127.0.0.1:{data}",
        "dfs.datanode.http.address": f"127.0.0.1:{data_http}",
        "dfs.datanode.ipc.address": f"127.0.0.1:{data_ipc}",
    }


def _security(keytab: Path) -> dict[str, str]:
    return {
        "dfs.block.access.token.enable": "true",
        "ignore.secure.ports.for.testing": "true",  # else a DataNode wants ports below 1024, or HTTPS
        **{f"dfs.{server}.kerberos.principal": _SERVICE for server in ("namenode", "datanode")},
        **{f"dfs.{server}.keytab.file": str(keytab) for server in ("namenode", "datanode")},
        "dfs.web.authentication.kerberos.principal": f"HTTP/localhost@{REALM}",
        "dfs.web.authentication.kerberos.keytab": str(keytab),
    }


def _free_ports(number: int) -> list[int]:
    held = [reserved_port() for _ in range(number)]
    ports: list[int] = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def _write(file: Path, settings: Mapping[str, str]) -> None:
    lines = (
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>"
        for key, value in settings.items()
    )
    file.write_text(f"<configuration>{''.join(lines)}</configuration>")
