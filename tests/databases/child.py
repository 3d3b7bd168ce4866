"""Child processes that end with the process that started them, however it ends."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def dying_with_this_process(number: signal.Signals) -> Callable[[], None]:
    """A `preexec_fn`: the kernel sends the child the signal when this process dies, by kill -9 too.

    Strictly it does so when the *thread* ends that starts the child. A child that changes its user loses the request,
    so this must come after that; `subprocess` sees to it.

    Returns:
        What the child runs between fork and exec. It loads nothing: another thread may have held the loader's lock.
    """
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def in_the_child() -> None:
        prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it died before the request
            os.kill(os.getpid(), signal.SIGKILL)

    return in_the_child
