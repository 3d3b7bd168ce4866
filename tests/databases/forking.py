"""Children for tests that kill them: forked within milliseconds from a process that has no threads and no connections.

The tests themselves must not fork: pytest and its workers have threads.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from tests.databases.child import dying_with_this_process

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """What a child does.

    Args:
        function: of a module that can be imported; what it returns is told.
        arguments: picklable.
    """

    function: Callable[..., str]
    arguments: tuple[object, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a child ended.

    Args:
        task: the place of its task among those given.
        pid: its process.
        code: exit code; negative: the signal that killed it.
        output: what its function returned, or the traceback of its error.
    """

    task: int
    pid: int
    code: int
    output: str

    @property
    def was_killed(self) -> bool:
        """True if it died of kill -9."""
        return self.code == -signal.SIGKILL


class Forks:
    """The process that forks; `forking` starts one and ends it."""

    def __init__(self, connection: Connection, process: subprocess.Popen[bytes]) -> None:
        self._connection, self._process = connection, process

    def run(self, tasks: Sequence[Task], *, at_once: int) -> Iterator[Ended]:
        """Run the tasks, so many at once, and tell of each when it has ended; take all of it."""
        self._connection.send((list(tasks), at_once))
        for _ in tasks:
            ended: Ended = self._connection.recv()
            yield ended

    def stop(self) -> None:
        """End it, and with it all children, whatever they do."""
        self._process.kill()
        self._process.wait()

    def call(self, function: Callable[..., str], *arguments: object) -> Ended:
        """Run one child."""
        (ended,) = self.run([Task(function=function, arguments=arguments)], at_once=1)
        return ended


@contextmanager
def forking() -> Iterator[Forks]:
    """A process that forks, until the block ends; its children die with it, and it with this process."""
    ours, theirs = socket.socketpair()
    program = [sys.executable, "-m", "tests.databases.forking_server", str(theirs.fileno())]
    with subprocess.Popen(
        program,
        cwd=_ROOT,
        pass_fds=[theirs.fileno()],
        preexec_fn=dying_with_this_process(signal.SIGKILL),  # noqa: PLW1509 - it takes no lock
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
    ) as process:
        theirs.close()
        with Connection(ours.detach()) as connection:
            started = Forks(connection, process)
            try:
                yield started
            finally:
                started.stop()
