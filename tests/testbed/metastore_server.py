"""The supervisor's side of a Hive metastore: the real one, of Hive 2 or 4, on Derby or PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyspark

from tests.databases.port import reserved_port
from tests.testbed import java
from tests.testbed.hdfs_settings import write_conf
from tests.testbed.jars import METASTORE, METASTORE_4, METASTORE_EVENTS, Jars
from tests.testbed.processes import Command, DidNotStart, Program, Starter
from tests.testbed.waiting import becomes_true
from toolkit.doctor.metastore import NotThrift, metastore_version
from toolkit.doctor.services import Address

_NEWEST = 4
_START_SECONDS = 240  # with many other processes on two cores
_JARS = Path(pyspark.__file__).resolve().parent / "jars"
_OPENED = ("net", "lang", "util", "io")
_LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c: %m%n
"""
_SETTINGS = {
    "datanucleus.schema.autoCreateAll": "true",
    "hive.metastore.schema.verification": "false",
    "hive.async.log.enabled": "false",  # it would want a jar that is not there
    "datanucleus.connectionPoolingType": "HikariCP",
}


_EVENTS = {
    "hive.metastore.transactional.event.listeners": "org.apache.hive.hcatalog.listener.DbNotificationListener",
}


class MetastoreServer:
    """A metastore with a warehouse on this machine; its port and data stay over restarts.

    Args:
        starter: starts its process.
        directory: a new one is made there, with its configuration, warehouse and log, and Derby's data.
        postgres: ``HOST:PORT/DATABASE?user=...`` of an empty database to use instead of Derby.
        release: of Hive, 2 or 4; 4 only on Derby.
        keeps_events: it keeps notification events; only of Hive 2.
    """

    def __init__(
        self,
        starter: Starter,
        directory: Path,
        postgres: str = "",
        *,
        release: int = 2,
        keeps_events: bool = False,
    ) -> None:
        self._starter, self._directory, self._postgres, self._release = starter, directory, postgres, release
        self._keeps_events = keeps_events
        self._reserved = reserved_port()
        self._port = int(self._reserved.getsockname()[1])
        self.programs: Mapping[str, Program] = {}

    def start(self) -> None:
        """Start it; it makes its tables.

        Raises:
            DidNotStart: with the end of its log.
            Missing: no Java; for PostgreSQL and Hive 4, no jars and no Maven.
        """
        conf = self._directory / "conf"
        conf.mkdir(parents=True)
        for name in ("hive-log4j2.properties", "metastore-log4j2.properties"):
            (conf / name).write_text(_LOG4J)
        write_conf(conf / "hive-site.xml", {**_SETTINGS, **self._places(), **(_EVENTS if self._keeps_events else {})})
        metastore = Program(self._starter, self._command())
        self.programs = {"metastore": metastore}
        metastore.start()
        if not becomes_true(lambda: metastore.check(ready=lambda: answers(self._port)), seconds=_START_SECONDS):
            raise DidNotStart(program="metastore", log=metastore.command.log)

    def facts(self) -> dict[str, str | int]:
        """Facts that a client needs."""
        return {"port": self._port, "directory": str(self._directory)}

    def close(self) -> None:
        """Give its port back; its process must have ended."""
        self._reserved.close()

    def _places(self) -> dict[str, str]:
        derby = f"jdbc:derby:;databaseName={self._directory}/db;create=true"
        driver = "org.postgresql.Driver" if self._postgres else "org.apache.derby.jdbc.EmbeddedDriver"
        return {
            "javax.jdo.option.ConnectionURL": f"jdbc:postgresql://{self._postgres}" if self._postgres else derby,
            "javax.jdo.option.ConnectionDriverName": driver,
            "hive.metastore.warehouse.dir": f"file:{self._directory}/warehouse",
        }

    def _jars(self) -> tuple[Path, ...]:
        if self._release == _NEWEST:
            return METASTORE_4.fetched(), Jars().fetched()
        more = (METASTORE_EVENTS.fetched(),) if self._keeps_events else ()
        return (_JARS, *more, METASTORE.fetched()) if self._postgres else (_JARS, *more)

    def _command(self) -> Command:
        jars = [self._directory / "conf", *(each / "*" for each in self._jars())]
        opened = (f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in _OPENED)
        quick = ("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dderby.system.durability=test")
        main = ("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(self._port))
        return Command(
            arguments=("java", *quick, *opened, "-cp", ":".join(map(str, jars)), *main),
            environment=java.environment(),
            directory=self._directory,
            name="metastore",
        )


def answers(port: int) -> bool:
    """Return whether a metastore answers at the port."""
    try:
        return bool(metastore_version(Address(host="127.0.0.1", port=port)))
    except (OSError, NotThrift):
        return False
