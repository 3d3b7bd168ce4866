"""A throw-away PostgreSQL server: a process of our own, never the cluster that a package set up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg import sql

from tests.databases.port import reserved_port
from tests.databases.postgresql_programs import PostgresPrograms, ServerDidNotStart

_USER = "feedctl"
_START_SECONDS = 60
_STOP_SECONDS = 15
_POLL_SECONDS = 0.02
_LOG_CHARACTERS = 4000


class PostgresServer:
    """A PostgreSQL server on a free port of 127.0.0.1, with a data directory of its own.

    Any program on this machine may log in. The server ends with the process, strictly with the thread, that starts it;
    `running_postgres` starts one and closes it.

    Args:
        fsync: whether a commit waits for the disk. Without, a crash of the machine loses rows; benchmarks want it.
        max_connections: how many connections it takes.

    Raises:
        NoServerPrograms: this machine has no PostgreSQL server.
    """

    def __init__(self, *, fsync: bool = False, max_connections: int = 150) -> None:
        self._programs = PostgresPrograms.found()
        self._process: subprocess.Popen[bytes] | None = None
        self._port = reserved_port()
        self.directory = self._programs.account.make_directory("feedctl-postgres-")
        self._data, self._log = self.directory / "data", self.directory / "server.log"
        self._settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self._port.getsockname()[1]),
            "unix_socket_directories": str(self.directory),
            "max_connections": str(max_connections),
            "fsync": "on" if fsync else "off",
            # Once it has seen that a table is empty, any index of it looks as good as the right one.
            "autovacuum": "off",
            "timezone": "Asia/Kolkata",  # a company's server need not be in UTC, so nothing may lean on that
        }

    @property
    def pid(self) -> int | None:
        """Its process, None while there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def url(self, database: str) -> str:
        """What SQLAlchemy opens the database by; it stays the same over restarts."""
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self._settings['port']}/{database}"

    def start(self) -> None:
        """Starts it, with the data it had when it was stopped, and waits until it accepts connections.

        Raises:
            ServerDidNotStart: with the end of its log.
        """
        if self.pid:
            return
        if not self._data.exists():
            self._programs.make_data(self._data, _USER)
        self._process = self._programs.serve(self._data, self._settings, self._log)
        if not self._becomes_ready(self._process):
            self.stop()
            raise ServerDidNotStart(program="postgres", output=self._log.read_text(errors="replace")[-_LOG_CHARACTERS:])

    def stop(self) -> None:
        """Stops it and breaks all connections; the data stay for the next `start`."""
        if not self._process:
            return
        self._process.send_signal(signal.SIGINT)  # PostgreSQL's "fast shutdown"
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def processes(self) -> list[int]:
        """Return the server and its children: one for each connection, and those of its own work."""
        if not self.pid:
            return []
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [self.pid, *map(int, children.split())]

    def kill(self) -> None:
        """Kill it with all its children, as a machine that dies does; the data stay for the next `start`."""
        found = self.processes()
        for each in found:
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        if self._process:
            self._process.wait()
        self._process = None
        deadline = time.monotonic() + _STOP_SECONDS
        while any(Path(f"/proc/{each}").exists() for each in found) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def restart(self) -> None:
        """Stops it and starts it again, with its data and on its port."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stops it for good: its data are deleted and its port is given back."""
        self.stop()
        self._port.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def create_database(self, name: str, template: str | None = None) -> None:
        """Makes a database: empty, or a copy of the template, to which nobody may be connected."""
        self._execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}"), name, template or "template1")

    def drop_database(self, name: str) -> None:
        """Removes a database, and breaks the connections to it."""
        self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)"), name)

    def _becomes_ready(self, process: subprocess.Popen[bytes]) -> bool:
        deadline = time.monotonic() + _START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if self._accepts():
                return True
            time.sleep(_POLL_SECONDS)
        return False

    def _accepts(self) -> bool:
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _connect(self) -> psycopg.Connection:
        place = f"host=127.0.0.1 port={self._settings['port']} user={_USER} dbname=postgres"
        return psycopg.connect(place, connect_timeout=10, autocommit=True)

    def _execute(self, statement: sql.SQL, *names: str) -> None:
        with self._connect() as connection:
            connection.execute(statement.format(*map(sql.Identifier, names)))


@contextmanager
def running_postgres(*, fsync: bool = False, max_connections: int = 150) -> Iterator[PostgresServer]:
    """A started server, closed at the end; the arguments are those of `PostgresServer`."""
    server = PostgresServer(fsync=fsync, max_connections=max_connections)
    try:
        server.start()
        yield server
    finally:
        server.close()
