"""Starts supervisors by forking: one Python process for all of them, since its own start takes longer than `true`.

A supervisor is what it would be if each were started by itself: a session of its own, with three files and nothing
else of the runner, and with the mark of its step in its environment before it learns what to run.
"""

from __future__ import annotations

import atexit
import marshal
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cache
from importlib.resources import files
from typing import Self

from toolkit.programs.left_over import MARK_VARIABLE

_SUPERVISOR, _FORK = "supervisor.py", "supervisor_fork.py"
_READY_SECONDS = 30.0
_END_SECONDS = 1.0
_MARK_BYTES = 1 << 13
"""Twice as long as the path of a log can be."""
_RUNS_CODE = """
import marshal, os, sys
code = os.read(0, int(sys.argv[2]))
for each in marshal.loads(code) if code else ():
    exec(each)
"""


class Supervisor:
    """A supervisor that has its mark and waits for its order, seen from the runner; a context manager.

    Args:
        orders: a pipe to write to; its end says that the runner is gone, or wants the step to end.
        reports: a pipe to read from.
    """

    def __init__(self, orders: int, reports: int) -> None:
        self.orders, self.reports = orders, reports
        self._open = [reports, orders]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            os.close(self._open.pop())

    def give_no_more_orders(self) -> None:
        """Let the step end."""
        if self.orders in self._open:
            self._open.remove(self.orders)
            os.close(self.orders)


class ForkServer:
    """A process that becomes a supervisor for each step, by forking; it ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def supervisor(self, mark: str, environment: Mapping[str, str], log: int) -> Supervisor:
        """Start a supervisor.

        Args:
            mark: of its step.
            environment: of a step, without secrets; the first one is that of all supervisors.
            log: the file that it writes unforeseen errors to.

        Raises:
            OSError: none can be started.
        """
        started = self._started(mark, environment, log) or self._started(mark, environment, log)
        if started is None:
            message = "the process that starts the supervisors of steps ends at once, or does not answer"
            raise OSError(message)
        return started

    def _started(self, mark: str, environment: Mapping[str, str], log: int) -> Supervisor | None:
        """Return a supervisor; None: the server has ended, and the next call starts another one."""
        order, orders = os.pipe()
        reports, report = os.pipe()
        with ExitStack() as ours:
            ours.callback(_close, orders, reports)
            request = os.fsencode(f"{MARK_VARIABLE}={mark}")  # as `left_over` looks for it
            with ExitStack() as theirs, self._lock:
                theirs.callback(_close, order, report)
                requests = self._running(environment)
                try:
                    socket.send_fds(requests, [request], [order, report, log])
                except OSError:  # it has ended, or takes nothing: others wait for the lock
                    self.end()
            if _is_ready(reports):
                ours.pop_all()
                return Supervisor(orders, reports)
        with self._lock:
            if requests is self._requests:
                self.end()
        return None

    def _running(self, environment: Mapping[str, str]) -> socket.socket:
        """Return the server's socket; a server is started if there is none."""
        if self._requests is None:
            code = _supervisor_code()
            own, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with other:
                self._process = subprocess.Popen(  # noqa: S603 - our own script
                    [sys.executable, "-I", "-S", "-X", "utf8", "-c", _RUNS_CODE, _SUPERVISOR, str(len(code))],
                    stdin=other.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**environment, MARK_VARIABLE: "-" * _MARK_BYTES},
                    start_new_session=True,  # Ctrl-C is for the runner, which tells the step in its own time
                )
            own.settimeout(_READY_SECONDS)
            own.sendall(code)
            self._requests = own
        return self._requests

    def end(self) -> None:
        """End the server, if there is one; supervisors at work go on."""
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
            self._process.kill()
            self._process.wait()
            self._process = None


def _is_ready(reports: int) -> bool:
    """Return whether the supervisor says that it has its mark."""
    ear = select.poll()  # `select` cannot look at a process's thousandth file
    ear.register(reports, select.POLLIN)
    return bool(ear.poll(_READY_SECONDS * 1000)) and bool(os.read(reports, 1))


def _close(*numbers: int) -> None:
    for each in numbers:
        os.close(each)


@cache
def _supervisor_code() -> bytes:
    """Compiled here: Python would do it anew for each server, since it keeps no code of a program's own file."""
    sources = ((name, (files(__package__) / name).read_text(encoding="utf-8")) for name in (_SUPERVISOR, _FORK))
    return marshal.dumps(tuple(compile(text, name, "exec", dont_inherit=True) for name, text in sources))


@cache
def fork_server() -> ForkServer:
    """Return the server of this process."""
    server = ForkServer()
    atexit.register(server.end)  # waited for, so that its time and that of the steps counts as that of this process
    return server
