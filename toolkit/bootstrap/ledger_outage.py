"""Messages about a ledger that the monitor cannot use: they cannot go through its outbox (issue 32).

A file in the user's state folder remembers when people were told, so that not every pass tells them.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.bootstrap.ledgers import state_folder
from toolkit.bootstrap.messages import channels_of
from toolkit.el import shift
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.alert_messages import OPERATION, moment
from toolkit.notify.channel import DeliveryError
from toolkit.notify.message import Message, MessageEvent, MessageSeverity
from toolkit.notify.routing import alert_routes
from toolkit.plain_files import replace_file

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.variables import Variables

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerOutage:
    """Outage of the ledger of an environment, as this machine has reported it.

    Attributes:
        repository: the config repo.
        variables: of the process.
        now: the instant by the clock of this machine.
    """

    repository: Repository
    variables: Variables
    now: datetime

    def tell(self, problem: str) -> None:
        """Send that the ledger cannot be used, at once and then whenever a reminder of an alert would be due."""
        since, last = self._remembered() or (self.now, None)
        if last is not None and shift(last, self.repository.settings.monitoring.remind, 1) > self.now:
            return
        event = MessageEvent.ALERT_OPENED if last is None else MessageEvent.ALERT_REMINDED
        todo = "No alert is recorded and no other message is sent meanwhile; `feedctl doctor` says what is reachable."
        self._send(event, since, f"{problem}\n\n{todo}")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._file, f"{since.isoformat()} {self.now.isoformat()}".encode())

    def end(self) -> None:
        """Send that the ledger can be used again, if people were told that it could not."""
        remembered = self._remembered()
        if remembered is None:
            return
        self._send(MessageEvent.ALERT_CLOSED, remembered[0], "The ledger can be used again.")
        with suppress(OSError):
            self._file.unlink(missing_ok=True)

    def _send(self, event: MessageEvent, since: datetime, text: str) -> None:
        channels = channels_of(self.repository, self.variables)
        message = self._message(event, since, text)
        for route in alert_routes(self.repository, AlertKind.LEDGER, "", ""):
            channel = channels.find(route.channel)
            try:
                if channel is not None:
                    with closing(channel.open()) as session:
                        session.send(message, route.recipient)
            except DeliveryError as error:
                _LOG.warning('event=ledger_outage_not_told channel=%s why="%s"', route.channel, error)

    def _message(self, event: MessageEvent, since: datetime, text: str) -> Message:
        is_over = event is MessageEvent.ALERT_CLOSED
        name = f"ledger/{self.repository.settings.name or ''}/{self._environment}"
        digest = hashlib.sha256(f"{name} {event} {since.isoformat()} {self.now.isoformat()}".encode()).hexdigest()
        return Message(
            message_id=f"alert-{digest[:32]}",
            event=event,
            severity=MessageSeverity.INFO if is_over else MessageSeverity.CRITICAL,
            subject=f"{'over: ' if is_over else ''}the ledger of {self._environment or 'feedctl'} cannot be used",
            text=text,
            time=moment(self.now),
            status="CLOSED" if is_over else "OPEN",
            operation=OPERATION,
            thread=name,
            facts={"kind": str(AlertKind.LEDGER), "level": str(AlertLevel.HIGH), "openedAt": moment(since)},
        )

    @property
    def _environment(self) -> str:
        return "" if self.repository.environment is None else self.repository.environment.name

    @property
    def _file(self) -> Path:
        name = f"{self.repository.settings.name} {self._environment} {self.repository.settings.ledger}"
        return state_folder(self.variables) / f"ledger-outage-{hashlib.sha256(name.encode()).hexdigest()[:16]}"

    def _remembered(self) -> tuple[datetime, datetime] | None:
        """Return since when the ledger could not be used, and when people were last told; None: it could."""
        try:
            since, last = self._times()
        except (OSError, ValueError):
            return None
        return since, last

    def _times(self) -> Iterator[datetime]:
        return (datetime.fromisoformat(each).astimezone(UTC) for each in self._file.read_text("utf-8").split())
