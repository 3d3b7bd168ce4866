"""Thread that delivers messages beside an action, which neither waits for it nor fails with it."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable

from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.notify.delivery import Delivered, Delivery

_LOG = logging.getLogger(__name__)

AGAIN_SECONDS = 15.0
"""A process that goes on for long tries again after so long to send what could not be sent."""
_AT_MOST_SECONDS = 50.0
"""A channel that hangs keeps new messages of the others waiting for so long at most."""
_SHARE = 0.9
"""Part of the time at the end for sending; the rest is for noting which channels did not answer."""


class Sender:
    """Delivers what waits in the outbox whenever it is woken; its thread begins with the first message.

    Args:
        opened: makes the delivery, in the thread: what sends takes time to load.
    """

    def __init__(self, opened: Callable[[], Delivery]) -> None:
        self._opened = opened
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_awake = self._is_ending = False
        self._deadline = math.inf
        self._delivery: Delivery | None = None
        self._report = Delivered()

    @property
    def has_begun(self) -> bool:
        """True if there was a message."""
        return self._thread is not None

    def wake(self) -> None:
        """Have new messages sent; returns at once. Safe from any thread."""
        with self._changed:
            self._is_awake = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="feedctl-messages", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self, seconds: float) -> Delivered:
        """Let what waits be sent if receivers take it now, for so long at most; nothing is sent after that."""
        if self._thread is None:
            return self._report
        with self._changed:
            self._is_ending = True
            self._deadline = time.monotonic() + _SHARE * seconds
            self._changed.notify()
        self._thread.join(seconds)
        if self._delivery is not None:
            self._delivery.ending.set()
        return self._report

    def _work(self) -> None:
        self._delivery = delivery = self._opened()
        while True:
            is_last = self._wait()
            self._deliver(delivery)
            if is_last:
                return

    def _deliver(self, delivery: Delivery) -> None:
        latest = time.monotonic() + _AT_MOST_SECONDS
        try:
            self._report = delivery.run(lambda: min(self._deadline, latest))
        except (LedgerUnavailable, LedgerConflict) as error:
            _LOG.warning('event=messages_not_sent why="%s"', error)
        if time.monotonic() >= latest:
            self._is_awake = True  # a channel with many messages goes on

    def _wait(self) -> bool:
        """Return when something may be sent; True if it is for the last time."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_awake or self._is_ending, AGAIN_SECONDS if self._report.failures else None
            )
            self._is_awake = False
            return self._is_ending
