"""Becomes a supervisor for each step, in a process of its own that it forks; runs after `supervisor`, in its names.

It has the code of both and one socket, on which the runner sends the mark of each step with its three files
(`fork_server`). Python's own modules only, as there.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import NoReturn

    from toolkit.programs.supervisor import main
else:
    import _socket as socket  # `socket` itself loads enum and selectors

_MOST_BYTES = 1 << 16


def serve() -> None:
    """Become a supervisor for each request, in a process of its own, until the runner is gone."""
    requests = socket.socket(fileno=0)
    while True:
        mark, control, _, _ = requests.recvmsg(_MOST_BYTES, socket.CMSG_SPACE(3 * 4))
        forget_ended()
        if not mark:
            return
        ends = _files_of(control[0][2])
        try:
            pid = os.fork()
        except OSError:  # the runner finds that its pipe has ended
            pid = -1
        if pid == 0:
            _become_supervisor(mark, ends)
        for each in ends:
            os.close(each)


def forget_ended() -> None:
    """Take note of children that have ended, so that they are gone and their time counts as that of this process."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _files_of(octets: bytes) -> list[int]:
    """Return the numbers in a message with files."""
    return [int.from_bytes(octets[at : at + 4], sys.byteorder) for at in range(0, len(octets), 4)]


def _become_supervisor(mark: bytes, ends: list[int]) -> NoReturn:
    """Run a step to its end, and end."""
    code = 1
    try:
        os.setsid()
        for number, end in enumerate(ends):
            os.dup2(end, number)
            os.close(end)
        carry(mark)
        os.write(1, b".")
        main()
        code = 0
    finally:
        kind, error, trace = sys.exc_info()
        if kind is not None and error is not None and kind is not SystemExit:
            sys.excepthook(kind, error, trace)
            sys.stderr.flush()
        os._exit(code)


def carry(mark: bytes) -> None:
    """Show the mark of a step in this process's environment, where the server keeps room for it.

    Others read the environment that a process began with, so it is written over that.
    """
    name, _, value = mark.partition(b"=")
    library = ctypes.CDLL(None)
    library.getenv.restype = ctypes.c_void_p
    place = library.getenv(name)
    if len(value) >= len(ctypes.string_at(place)):
        sys.exit(1)
    ctypes.memmove(place, value + b"\0", len(value) + 1)


if __name__ == "__main__":
    serve()
