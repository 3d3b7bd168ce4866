"""Outbox of messages to a broker: a sender neither waits for the broker nor fails with it."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from toolkit.notify.message import InstanceMessage
from toolkit.notify.stomp import BrokerError, MessageRefused

MOST = 10_000
"""So many messages wait, as many as instances that one run may copy unless the repo says more; the rest is lost."""
IDLE_SECONDS = 10.0
"""A connection that nothing was sent over for so long is closed: what lies between might have forgotten it."""
_PAUSES = (0.5, 1.0, 2.0, 5.0)
"""Seconds between two tries to reach a broker; the last stays."""


class Session(Protocol):
    """A connection to a broker."""

    def send(self, message: InstanceMessage) -> None:
        """Hand over a message.

        Raises:
            BrokerError: it is not known to be there; the session is of no use any more.
        """
        ...

    def close(self) -> None:
        """End it."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Unsent:
    """Messages that may not have arrived.

    Attributes:
        count: so many.
        of: so many there were.
        why: the last error.
    """

    count: int
    of: int
    why: str


class Outbox:
    """The messages for one broker, sent in their order by a thread of its own, each until the broker has it.

    A broker that ended just then may have a message although it did not say so, and gets it twice.

    Args:
        connect: opens a session. Raises `BrokerError`.
        most: so many messages wait.
    """

    def __init__(self, connect: Callable[[], Session], *, most: int = MOST) -> None:
        self._connect, self._most = connect, most
        self._changed = threading.Condition()
        self._waiting: deque[InstanceMessage] = deque()
        self._thread: threading.Thread | None = None
        self._session: Session | None = None
        self._put = self._arrived = 0
        self._is_ending = False
        self._why = ""

    def put(self, message: InstanceMessage) -> None:
        """Have a message sent; returns at once. Safe from any thread."""
        with self._changed:
            self._put += 1
            if len(self._waiting) < self._most:
                self._waiting.append(message)
            else:
                self._why = self._why or f"{self._most} messages were waiting already"
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="feedctl-messages", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self, deadline: float) -> Unsent | None:
        """Let what waits be sent, if the broker takes it now; nothing is sent after that.

        Args:
            deadline: so long, by `time.monotonic`.

        Returns:
            None: the broker has all messages.
        """
        with self._changed:
            self._is_ending = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))
        with self._changed:
            self._waiting.clear()
            count, why = self._put - self._arrived, self._why or "no answer in time"
        return Unsent(count=count, of=self._put, why=why) if count else None

    def _work(self) -> None:
        failures = 0
        while (message := self._next()) is not None:
            is_new = self._session is None
            try:
                self._session = self._session or self._connect()
                self._session.send(message)
            except BrokerError as error:
                self._hang_up()
                self._why = str(error)
                if isinstance(error, MessageRefused):
                    self._forget(message)
                elif is_new:  # one that was open before may be broken alone, so that another is tried at once
                    if self._is_ending:
                        return
                    self._rest(_PAUSES[min(failures, len(_PAUSES) - 1)])
                    failures += 1
            else:
                failures = 0
                self._arrived += 1
                self._forget(message)
        self._hang_up()

    def _next(self) -> InstanceMessage | None:
        """The message whose turn it is; None: there is none, and none comes."""
        with self._changed:
            while not self._waiting:
                if self._is_ending:
                    return None
                if not self._changed.wait(IDLE_SECONDS):
                    self._hang_up()
            return self._waiting[0]

    def _forget(self, message: InstanceMessage) -> None:
        with self._changed:
            if self._waiting and self._waiting[0] is message:
                self._waiting.popleft()

    def _rest(self, seconds: float) -> None:
        """Let a broker come back; who wants to end waits no longer than for one more try."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_ending, seconds)

    def _hang_up(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
