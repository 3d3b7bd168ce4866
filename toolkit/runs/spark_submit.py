"""Being started by spark-submit: how it is known, its end, and what it does to the standard streams."""

from __future__ import annotations

import io
import logging
import os
import socket
import stat
import sys
import threading
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typing_extensions import Buffer

_LOG = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1
_CONNECT_SECONDS = 5.0


def die_with_parent(number: int) -> bool:
    """Ask the kernel to send the signal when the parent dies.

    Returns:
        False where the kernel has no such call (it is Linux's prctl); then only the watcher notices.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # noqa: PLC0415 - every command loads this module, few are started by spark-submit

    result = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if result != 0:
        _LOG.warning("event=no_parent_death_signal errno=%d", ctypes.get_errno())
    return bool(result == 0)


def gateway_is_alive(port: int) -> bool:
    """Return whether the JVM still listens; only a refusal counts as its death, a slow answer does not."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_SECONDS):
            return True
    except ConnectionRefusedError:
        return False
    except OSError:
        return True


def gateway_port(environment: Mapping[str, str]) -> int | None:
    """The port on which spark-submit's JVM serves this driver; None when spark-submit did not start it."""
    text = environment.get("PYSPARK_GATEWAY_PORT", "")
    return int(text) if text.isdecimal() else None


def lead_stderr_to_parent(environment: Mapping[str, str]) -> None:
    """Lead standard error to that of spark-submit, which has joined both streams of this process into its own output.

    Nothing is done where the streams are apart, or the system hides the parent's files. A regular file is opened for
    appending, and everything that Python says there is written by the JVM itself as long as it lives: only who has the
    JVM's own open file moves the place in it at which the JVM, and the shell behind `>`, go on.

    Args:
        environment: of the process; spark-submit started it.
    """
    port, files = gateway_port(environment), f"/proc/{os.getppid()}/fd"
    try:
        if port is None or not os.path.sameopenfile(1, 2):
            return
        parents = os.open(f"{files}/2", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        is_one_file = os.path.samestat(os.stat(f"{files}/1"), os.fstat(parents))  # noqa: PTH116 - beside a descriptor
    except OSError:
        return
    if not stat.S_ISREG(os.fstat(parents).st_mode):
        os.dup2(parents, 2)
        os.close(parents)
        return
    if not is_one_file:  # else what libraries in C say may stay joined with the output, which goes to the same place
        os.dup2(parents, 2)
    raw = StderrOfJvm(port, environment.get("PYSPARK_GATEWAY_SECRET", ""), parents)
    sys.stderr = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


class StderrOfJvm(io.BufferedIOBase):
    """Writes by `System.err` of the JVM, asked in the text protocol of py4j, whose client would log into itself.

    Args:
        port: of the JVM's gateway.
        secret: that the gateway asks for.
        instead: a descriptor for what the JVM does not write, because it is dead.
    """

    def __init__(self, port: int, secret: str, instead: int) -> None:
        self._instead, self._lock = instead, threading.Lock()
        self._gateway: tuple[socket.socket, TextIO] | None = None
        with suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_SECONDS)
            self._gateway = connection, connection.makefile("r", encoding="utf-8")
        self._call("A", secret)
        self._err = (self._call("r", "m", "java.lang.System", "err", "e") or "").removeprefix("r")

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Buffer, /) -> int:
        """Write to the standard error of Java, or to that of this process once Java does not answer."""
        octets = bytes(data)
        with self._lock:
            if self._call("c", self._err, "write", f"j{b64encode(octets).decode()}", "e") is not None:
                return len(octets)
        return os.write(self._instead, octets)

    def _call(self, *parts: str) -> str | None:
        """Return the answer to a command without its sign of success; None: the JVM is not asked any more."""
        if self._gateway is None:
            return None
        connection, answers = self._gateway
        with suppress(OSError):
            connection.sendall("".join(f"{part}\n" for part in parts).encode())
            answer = answers.readline().rstrip("\n")
            if answer.startswith("!y"):
                return answer.removeprefix("!y")
        self._gateway = None
        answers.close()
        connection.close()
        return None
