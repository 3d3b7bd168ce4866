"""Alerts as the ledger records them, and the changes of them that a pass of the monitor decides (issue 32)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from toolkit.ledger.vocabulary import AlertKind, AlertLevel


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class AlertKey:
    """Subject of an alert, of which at most one is open; the fields are columns of `alert`."""

    entity: str
    cluster: str = ""
    instance_key: str = ""
    kind: AlertKind


@dataclass(frozen=True, kw_only=True, slots=True)
class NewAlert:
    """An alert that is not recorded yet; the fields are columns of `alert`, where each is explained."""

    key: AlertKey
    level: AlertLevel
    opened_at: datetime
    escalated_at: datetime | None = None
    closed_at: datetime | None = None
    closed_because: str | None = None
    message: str
    facts: Mapping[str, object] = field(default_factory=dict)
    remind_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert(NewAlert):
    """A recorded alert."""

    alert_id: int
    notified_at: datetime | None = None
    thread: str | None = None
    acked_by: str | None = None
    acked_at: datetime | None = None
    ack_reason: str | None = None
    recorded_at: datetime

    @property
    def is_open(self) -> bool:
        """True while it is wrong."""
        return self.closed_at is None


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertEscalation:
    """Rise of an open alert from low to high.

    Attributes:
        alert_id: its number.
        escalated_at: from when on its level is high.
        message: what is wrong now.
        facts: the same for programs.
        remind_at: when a message is due.
    """

    alert_id: int
    escalated_at: datetime
    message: str
    facts: Mapping[str, object]
    remind_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertClosing:
    """End of an open alert.

    Attributes:
        alert_id: its number.
        closed_at: until when it was wrong.
        because: what ended it.
    """

    alert_id: int
    closed_at: datetime
    because: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertChanges:
    """Changes of alerts that a pass has decided.

    Attributes:
        opened: new alerts; some may be over already.
        escalated: open alerts that rose from low to high.
        closed: open alerts that are over.
    """

    opened: tuple[NewAlert, ...] = ()
    escalated: tuple[AlertEscalation, ...] = ()
    closed: tuple[AlertClosing, ...] = ()

    def __add__(self, other: AlertChanges) -> AlertChanges:
        """Return the changes of both."""
        return AlertChanges(
            opened=self.opened + other.opened,
            escalated=self.escalated + other.escalated,
            closed=self.closed + other.closed,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedChanges:
    """Changes that this transaction made; those that another monitor had made before are left out.

    Attributes:
        opened: the new alerts, those that are over already too.
        escalated: the alerts that rose.
        closed: the alerts that were open and are over.
    """

    opened: tuple[Alert, ...] = ()
    escalated: tuple[Alert, ...] = ()
    closed: tuple[Alert, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SentMessage:
    """Message of an alert that was put into the outbox.

    Attributes:
        alert_id: of the alert.
        thread: that the message belongs to.
        remind_at: when the next message is due; None: never.
    """

    alert_id: int
    thread: str
    remind_at: datetime | None
