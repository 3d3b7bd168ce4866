"""News of alerts into the outbox, in the transaction that changes the alerts (issue 32)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.entities.monitoring import WebhookFormat
from toolkit.ledger import alerts, outbox, silences
from toolkit.ledger.alert_rows import SentMessage
from toolkit.ledger.vocabulary import AlertKind
from toolkit.monitoring.alert_messages import digest_message, group_message
from toolkit.monitoring.grouping import AlertGroup, AlertNews, grouped
from toolkit.notify.message import MessageEvent
from toolkit.notify.routing import MAIL, alert_routes, new_messages
from toolkit.planning.sla import moment_after

if TYPE_CHECKING:
    from toolkit.el import Frequency
    from toolkit.entities import Feed, Process, Repository
    from toolkit.entities.sla import FeedSla, ProcessSla
    from toolkit.ledger.alert_rows import Alert, RecordedChanges
    from toolkit.ledger.database import Transaction
    from toolkit.notify.routing import MessageRoute

_INCIDENTS = frozenset({WebhookFormat.PAGERDUTY, WebhookFormat.ALERTMANAGER})
_SLA_KINDS = frozenset({AlertKind.SLA, AlertKind.SLA_START, AlertKind.SLA_END, AlertKind.EMPTY})


@dataclass(frozen=True, kw_only=True, slots=True)
class NewsResult:
    """Result of putting news of alerts into the outbox.

    Attributes:
        messages: rows of the outbox, one for each recipient.
        silenced: alerts of which a message is due when no silence matches them any more.
    """

    messages: int = 0
    silenced: int = 0


def put_news(tx: Transaction, repository: Repository, recorded: RecordedChanges, at: datetime) -> NewsResult:
    """Put messages into the outbox: of alerts of which one is due, and of those that are over and were told of.

    Args:
        tx: the transaction that recorded the changes.
        repository: the config repo.
        recorded: the changes.
        at: the time of the pass.
    """
    due = alerts.due(tx, at)
    active = silences.active(tx, at) if due else []
    loud = [each for each in due if not any(silence.matches(silence_subject(repository, each)) for silence in active)]
    over = [each for each in recorded.closed if each.notified_at is not None]
    directory = _Directory(repository)
    news = [directory.news(each, _event(each)) for each in loud]
    ended = [directory.news(each, MessageEvent.ALERT_CLOSED) for each in over]
    settings = repository.settings.monitoring
    groups = grouped(
        [*news, *ended],
        at.astimezone(UTC),
        group_by=settings.group_by,
        storm_limit=settings.storm_limit,
        incident_channels=_incident_channels(repository),
    )
    _note(tx, repository, news, groups, at)
    still_open = alerts.open_in_threads(tx, {each.thread for each in groups})
    count = 0
    for group in groups:
        message = group_message(group, _entity_type(repository, group), still_open.get(group.thread, 0))
        rows = new_messages(message, group.routes, settings.expires, alert_id=group.alerts[0].alert_id)
        outbox.put(tx, rows)
        count += len(rows)
    return NewsResult(messages=count, silenced=len(due) - len(loud))


def put_digest(tx: Transaction, repository: Repository, at: datetime) -> int:
    """Put the mails of the day into the outbox, once for each day in UTC and recipient, and return how many there are.

    They have what was open at the beginning of the day and still is.
    """
    if not repository.settings.monitoring.digest:
        return 0
    day = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    of_recipient: dict[MessageRoute, list[Alert]] = {}
    directory = _Directory(repository)
    for each in alerts.open_alerts(tx, day):
        for route in directory.routes(each):
            if route.channel == MAIL:
                of_recipient.setdefault(route, []).append(each)
    for route, found in sorted(of_recipient.items()):
        message = digest_message(route.recipient, found, day)
        outbox.put(tx, new_messages(message, [route], repository.settings.monitoring.expires))
    return len(of_recipient)


def silence_subject(repository: Repository, alert: Alert) -> Mapping[str, tuple[str, ...]]:
    """Return the values of an alert that a silence can match; see `silences.MATCHED`."""
    entity = _entity(repository, alert.key.entity)
    tags = {} if entity is None else entity.tags
    return {
        "entity": (alert.key.entity,),
        "cluster": (alert.key.cluster,),
        "instance": (alert.key.instance_key,),
        "kind": (str(alert.key.kind),),
        "owner": (entity.owner,) if entity is not None and entity.owner else (),
        "tag": tuple(f"{name}={value}" for name, value in tags.items()),
    }


@dataclass(frozen=True)
class _Directory:
    """Entities of alerts and who gets messages of them; each is found once."""

    repository: Repository
    _routes: dict[tuple[AlertKind, str, str], tuple[MessageRoute, ...]] = field(default_factory=dict)

    def routes(self, alert: Alert) -> tuple[MessageRoute, ...]:
        """Return who gets messages of an alert."""
        key = (alert.key.kind, alert.key.entity, alert.key.cluster)
        if key not in self._routes:
            self._routes[key] = alert_routes(self.repository, *key)
        return self._routes[key]

    @cached_property
    def _domains_of_feeds(self) -> Mapping[str, str]:
        processes = self.repository.processes.values()
        return {output.feed: each.domain for each in processes for output in each.outputs.values() if each.domain}

    def domain(self, name: str) -> str:
        """Return the business domain of an entity; that of a feed is the one of a process that writes it."""
        process = self.repository.processes.get(name)
        return (process.domain if process is not None else self._domains_of_feeds.get(name)) or ""

    def news(self, alert: Alert, event: MessageEvent) -> AlertNews:
        """Return the news that a message tells."""
        return AlertNews(alert=alert, event=event, domain=self.domain(alert.key.entity), routes=self.routes(alert))


def _event(alert: Alert) -> MessageEvent:
    """Return the event of an open alert of which a message is due."""
    if alert.notified_at is None:
        return MessageEvent.ALERT_OPENED
    is_worse = alert.escalated_at is not None and alert.remind_at == alert.escalated_at
    return MessageEvent.ALERT_ESCALATED if is_worse else MessageEvent.ALERT_REMINDED


def _note(
    tx: Transaction, repository: Repository, news: Iterable[AlertNews], groups: Iterable[AlertGroup], at: datetime
) -> None:
    """Write down which open alerts have a message, and when the next one is due."""
    threads = {each.alert_id: group.thread for group in groups for each in group.alerts}
    sent, unsent = [], {}
    for each in news:
        alert = each.alert
        after = moment_after(at, _remind(repository, alert))
        if each.routes:
            thread = alert.thread or threads[alert.alert_id]
            is_acked = alert.acked_by is not None
            sent.append(SentMessage(alert_id=alert.alert_id, thread=thread, remind_at=None if is_acked else after))
        else:
            unsent[alert.alert_id] = after
    alerts.note_messages(tx, sent, at)
    alerts.postpone(tx, unsent)


def _remind(repository: Repository, alert: Alert) -> Frequency:
    """Return the time between messages about an open alert."""
    sla: FeedSla | ProcessSla | None = None
    if alert.key.kind in _SLA_KINDS:
        feed, process = repository.feeds.get(alert.key.entity), repository.processes.get(alert.key.entity)
        if process is not None:
            sla = process.sla
        elif feed is not None:
            own = next((each.sla for each in feed.clusters if each.name == alert.key.cluster), None)
            sla = own or feed.sla
    return (sla.remind if sla is not None else None) or repository.settings.monitoring.remind


def _incident_channels(repository: Repository) -> frozenset[str]:
    """Return the channels whose receiver keeps an incident for each thread."""
    channels = repository.settings.monitoring.channels
    return frozenset(each.name for each in channels if each.format in _INCIDENTS)


def _entity(repository: Repository, name: str) -> Feed | Process | None:
    return repository.feeds.get(name) or repository.processes.get(name)


def _entity_type(repository: Repository, group: AlertGroup) -> str:
    names = {each.key.entity for each in group.alerts}
    name = names.pop() if len(names) == 1 else ""
    if not name:
        return ""
    return "FEED" if name in repository.feeds else "PROCESS" if name in repository.processes else "DATASET"
