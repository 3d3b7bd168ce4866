"""The lifeline of one run: the process's, its lease, and what is asked of it (DESIGN section 6)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from toolkit.ledger.runs.status import Request
from toolkit.ledger.vocabulary import RequestKind
from toolkit.runs.deadline import Deadline
from toolkit.runs.errors import LeaseExpired, PauseAsked
from toolkit.runs.lifeline import Lifeline
from toolkit.runs.orders import Orders

_LOOK_SECONDS = 0.2
"""So often a paused run looks whether a signal came."""


@dataclass(kw_only=True)
class RunLifeline:
    """Asked before each effect of a run; one that was asked to pause does so in there, until it may go on.

    Attributes:
        process: the lifeline of the whole process.
        deadline: of the run's lease.
        orders: what is asked of the run.
        beat: gives a sign of life at once.
        pause: writes down that the run is suspended.
        go_on: writes down that it runs again, or that it never stopped.
    """

    process: Lifeline
    deadline: Deadline
    orders: Orders
    beat: Callable[[], object]
    pause: Callable[[Request], None]
    go_on: Callable[[Request], None]
    _turn: threading.Lock = field(default_factory=threading.Lock, init=False)
    _is_attending: bool = field(default=False, init=False)
    _is_resting: bool = field(default=False, init=False)

    def check(self) -> None:
        """See `Lifeline.check`.

        Raises:
            Stopped: the run must not start another effect.
        """
        self.process.check()
        if self.orders.has_some or self._is_attending:
            with self._turn:
                self._attend()
        self._keep_lease()

    def check_without_rest(self) -> None:
        """As `check`, for work that would go on elsewhere while this thread rests.

        Raises:
            PauseAsked: the run is to pause; whoever asks must call the work off, and then `check`.
            Stopped: the run must not start another effect.
        """
        self.process.check()
        self._stop_if_told()
        if self._is_resting or self.orders.asks_to_pause:
            raise PauseAsked
        self._keep_lease()

    def _attend(self) -> None:
        """Threads of one run wait for each other here, so that all of them pause; a signal may have come meanwhile."""
        self._is_attending = True
        try:
            self.process.check()
            self._stop_if_told()
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
        while True:
            self.orders.wait(_LOOK_SECONDS)
            self.process.check()
            self._stop_if_told()
            self._keep_lease()
            newer = self.orders.take()
            if newer is None:
                continue
            if newer.kind is RequestKind.RESUME:
                self.go_on(newer)
                return
            self.pause(newer)

    def _stop_if_told(self) -> None:
        if self.orders.stopped is not None:
            raise self.orders.stopped

    def _keep_lease(self) -> None:
        """After the deadline only the ledger can say whether the lease is still there; silence counts as a no."""
        if not self.deadline.is_over():
            return
        self.beat()
        if self.deadline.is_over():
            self.orders.stop(LeaseExpired(why="the ledger did not renew it in time"))
        self._stop_if_told()
