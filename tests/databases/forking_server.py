"""The other side of `forking`: `python -m tests.databases.forking_server DESCRIPTOR` forks a child for each task."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import Connection

from tests.databases.child import dying_with_this_process
from tests.databases.forking import Ended, Task

_MOST_BYTES = 32_000
"""What a child says must fit into a pipe that nobody reads before the child has ended."""


def _serve(connection: Connection) -> None:
    while True:
        try:
            tasks, at_once = connection.recv()
        except EOFError:
            return
        _run_all(tasks, at_once, connection)


def _run_all(tasks: Sequence[Task], at_once: int, connection: Connection) -> None:
    waiting, running = deque(enumerate(tasks)), dict[int, tuple[int, int]]()
    while waiting or running:
        while waiting and len(running) < at_once:
            number, task = waiting.popleft()
            pid, mouth = _fork(task)
            running[pid] = (number, mouth)
        pid, status = os.wait()
        number, mouth = running.pop(pid)
        with os.fdopen(mouth, "rb") as output:
            text = output.read().decode(errors="replace")
        connection.send(Ended(task=number, pid=pid, code=os.waitstatus_to_exitcode(status), output=text))


def _fork(task: Task) -> tuple[int, int]:
    """The child's process, and where to read what it says."""
    ours, theirs = os.pipe()
    die_with_this_process = dying_with_this_process(signal.SIGKILL)
    pid = os.fork()
    if pid:
        os.close(theirs)
        return pid, ours
    die_with_this_process()
    code = 1
    try:
        output = task.function(*task.arguments)
        code = 0
    except BaseException:  # noqa: BLE001 - told to the test, which judges it
        output = traceback.format_exc()
    os.write(theirs, output.encode()[-_MOST_BYTES:])
    os._exit(code)  # not through what this process would do at its end


if __name__ == "__main__":
    with Connection(int(sys.argv[1])) as _connection:
        _serve(_connection)
