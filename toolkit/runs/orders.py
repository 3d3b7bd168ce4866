"""What a run is told from outside while it works: the heartbeat writes it, the run reads it before each effect."""

from __future__ import annotations

import threading

from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.runs.errors import RunKilled, Stopped


class Orders:
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
        """Whether there is anything to attend to."""
        return self.stopped is not None or self._request is not None

    @property
    def asks_to_pause(self) -> bool:
        """Whether the newest request that was not taken yet is to suspend the run."""
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
