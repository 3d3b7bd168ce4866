"""Delivery of what waits in the outbox: channels at the same time, the messages of each in their order."""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from toolkit.ledger import outbox
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.notify.channel import ChannelUnavailable, DeliveryError, MessageRefused, RecipientUnavailable
from toolkit.notify.message import Message, NotAMessage
from toolkit.threads import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.ledger.database import Ledger
    from toolkit.ledger.outbox import OutboxMessage
    from toolkit.notify.channel import Channel, ChannelSession

_LOG = logging.getLogger(__name__)

PAUSES = (5.0, 15.0, 60.0, 120.0, 300.0)
"""Seconds for which a channel rests after the first failure, the second in a row, and so on; the last stays."""
AT_ONCE = 8
"""So many channels send at the same time."""
LATE = "no answer in time"
"""Failure of a channel that was waited for in vain."""
_BATCH = 100
_PATIENCE = 3
"""After so many failures a message no longer keeps those behind it waiting."""
_PASSING_SECONDS = 10.0
"""So long a delivery looks behind such messages for one that the receiver takes: all of them may fail slowly."""
_GRACE_SECONDS = 0.1
"""So long a message that is being sent may still take when the time is over: most take less."""
_STEP_SECONDS = 0.05
"""So often a delivery looks whether its time is over."""


@dataclass(kw_only=True)
class Delivered:
    """Report of a delivery.

    Attributes:
        sent: messages that receivers have.
        refused: messages that were given up, since no receiver would take them.
        expired: messages that were given up, since they had waited for too long.
        failures: why a channel could not send everything, by its name.
    """

    sent: int = 0
    refused: int = 0
    expired: int = 0
    failures: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Sends what waits in the outbox.

    Attributes:
        ledger: has the outbox.
        channel_of: the channel with a name; None: the config repo has none with it.
        owner: this process, as another one may ask whether it is gone.
        is_gone: says whether a process with such a name has ended for certain.
        pauses: see `PAUSES`.
        ending: set when this process sends no more; what is being sent then is sent again by the next one.
    """

    ledger: Ledger
    channel_of: Callable[[str], Channel | None]
    owner: str
    is_gone: Callable[[str], bool]
    pauses: tuple[float, ...] = PAUSES
    ending: threading.Event = field(default_factory=threading.Event)

    def run(self, deadline: Callable[[], float] = lambda: math.inf) -> Delivered:
        """Send what waits; channels that another process sends through, or that rest after a failure, are left.

        Args:
            deadline: return then, by `time.monotonic`, and leave the rest; asked again and again, since it may change.

        Raises:
            LedgerUnavailable: the outbox cannot be read.
            LedgerConflict: it was busy for too long.
        """
        report = Delivered(expired=self.ledger.write(outbox.expire))
        names = self.ledger.read(outbox.channels_due)
        pool, is_late = WorkerPool(min(len(names), AT_ONCE), "feedctl-messages"), threading.Event()
        sendings = {name: _Sending(delivery=self, name=name, report=report, is_late=is_late) for name in names}
        parts = {name: pool.submit(each.run) for name, each in sendings.items()}
        while wait(parts.values(), _STEP_SECONDS).not_done and time.monotonic() < deadline():
            pass
        is_late.set()
        wait(parts.values(), _GRACE_SECONDS)
        pool.shutdown()
        for name, part in parts.items():
            if part.done() and not part.cancelled():
                part.result()
            else:
                self._give_up(sendings[name], report)
        return report

    def _give_up(self, sending: _Sending, report: Delivered) -> None:
        """Let a channel rest that has not answered in time: each process that ends would send the same once more."""
        error = f"{LATE}; what it was sent may have arrived"
        report.failures.setdefault(sending.name, LATE)
        give_back = partial(outbox.release, channel=sending.name, owner=sending.owner, error=error, pauses=self.pauses)
        self.ledger.write(give_back)


@dataclass(kw_only=True)
class _Sending:
    """The messages of one channel, in a thread of its own."""

    delivery: Delivery
    name: str
    report: Delivered
    is_late: threading.Event
    owner: str = field(init=False)
    """Another one each time: an earlier thread of this process may still hang in the same channel."""
    _session: ChannelSession | None = None
    _is_proven: bool = False
    """True if something was sent over the session: then it may be broken while a new one works."""

    def __post_init__(self) -> None:
        self.owner = f"{self.delivery.owner} {secrets.token_hex(4)}"

    def run(self) -> None:
        """Send what waits, and note what becomes of it; the ledger's errors end the sending."""
        try:
            self._run()
        except (LedgerUnavailable, LedgerConflict) as error:
            self.report.failures[self.name] = str(error)

    def _run(self) -> None:
        delivery, name = self.delivery, self.name
        is_gone = delivery.is_gone
        if not delivery.ledger.write(
            lambda tx: outbox.claim(tx, name, self.owner, lambda other: is_gone(other.rpartition(" ")[0]))
        ):
            return
        error: str | None = None
        try:
            self._send_all()
        except ChannelUnavailable as unavailable:
            error = unavailable.why
            self.report.failures[name] = error
            _LOG.warning('event=messages_not_sent channel=%s why="%s"', name, error)
        finally:
            self._hang_up()
            if not delivery.ending.is_set():
                delivery.ledger.write(
                    lambda tx: outbox.release(tx, name, self.owner, error=error, pauses=delivery.pauses)
                )

    @property
    def _is_over(self) -> bool:
        return self.is_late.is_set() or self.delivery.ending.is_set()

    def _send_all(self) -> None:
        """Send the messages in their order, those of a recipient that takes nothing now excepted.

        Messages that have failed so often that they may be the reason let the next one pass, but not for long.
        """
        busy: set[str] = set()
        latest = math.inf
        for message in self._waiting():
            if message.recipient in busy:
                continue
            error, is_refused = self._sent(message), False
            if error is not None:
                is_refused = isinstance(error, MessageRefused | NotAMessage)
                self.report.refused += is_refused
                if isinstance(error, RecipientUnavailable):
                    busy.add(message.recipient)
                self.report.failures[self.name] = str(error)
            if not self._noted(message, None if error is None else str(error), is_refused=is_refused):
                return
            if isinstance(error, ChannelUnavailable):
                if message.tries < _PATIENCE or time.monotonic() > latest:
                    raise error
                latest = min(latest, time.monotonic() + _PASSING_SECONDS)
            self.report.sent += error is None

    def _waiting(self) -> Iterator[OutboxMessage]:
        after = 0
        while True:
            found = self.delivery.ledger.read(partial(outbox.waiting, channel=self.name, after=after, most=_BATCH))
            for message in found:
                if self._is_over:
                    return
                yield message
                after = message.outbox_id
            if len(found) < _BATCH:
                return

    def _sent(self, message: OutboxMessage) -> DeliveryError | NotAMessage | None:
        """Send a message; return why it was not. A session that has served is tried anew once."""
        try:
            content = Message.from_json(message.body)
        except NotAMessage as error:
            return error
        while True:
            was_proven = self._is_proven
            try:
                self._opened().send(content, message.recipient)
            except ChannelUnavailable as error:
                self._hang_up()
                if not was_proven or self._is_over:
                    return error
            except DeliveryError as error:
                self._is_proven = True
                return error
            else:
                self._is_proven = True
                return None

    def _opened(self) -> ChannelSession:
        if self._session is None:
            channel = self.delivery.channel_of(self.name)
            if channel is None:
                raise ChannelUnavailable(why=f"the config repo has no channel {self.name!r} any more")
            self._session = channel.open()
        return self._session

    def _hang_up(self) -> None:
        session, self._session, self._is_proven = self._session, None, False
        if session is not None:
            session.close()

    def _noted(self, message: OutboxMessage, error: str | None, *, is_refused: bool) -> bool:
        """Return whether the channel still is this process's. A lost mark means a double."""
        if self.delivery.ending.is_set():
            return False
        return self.delivery.ledger.write(
            lambda tx: outbox.note(tx, message, self.owner, error=error, is_refused=is_refused), is_lasting=False
        )
