"""Ends the processes of a step whose runner and supervisor are both gone: their environment names the step's log.

The end of that path has the ledger, the process, the cluster, the instance, the run and the step, which are computed
anew: a process that does not prove by them that it is the step is left alone, whatever a row of the ledger says.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from toolkit.programs.step_log import mark_of

MARK_VARIABLE = "FEEDCTL_STEP"
"""In the environment of each process of a step: the path of its log. Programs may read it; it must stay as it is."""

TAG_VARIABLE = "FEEDCTL_YARN_TAG"
"""In the same environment: the tag of what the step submits to YARN, see `tag_of`."""

_VARIABLE = f"{MARK_VARIABLE}=".encode()
_PROC = Path("/proc")
_LOOK_SECONDS = 0.05
_KILL_SECONDS = 20.0
_ENDED = (b"Z", b"X")


def end_processes(log: Path, *, grace_seconds: float) -> frozenset[int]:
    """End what still runs of a step on this machine; returns when all of it is gone.

    Args:
        log: of the step's attempt.
        grace_seconds: between asking and ending.

    Returns:
        what could not be ended: it hangs in a call of the kernel, or belongs to another user.
    """
    left = _until_gone(log, signal.SIGTERM, grace_seconds)
    return _until_gone(log, signal.SIGKILL, _KILL_SECONDS) if left else left


def processes_of(log: Path) -> frozenset[int]:
    """The living processes of a step on this machine, as far as this user may look at them."""
    wanted = os.fsencode(f"/{mark_of(log)}")
    numbers = (int(each.name) for each in _PROC.iterdir() if each.name.isdecimal()) if _PROC.is_dir() else ()
    return frozenset(each for each in numbers if each != os.getpid() and _carries(each, wanted))


def _until_gone(log: Path, number: int, seconds: float) -> frozenset[int]:
    deadline, signalled = time.monotonic() + seconds, set[int]()
    while True:
        there = processes_of(log)
        if not there or time.monotonic() > deadline:
            return there
        for pid in there - signalled:
            _tell(pid, number)
        signalled |= there
        time.sleep(_LOOK_SECONDS)


def _carries(pid: int, wanted: bytes) -> bool:
    place = _PROC / str(pid)
    try:
        variables = (place / "environ").read_bytes().split(b"\0")
        if not any(each.startswith(_VARIABLE) and each.endswith(wanted) for each in variables):
            return False
        return not (place / "stat").read_bytes().rpartition(b")")[2].strip().startswith(_ENDED)
    except OSError:
        return False


def _tell(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        return  # gone meanwhile, or another program's: the next look tells
