"""What a supervisor does about processes that its servers start, as Spark's workers start executors."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of each descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_children() -> None:
    """Kill all descendants: the children, then those that become children thereby."""
    while children := _children():
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> list[int]:
    """All children; those of a thread that ends meanwhile pass to another thread, so they are looked for again."""
    while True:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            lists = [each.read_text() for each in Path("/proc/self/task").glob("*/children")]
            return [int(pid) for each in lists for pid in each.split()]
