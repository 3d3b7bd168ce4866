"""`feedctl dev`: servers for trying feedctl on one machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from toolkit.errors import InvalidInput, Unavailable

app = typer.Typer(no_args_is_help=True)

_HOST = "127.0.0.1"
_START_SECONDS = 120
_OPENED = ("net", "lang", "util", "io")
_LOG = """\
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c: %m%n
"""


class PysparkMissing(InvalidInput):
    """pyspark, whose jars have the metastore, is not installed."""

    def __init__(self) -> None:
        super().__init__("no pyspark here, whose jars have the metastore; install it: pip install 'feedctl[spark]'")


class JavaMissing(InvalidInput):
    """Neither JAVA_HOME nor PATH has a Java."""

    def __init__(self, *, home: str) -> None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "neither JAVA_HOME nor PATH has a java"
        super().__init__(f"{where}; the metastore needs Java 17 or newer")


class PortInUse(Unavailable):
    """Another program listens at the port."""

    def __init__(self, *, port: int) -> None:
        super().__init__(f"port {port} of {_HOST} is in use; choose another one with --port")


@app.callback()
def dev() -> None:
    """Start servers for trying feedctl on this machine; never for data of value."""


@app.command()
def metastore(
    *,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where its tables and its warehouse are.")],
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Its port.")] = 9083,
) -> None:
    """Run a Hive metastore on this machine until Ctrl-C, from the jars of pyspark; its tables stay in DIR.

    It uses Derby, which answers one writer at a time. It asks for no login, and whoever reaches the port of this
    machine may use it. A line says when it answers.
    """
    import os

    from toolkit.variables import process_variables

    variables = process_variables()
    java, jars = _java(variables), _jars()
    _check_free(port)
    place = directory.resolve()
    _write_configuration(place)
    _announce_when_ready(place, port)
    os.execve(java, [java, *_arguments(place, jars, port)], dict(variables))  # noqa: S606 - Ctrl-C and kill end Java itself


def _java(variables: Mapping[str, str]) -> str:
    """Return the Java of JAVA_HOME, else that of PATH."""
    from toolkit.java import java_command, missing_java

    if missing_java(variables):
        raise JavaMissing(home=variables.get("JAVA_HOME", ""))
    return java_command(variables)


def _jars() -> Path:
    """Return the folder of pyspark's jars; looking for it loads nothing of pyspark."""
    from importlib.util import find_spec

    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise PysparkMissing
    return Path(spec.origin).parent / "jars"


def _check_free(port: int) -> None:
    import socket

    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            raise PortInUse(port=port) from error


def _write_configuration(place: Path) -> None:
    """Write what Hive reads at its start."""
    from xml.sax.saxutils import escape

    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={place}/tables;create=true",
        "javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver",
        "hive.metastore.warehouse.dir": f"file:{place}/warehouse",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "datanucleus.connectionPoolingType": "HikariCP",
        "hive.async.log.enabled": "false",  # it would want a jar that Spark does not bring
    }
    conf = place / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    lines = (
        f"  <property><name>{name}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    (conf / "hive-site.xml").write_text(f"<configuration>\n{''.join(lines)}</configuration>\n", encoding="utf-8")
    for name in ("hive-log4j2.properties", "metastore-log4j2.properties"):
        (conf / name).write_text(_LOG, encoding="utf-8")


def _arguments(place: Path, jars: Path, port: int) -> list[str]:
    return [
        *("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Dderby.stream.error.file={place}/derby.log"),
        *(f"--add-opens=java.base/java.{each}=ALL-UNNAMED" for each in _OPENED),
        *("-cp", f"{place}/conf:{jars}/*", "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)),
    ]


def _announce_when_ready(place: Path, port: int) -> None:
    """Leave a process behind that prints one line as soon as the metastore answers, and ends."""
    import os

    parent = os.getpid()
    if os.fork() == 0:
        if _answers(port, parent):
            os.write(1, f"thrift://{_HOST}:{port} answers; its tables are below {place}; Ctrl-C ends it\n".encode())
        os._exit(0)


def _answers(port: int, server: int) -> bool:
    """Wait until the metastore of this process id answers; false when it ends before, or takes too long."""
    import os
    import time

    from toolkit.doctor.metastore import NotThrift, metastore_version
    from toolkit.doctor.services import Address

    end = time.monotonic() + _START_SECONDS
    while os.getppid() == server and time.monotonic() < end:
        try:
            if metastore_version(Address(host=_HOST, port=port)):
                return True
        except (OSError, NotThrift):
            time.sleep(0.2)
    return False
