"""Whether the JVM that started this driver still lives, and the kernel's promise to tell when it dies."""

from __future__ import annotations

import ctypes
import logging
import socket
import sys

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
