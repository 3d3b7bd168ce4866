"""Signs of life for all runs of this process: one thread renews their leases and reads what is asked of them."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Protocol, Self

from toolkit.ledger.runs.status import Request
from toolkit.runs.deadline import BEATS, Deadline
from toolkit.runs.errors import LeaseExpired, Stopped
from toolkit.runs.orders import Orders
from toolkit.runs.recorder import Beat, RecordedRun, Recorder

_JOIN_SECONDS = 2.0
"""So long the end of a process waits for a beat that hangs."""


class Living(Protocol):
    """A run that the heartbeat keeps alive."""

    @property
    def recorded(self) -> RecordedRun:
        """Which run it is."""
        ...

    @property
    def deadline(self) -> Deadline:
        """Is told of each renewal."""
        ...

    @property
    def orders(self) -> Orders:
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
        self._runs: dict[int, Living] = {}
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

    def add(self, run: Living) -> None:
        """Keep a run alive from now on; one that the ledger does not know needs nothing."""
        run_id = run.recorded.run_id
        if run_id is None:
            return
        with self._lock:
            self._runs[run_id] = run
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._beat_on, name="feedctl-heartbeat", daemon=True)
                self._thread.start()

    def remove(self, run: Living) -> None:
        """The run is over; it is no error when it was not there."""
        with self._lock:
            self._runs.pop(run.recorded.run_id or 0, None)

    def beat(self) -> bool:
        """One sign of life for all runs; what the ledger says goes to their deadlines and orders.

        Returns:
            False: the ledger is lost, and they were told so.
        """
        with self._lock:
            runs = dict(self._runs)
        if not runs:
            return True
        sent = {run_id: run.deadline.now() for run_id, run in runs.items()}
        try:
            beat = self._recorder.beat([run.recorded for run in runs.values()])
        except Stopped as stopped:
            for run in runs.values():
                run.orders.stop(stopped)
            return False
        _tell(runs, beat, sent)
        return True

    def _beat_on(self) -> None:
        while not self._over.wait(self._pause) and self.beat():
            pass


def _tell(runs: dict[int, Living], beat: Beat, sent: dict[int, float]) -> None:
    for run_id in beat.renewed:
        runs[run_id].deadline.renewed(sent[run_id])
    for run_id, why in beat.lost.items():
        runs[run_id].orders.stop(LeaseExpired(why=why))
    for request in beat.requests:
        _ask(runs, request)


def _ask(runs: dict[int, Living], request: Request) -> None:
    run = runs.get(request.run_id)
    if run is not None:
        run.orders.ask(request)
