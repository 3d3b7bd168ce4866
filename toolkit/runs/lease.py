"""Until when a run owns what it works on: the lease's deadline, the heartbeat that moves it, and commands meanwhile."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.runs.errors import LeaseExpired, LedgerLost, RunKilled, Stopped
from toolkit.runs.recorder import HeartbeatReply, RecordedRun, Recorder

MonotonicClock = Callable[[], float]
"""Seconds from some fixed moment on; it never goes back."""

LEASE_SECONDS = 60.0
"""So long a lease lasts without a sign of life from its owner."""
BEATS = 6
"""So many signs of life fit into a lease."""


def machine_clock() -> float:
    """Seconds since the machine started; where the system can tell, those that it slept count as well."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Deadline:
    """The last moment at which an effect may start.

    The database counts a lease from the moment at which it wrote it, which is not before the call was sent; so a lease
    lasts at least until the sending plus its seconds. One beat less is left for the effect that has just begun.

    Args:
        seconds: of the lease.
        clock: of this machine.
    """

    def __init__(self, *, seconds: float, clock: MonotonicClock = machine_clock) -> None:
        self.seconds, self._clock = seconds, clock
        self._until = clock() + self._usable

    @property
    def _usable(self) -> float:
        return self.seconds * (BEATS - 1) / BEATS

    def now(self) -> float:
        """The moment to remember before a renewal is sent."""
        return self._clock()

    def renewed(self, sent_at: float) -> None:
        """The ledger has renewed the lease.

        Args:
            sent_at: what `now` said before the ledger was asked.
        """
        self._until = max(self._until, sent_at + self._usable)

    def seconds_left(self) -> float:
        """Return the seconds for which effects may start from now on; 0 or less: none may."""
        return self._until - self._clock()

    def is_over(self) -> bool:
        """Return whether it is too late to start an effect."""
        return self._clock() >= self._until


class RunCommands:
    """The newest order of each kind; safe between threads.

    Attributes:
        stopped: why no further effect may start; the first reason stays.
    """

    def __init__(self) -> None:
        self.stopped: Stopped | None = None
        self._request: Request | None = None
        self._taken = -1
        self._lock = threading.Lock()
        self._arrived = threading.Event()

    @property
    def has_some(self) -> bool:
        """True if there is anything to attend to."""
        return self.stopped is not None or self._request is not None

    @property
    def asks_to_pause(self) -> bool:
        """True if the newest request that was not taken yet is to suspend the run."""
        request = self._request
        return request is not None and request.kind is RequestKind.SUSPEND

    def stop(self, stopped: Stopped) -> None:
        """Let no further effect start."""
        with self._lock:
            self.stopped = self.stopped or stopped
        self._arrived.set()

    def ask(self, request: Request) -> None:
        """A request of a command; one that was taken already may come again."""
        if request.kind is RequestKind.KILL:
            self.stop(RunKilled(who=request.requested_by))
            return
        with self._lock:
            newest = self._taken if self._request is None else self._request.request_id
            if request.request_id > newest:
                self._request = request
        self._arrived.set()

    def take(self) -> Request | None:
        """The newest request that was not taken before."""
        with self._lock:
            request, self._request = self._request, None
            if request is not None:
                self._taken = request.request_id
        return request

    def wait(self, seconds: float) -> None:
        """Return when something arrives, or after so many seconds."""
        self._arrived.wait(seconds)
        self._arrived.clear()


_JOIN_SECONDS = 2.0
"""So long the end of a process waits for a beat that hangs."""


class LeaseHolder(Protocol):
    """A run that the heartbeat keeps alive."""

    @property
    def recorded(self) -> RecordedRun:
        """Return the identity of the run."""
        ...

    @property
    def deadline(self) -> Deadline:
        """Is told of each renewal."""
        ...

    @property
    def orders(self) -> RunCommands:
        """Are told what is asked of the run."""
        ...


class Heartbeat:
    """Beats `BEATS` times in the life of a lease, as long as there are runs; a context manager, which ends its thread.

    A thread that dies, or hangs on the ledger, renews nothing: then the deadlines of the runs pass, and they stop.

    Args:
        recorder: renews leases and reads requests.
        seconds: that leases last.
    """

    def __init__(self, recorder: Recorder, *, seconds: float) -> None:
        self._recorder, self._pause = recorder, seconds / BEATS
        self._runs: dict[int, LeaseHolder] = {}
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(min(self._pause, _JOIN_SECONDS))

    def add(self, run: LeaseHolder) -> None:
        """Keep a run alive from now on; one that the ledger does not know needs nothing."""
        run_id = run.recorded.run_id
        if run_id is None:
            return
        with self._lock:
            self._runs[run_id] = run
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat_on, name="feedctl-heartbeat", daemon=True)
                self._thread.start()

    def remove(self, run: LeaseHolder) -> None:
        """The run is over; it is no error when it was not there."""
        with self._lock:
            self._runs.pop(run.recorded.run_id or 0, None)

    def beat(self) -> bool:
        """Send one sign of life for all runs; what the ledger says goes to their deadlines and orders.

        While the ledger is away nothing is renewed: a run is told so when its lease is over.

        Returns:
            False: the ledger is lost, and all runs were told so.
        """
        with self._lock:
            runs = dict(self._runs)
        if not runs:
            return True
        sent = {run_id: run.deadline.now() for run_id, run in runs.items()}
        try:
            beat = self._recorder.beat([run.recorded for run in runs.values()])
        except Stopped as stopped:
            lost = [run for run in runs.values() if not _may_wait(run, stopped)]
            for run in lost:
                run.orders.stop(stopped)
            return len(lost) < len(runs)
        _tell(runs, beat, sent)
        return True

    def _beat_on(self) -> None:
        while not self._over.wait(self._pause) and self.beat():
            pass


def _may_wait(run: LeaseHolder, stopped: Stopped) -> bool:
    """Return whether a run continues without the ledger: its lease is valid, and the ledger may come back."""
    left = run.deadline.seconds_left()
    return isinstance(stopped, LedgerLost) and stopped.may_return and 0 < left < math.inf


def _tell(runs: dict[int, LeaseHolder], beat: HeartbeatReply, sent: dict[int, float]) -> None:
    for run_id in beat.renewed:
        runs[run_id].deadline.renewed(sent[run_id])
    for run_id, why in beat.lost.items():
        runs[run_id].orders.stop(LeaseExpired(why=why))
    for request in beat.requests:
        _ask(runs, request)


def _ask(runs: dict[int, LeaseHolder], request: Request) -> None:
    run = runs.get(request.run_id)
    if run is not None:
        run.orders.ask(request)
