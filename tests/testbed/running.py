"""Programs that a test starts, ended with the block that uses them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import AnyStr


@contextmanager
def ending(process: subprocess.Popen[AnyStr]) -> Iterator[subprocess.Popen[AnyStr]]:
    """Kill a process and its group when the block ends, by a failed assertion too, wait for it, and close its pipes.

    A child that outlives its test fails other tests, since warnings are errors: "subprocess still running".

    Args:
        process: just started; its own children end with it if it was started with `start_new_session`, which a test
            must not do that looks after the block at what a killed process leaves behind.
    """
    with process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):  # it leads no group, or all of the group have ended
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
