"""Being started by spark-submit: how it is known, its end, and what it does to the standard streams."""

from __future__ import annotations

import ctypes
import logging
import os
import socket
import sys
from collections.abc import Mapping

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
    result = ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if result != 0:
        _LOG.warning("event=no_parent_death_signal errno=%d", ctypes.get_errno())
    return bool(result == 0)


def gateway_is_alive(port: int) -> bool:
    """Whether the JVM still listens; only a refusal counts as its death, a slow answer does not."""
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


def stderr_of_parent() -> bool:
    """Lead standard error to that of the parent, where the two streams of this process were joined into one.

    Returns:
        Whether it was done: not where the streams are apart, and not where the system hides the parent's files.
    """
    try:
        if not os.path.sameopenfile(1, 2):
            return False
        parents = os.open(f"/proc/{os.getppid()}/fd/2", os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    except OSError:
        return False
    os.dup2(parents, 2)
    os.close(parents)
    return True
