"""A throw-away MariaDB server: a process of our own, never the one that a package set up."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.databases.account import Account
from tests.databases.child import dying_with_this_process
from tests.databases.port import reserved_port

_SECONDS = 90
_POLL_SECONDS = 0.05
_PLACES = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
ROOT_PASSWORD = "root-word"


class NoMariaDb(Exception):  # noqa: N818 - named for what was found
    """This machine has no MariaDB server."""

    def __init__(self) -> None:
        super().__init__("no MariaDB server on this machine; install it (Debian: apt-get install mariadb-server)")


class MariaDbServer:
    """A MariaDB server on a free port of 127.0.0.1 with a data directory of its own; it ends with this process.

    Raises:
        NoMariaDb: this machine has none.
    """

    def __init__(self) -> None:
        found = [shutil.which(each, path=_PLACES) for each in ("mariadb-install-db", "mariadbd", "mariadb")]
        if not all(found):
            raise NoMariaDb
        self._install, self._server, self._client = (str(each) for each in found)
        self._account = Account.of_a_server()
        self._reserved = reserved_port()
        self.port: int = self._reserved.getsockname()[1]
        self.directory = self._account.make_directory("feedctl-mariadb-")
        self._data, self._socket = self.directory / "data", self.directory / "s"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Its process, None while there is none."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Start it with the data that it had, and wait until it accepts connections."""
        options: tuple[str, ...]
        temporary = f"--tmpdir={self.directory}"  # a server that starts removes the tables of others in /tmp
        is_new = not self._data.exists()
        if is_new:
            options = ("--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db")
            made = self._run([self._install, *options, temporary, f"--datadir={self._data}"])
            assert made.returncode == 0, made.stdout
        options = (f"--datadir={self._data}", f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve")
        options += ("--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M", "--lower-case-table-names=0")
        options += (temporary,)
        with (self.directory / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._server, "--no-defaults", *options, f"--socket={self._socket}"],
                user=self._account.user,
                group=self._account.group,
                extra_groups=self._account.extra_groups,
                env={"PATH": _PLACES, "TZ": "Asia/Kolkata"},  # nothing may lean on UTC
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
                preexec_fn=dying_with_this_process(signal.SIGKILL),  # noqa: PLW1509 - it takes no lock
            )
        self._wait()
        if is_new:
            self.execute(f"ALTER USER root@localhost IDENTIFIED BY '{ROOT_PASSWORD}'", password="")

    def kill(self) -> None:
        """Kill it; the data stay for the next `start`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Stop it for good and delete its data."""
        self.kill()
        self._reserved.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def execute(self, script: str, database: str = "mysql", password: str = ROOT_PASSWORD) -> str:
        """Execute statements as root, by the client's own program, and return what they answer, tabs between fields."""
        options = ["--no-defaults", "-uroot", f"--socket={self._socket}", "--batch", "--skip-column-names", "--raw"]
        done = subprocess.run(
            [self._client, *options, "--default-character-set=utf8mb4", database],
            input=script,
            env={"PATH": _PLACES, "MYSQL_PWD": password},
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            user=self._account.user,
            group=self._account.group,
            extra_groups=self._account.extra_groups,
            env={"PATH": _PLACES},
            cwd=self.directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )

    def _wait(self) -> None:
        until = time.monotonic() + _SECONDS
        while self.pid and time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(_POLL_SECONDS)
            else:
                return
        log = Path(self.directory, "server.log").read_text(errors="replace")
        self.kill()
        raise AssertionError(log[-4000:])


@contextmanager
def running_mariadb() -> Iterator[MariaDbServer]:
    """A started server, closed at the end."""
    server = MariaDbServer()
    try:
        server.start()
        yield server
    finally:
        server.close()
