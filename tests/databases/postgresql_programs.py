"""PostgreSQL's own programs, run as an account that they accept."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.databases.account import Account
from tests.databases.child import dying_with_this_process

_FIND_PROGRAMS = Path(__file__).resolve().parents[2] / ".ci" / "postgresql-bin"
_SECONDS = 60


class NoServerPrograms(Exception):  # noqa: N818 - named for what was found
    """This machine has no PostgreSQL server; the message says where it was looked for and what to install."""


class ServerDidNotStart(Exception):  # noqa: N818 - named for what happened
    """PostgreSQL refused to start, or took too long.

    Args:
        program: which of its programs.
        output: what it wrote.
    """

    def __init__(self, *, program: str, output: str) -> None:
        self.program, self.output = program, output
        super().__init__(f"PostgreSQL's {program} failed, or took too long; it said:\n{output.strip() or '(nothing)'}")


@dataclass(frozen=True, kw_only=True, slots=True)
class PostgresPrograms:
    """The programs of one PostgreSQL and the account that runs them.

    Args:
        directory: where `initdb` and `postgres` are.
        account: who runs them; root may not.
    """

    directory: Path
    account: Account

    @classmethod
    def found(cls) -> Self:
        """Return those that `.ci/postgresql-bin` finds.

        Raises:
            NoServerPrograms: there are none.
        """
        search = subprocess.run([_FIND_PROGRAMS], capture_output=True, text=True, check=False, timeout=_SECONDS)
        if search.returncode:
            raise NoServerPrograms(search.stderr.strip())
        return cls(directory=Path(search.stdout.strip()), account=Account.of_a_server())

    def make_data(self, data: Path, superuser: str) -> None:
        """Makes a data directory: UTF-8, sorted by code point as in SQLite; who can reach the server may log in.

        Raises:
            ServerDidNotStart: with what initdb said.
        """
        options = [f"--username={superuser}", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        made = subprocess.run(
            [self.directory / "initdb", *options, "-D", data],
            user=self.account.user,
            group=self.account.group,
            extra_groups=self.account.extra_groups,
            env=_environment(),
            cwd=data.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        if made.returncode:
            raise ServerDidNotStart(program="initdb", output=made.stdout)

    def serve(self, data: Path, settings: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
        """Starts the server itself; it ends with this process."""
        with log.open("ab") as output:
            return subprocess.Popen(
                [self.directory / "postgres", "-D", data, *(f"--{name}={value}" for name, value in settings.items())],
                user=self.account.user,
                group=self.account.group,
                extra_groups=self.account.extra_groups,
                env=_environment(),
                cwd=data.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,  # Ctrl-C ends the tests, and they end the server
                preexec_fn=dying_with_this_process(signal.SIGQUIT),  # noqa: PLW1509 - it takes no lock
            )


def _environment() -> dict[str, str]:
    """No PGDATA, PGPORT or locale of whoever runs the tests."""
    return {"PATH": os.environ["PATH"], "LC_ALL": "C"}
