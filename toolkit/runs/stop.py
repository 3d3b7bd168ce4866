"""Stop of a run: by signals, the loss of its parent or lease, and commands (DESIGN sections 1 and 6)."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from toolkit.ledger.runs.errors import TooManyRun
from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.runs.errors import LeaseExpired, ParentLost, PauseRequested, Stopped
from toolkit.runs.lease import Deadline, RunCommands
from toolkit.runs.spark_submit import die_with_parent, gateway_is_alive, gateway_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType


_LOG = logging.getLogger(__name__)
_WATCH_SECONDS = 0.1
_PARENT_DIED = getattr(signal, "SIGRTMIN", signal.SIGTERM)
"""Signal of the parent's death; it has no other use here, so that SIGTERM is always a kill."""


class StopSignal(Protocol):
    """Signal that an action asks before each effect."""

    def check(self) -> None:
        """Return if the run may go on.

        Raises:
            Stopped: it must not start another effect.
        """
        ...


class NeverStopped:
    """The stop signal of a run that nothing stops: for tests and for callers that watch signals themselves."""

    def check(self) -> None:
        """Always go on."""


class ProcessStop(StopSignal):
    """Set by SIGTERM, SIGINT or the loss of the parent process; the first one to come names the reason."""

    def __init__(self) -> None:
        self._stopped: Stopped | None = None

    @override
    def check(self) -> None:
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

    def on_parent_death(self, _number: int, _frame: FrameType | None) -> None:
        """Handle the signal of the kernel that the parent process has ended."""
        self.stop(ParentLost(how="spark-submit died"))


@contextmanager
def watched_signals(environment: Mapping[str, str]) -> Iterator[ProcessStop]:
    """Watch signals, and under spark-submit the parent process, while the body runs; main thread only.

    Args:
        environment: of the process; `PYSPARK_GATEWAY_PORT` says that spark-submit started it.
    """
    line = ProcessStop()
    port = gateway_port(environment)
    previous = {} if port is None else {_PARENT_DIED: signal.signal(_PARENT_DIED, line.on_parent_death)}
    previous |= {number: signal.signal(number, line.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    ended = threading.Event()
    try:
        if port is not None:
            _hang_on_parent(line, port, ended)
        yield line
    finally:
        ended.set()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _hang_on_parent(line: ProcessStop, port: int, ended: threading.Event) -> None:
    """Order matters: first ask to be told of the parent's death, then see whether it came before that."""
    parent = os.getppid()
    die_with_parent(_PARENT_DIED)
    if not gateway_is_alive(port):
        line.stop(ParentLost(how=f"spark-submit is gone (nothing answers on its gateway port {port})"))
        return
    watcher = threading.Thread(
        target=watch_parent, args=(line, parent, ended), name="feedctl-parent-watch", daemon=True
    )
    watcher.start()


def watch_parent(line: ProcessStop, parent: int, ended: threading.Event) -> None:
    """Stop the line when this process gets another parent.

    The fallback where the kernel does not tell; it sets the flag itself, since a handler may have been replaced.
    """
    while not ended.wait(_WATCH_SECONDS):
        if os.getppid() != parent:
            _LOG.warning("event=parent_lost parent=%d", parent)
            line.stop(ParentLost(how=f"spark-submit (process {parent}) died"))
            return


_LOOK_SECONDS = 0.2
"""So often a paused run looks whether a signal came."""
_PLACE_SECONDS = 2.0
"""So often a run that is to go on looks whether there is room for it, when others have taken its place."""


@dataclass(kw_only=True)
class RunStop(StopSignal):
    """Asked before each effect of a run; one that was asked to pause does so in there, until it may go on.

    Attributes:
        process: the stop signal of the whole process.
        deadline: of the run's lease.
        orders: what is asked of the run.
        beat: gives a sign of life at once.
        pause: writes down that the run is suspended.
        go_on: writes down that it runs again, or that it never stopped; raises `TooManyRun` while there is no room.
    """

    process: StopSignal
    deadline: Deadline
    orders: RunCommands
    beat: Callable[[], object]
    pause: Callable[[Request], None]
    go_on: Callable[[Request], None]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_attending: bool = field(default=False, init=False)
    _is_resting: bool = field(default=False, init=False)

    @override
    def check(self) -> None:
        """Wait in here while the run is suspended."""
        self.process.check()
        if self.orders.has_some or self._is_attending:
            with self._lock:
                self._attend()
        self._keep_lease()

    def check_without_rest(self) -> None:
        """Do as `check` does, for work that would go on elsewhere while this thread rests.

        Raises:
            PauseAsked: the run is to pause; the caller must call the work off, and then `check`.
            Stopped: the run must not start another effect.
        """
        self.process.check()
        self._stop_if_requested()
        if self._is_resting or self.orders.asks_to_pause:
            raise PauseRequested
        self._keep_lease()

    def _attend(self) -> None:
        """Threads of one run wait for each other here, so that all of them pause; a signal may have come meanwhile."""
        self._is_attending = True
        try:
            self.process.check()
            self._stop_if_requested()
            request = self.orders.take()
            if request is not None:
                self._obey(request)
        finally:
            self._is_attending = False

    def _obey(self, request: Request) -> None:
        if request.kind is RequestKind.SUSPEND:
            self._is_resting = True
            try:
                self._rest(request)
            finally:
                self._is_resting = False
        else:
            self.go_on(request)

    def _rest(self, request: Request) -> None:
        self.pause(request)
        newest, asks_at = request, 0.0
        while True:
            self.orders.wait(_LOOK_SECONDS)
            self.process.check()
            self._stop_if_requested()
            self._keep_lease()
            newer = self.orders.take()
            if newer is not None:
                newest, asks_at = newer, 0.0
                if newer.kind is RequestKind.SUSPEND:
                    self.pause(newer)
            if newest.kind is RequestKind.RESUME and time.monotonic() >= asks_at:
                if self._goes_on(newest):
                    return
                asks_at = time.monotonic() + _PLACE_SECONDS

    def _goes_on(self, request: Request) -> bool:
        try:
            self.go_on(request)
        except TooManyRun as full:
            _LOG.info("event=resume_waits why=%s", full)
            return False
        return True

    def _stop_if_requested(self) -> None:
        if self.orders.stopped is not None:
            raise self.orders.stopped

    def _keep_lease(self) -> None:
        """After the deadline only the ledger can say whether the lease is still there; silence counts as a no."""
        if not self.deadline.is_over():
            return
        self.beat()
        if self.deadline.is_over():
            self.orders.stop(LeaseExpired(why="the ledger did not renew it in time"))
        self._stop_if_requested()
