"""The process that owns the servers of one run: `python -m tests.testbed.supervisor PID STARTED`.

It listens before it goes into the background, so whoever started it can connect at once. It ends with its controller.
"""

from __future__ import annotations

import errno
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from tests.testbed.controller import Controller, left_behind
from tests.testbed.descendants import adopt_orphans, kill_children
from tests.testbed.processes import Starter
from tests.testbed.requests import END, Request
from tests.testbed.servers import Servers

_BACKLOG = 64


class Supervisor:
    """Answers requests about servers until its controller ends, or until it is told to end.

    Args:
        controller: whose servers they are.
        listener: where requests arrive.
    """

    def __init__(self, controller: Controller, listener: socket.socket) -> None:
        self._controller, self._listener = controller, listener
        self._end_requested = os.eventfd(0)
        self._starter = Starter()
        self._servers = Servers(self._starter, controller.directory)

    def serve(self) -> None:
        """Serve, then end all servers and remove what they kept."""
        adopt_orphans()
        try:
            self._serve()
        finally:
            with ExitStack() as last:  # in this order from below, and each whatever becomes of the one before
                last.callback(shutil.rmtree, self._controller.directory, ignore_errors=True)
                last.callback(kill_children)
                last.callback(self._starter.end)

    def _serve(self) -> None:
        try:
            ends = os.pidfd_open(self._controller.pid)
        except ProcessLookupError:
            return
        if not self._controller.is_alive:  # another process has its number
            return
        while True:
            ready, _, _ = select.select([self._listener.fileno(), ends, self._end_requested], [], [])
            if ready != [self._listener.fileno()]:
                return
            connection, _ = self._listener.accept()
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rw") as stream:
            request = Request.read(stream.readline())
            if request.action == END:
                os.eventfd_write(self._end_requested, 1)
                threading.Event().wait()  # the caller sees the end of the connection when this process is gone
            stream.write(json.dumps(self._servers.answer(request)) + "\n")


def _listen(controller: Controller) -> socket.socket | None:
    """The socket of requests, None when another supervisor has it."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(controller.address)
    except OSError as failure:
        if failure.errno == errno.EADDRINUSE:
            return None
        raise
    listener.listen(_BACKLOG)
    return listener


def _go_into_background(log: Path) -> None:
    """Let whoever started this go on; keep nothing of theirs open."""
    if os.fork():
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for theirs, ours in ((0, nothing), (1, output), (2, output)):
        os.dup2(ours, theirs)


def main(controller: Controller) -> None:
    """Become the supervisor of a controller, unless it has one."""
    if listener := _listen(controller):
        for each in (controller.directory, *left_behind(controller.directory.parent)):
            shutil.rmtree(each, ignore_errors=True)
        controller.directory.mkdir(mode=0o700, parents=True)
        _go_into_background(controller.directory / "supervisor.log")
        Supervisor(controller, listener).serve()
        os._exit(0)  # threads may still wait for servers that are gone


if __name__ == "__main__":
    main(Controller(pid=int(sys.argv[1]), started=int(sys.argv[2])))
