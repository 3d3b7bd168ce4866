"""The run's life hangs on its parent and on signals: once told to stop, it starts no new effect (DESIGN section 1)."""

from __future__ import annotations

import logging
import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from toolkit.runs.errors import Stopped
from toolkit.runs.parent import die_with_parent, gateway_is_alive
from toolkit.runs.submitted import gateway_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

_LOG = logging.getLogger(__name__)
_WATCH_SECONDS = 0.1


class Lifeline(Protocol):
    """What an action asks before each effect."""

    def check(self) -> None:
        """Return if the run may go on.

        Raises:
            Stopped: it must not start another effect.
        """
        ...


class Unbounded:
    """The lifeline of a run that nothing stops: for tests and for callers that watch signals themselves."""

    def check(self) -> None:
        """Always go on."""


class CurrentLifeline:
    """The lifeline of whichever run is at work; storage, which is opened once for all runs, asks it.

    Args:
        process: the lifeline between runs.
    """

    def __init__(self, process: Lifeline) -> None:
        self._at_work = process

    def check(self) -> None:
        """See `Lifeline.check`."""
        self._at_work.check()

    @contextmanager
    def of(self, run: Lifeline) -> Iterator[None]:
        """Ask the run while the body runs."""
        before, self._at_work = self._at_work, run
        try:
            yield
        finally:
            self._at_work = before


class ProcessLifeline:
    """Set by SIGTERM, SIGINT or the loss of the parent process; the first one to come names the reason."""

    def __init__(self) -> None:
        self._stopped: Stopped | None = None

    def check(self) -> None:
        """See `Lifeline.check`."""
        if self._stopped is not None:
            raise self._stopped

    def stop(self, stopped: Stopped) -> None:
        """Let no effect start from now on; safe in signal handlers and threads."""
        if self._stopped is None:
            self._stopped = stopped

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Handle SIGTERM and SIGINT; a second Ctrl-C interrupts at once, for a call that hangs."""
        interrupted = number == signal.SIGINT
        if interrupted and self._stopped is not None and self._stopped.interrupted:
            raise KeyboardInterrupt
        self.stop(Stopped(reason=f"received {signal.Signals(number).name}", interrupted=interrupted))


@contextmanager
def lifeline(environment: Mapping[str, str]) -> Iterator[ProcessLifeline]:
    """Watch signals, and under spark-submit the parent process, while the body runs; main thread only.

    Args:
        environment: of the process; `PYSPARK_GATEWAY_PORT` says that spark-submit started it.
    """
    line = ProcessLifeline()
    previous = {number: signal.signal(number, line.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    ended = threading.Event()
    try:
        port = gateway_port(environment)
        if port is not None:
            _hang_on_parent(line, port, ended)
        yield line
    finally:
        ended.set()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _hang_on_parent(line: ProcessLifeline, port: int, ended: threading.Event) -> None:
    """Order matters: first ask to be told of the parent's death, then see whether it came before that."""
    parent = os.getppid()
    die_with_parent(signal.SIGTERM)
    if not gateway_is_alive(port):
        line.stop(Stopped(reason=f"spark-submit is gone (nothing answers on its gateway port {port})"))
        return
    watcher = threading.Thread(
        target=watch_parent, args=(line, parent, ended), name="feedctl-parent-watch", daemon=True
    )
    watcher.start()


def watch_parent(line: ProcessLifeline, parent: int, ended: threading.Event) -> None:
    """Stop the line when this process gets another parent.

    The fallback where the kernel does not tell; it sets the flag itself, since a handler may have been replaced.
    """
    while not ended.wait(_WATCH_SECONDS):
        if os.getppid() != parent:
            _LOG.warning("event=parent_lost parent=%d", parent)
            line.stop(Stopped(reason=f"the parent process {parent} (spark-submit) died"))
            return
