"""Recipients of messages by the config repo: who is told of an alert, or of the end of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.entities.vocabulary import NotificationLevel
from toolkit.ledger.outbox import NewMessage

if TYPE_CHECKING:
    from toolkit.alert_vocabulary import AlertKind
    from toolkit.el import Frequency
    from toolkit.entities import Feed, Process, Repository
    from toolkit.entities.monitoring import ChannelSettings
    from toolkit.notify.message import Message

MAIL = "mail"
"""Name of the channel of mails."""
BROKER = "broker:"
"""Beginning of the names of the channels of brokers; the name of the cluster follows, and no other name has a colon."""
TOPIC_OF_ALL = "FALCON.ENTITY.TOPIC"
"""Topic of a broker that has the messages about all entities, as Falcon's was named."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class MessageRoute:
    """A channel, and who gets a message through it.

    Attributes:
        channel: `MAIL`, `BROKER` with the name of a cluster, or a name of `monitoring.channels`.
        recipient: an address or a topic; empty: the channel has only one.
    """

    channel: str
    recipient: str = ""


def alert_routes(repository: Repository, kind: AlertKind, entity: str, cluster: str) -> tuple[MessageRoute, ...]:
    """Return the routes of a message about an alert, sorted, each once.

    Args:
        repository: the config repo.
        kind: of the alert.
        entity: that it is about; of a dataset its URI; empty: none.
        cluster: empty: nowhere in particular.
    """
    monitoring, found = repository.settings.monitoring, _entity(repository, entity)
    notification = None if found is None else found.notification
    email = monitoring.to if notification is None else notification.email
    named = () if notification is None else notification.channels
    chosen = [
        each.name
        for each in monitoring.channels
        if each.name in named or ((not each.kinds or kind in each.kinds) and _matches(each, found, cluster))
    ]
    return _sorted(repository, email, chosen, entity if found is not None else "", cluster)


def run_routes(repository: Repository, entity: str, cluster: str, *, is_last: bool) -> tuple[MessageRoute, ...]:
    """Return the routes of a message about the end of a run, sorted, each once.

    A channel is told of runs only where the entity's notification names it.

    Args:
        repository: the config repo.
        entity: the feed or process.
        cluster: where it ran.
        is_last: no further attempt follows by itself.
    """
    found = _entity(repository, entity)
    notification = None if found is None else found.notification
    if notification is None or (not is_last and notification.level is NotificationLevel.INSTANCE):
        return _sorted(repository, (), (), entity, cluster)
    known = {each.name for each in repository.settings.monitoring.channels}
    return _sorted(repository, notification.email, known.intersection(notification.channels), entity, cluster)


def mail_routes(addresses: Iterable[str]) -> tuple[MessageRoute, ...]:
    """Return the routes of a mail, sorted, each once."""
    return tuple(sorted({MessageRoute(channel=MAIL, recipient=each) for each in addresses}))


def new_messages(
    message: Message,
    routes: Iterable[MessageRoute],
    expires: Frequency,
    *,
    alert_id: int | None = None,
    run_id: int | None = None,
) -> list[NewMessage]:
    """Return a message as the outbox keeps it, once for each route.

    Args:
        message: what is sent.
        routes: to whom.
        expires: see `Monitoring.expires`.
        alert_id: the alert that it is about.
        run_id: the run that it is about.
    """
    body = message.as_json()
    return [
        NewMessage(
            message_id=message.message_id,
            channel=route.channel,
            recipient=route.recipient,
            body=body,
            expires=expires,
            alert_id=alert_id,
            run_id=run_id,
        )
        for route in routes
    ]


def _entity(repository: Repository, name: str) -> Feed | Process | None:
    return repository.feeds.get(name) or repository.processes.get(name)


def _matches(settings: ChannelSettings, entity: Feed | Process | None, cluster: str) -> bool:
    owner = None if entity is None else entity.owner
    tags = {} if entity is None else entity.tags
    return (
        (not settings.clusters or cluster in settings.clusters)
        and (not settings.owners or owner in settings.owners)
        and all(tags.get(key) == value for key, value in settings.tags.items())
    )


def _sorted(
    repository: Repository, email: Iterable[str], channels: Iterable[str], entity: str, cluster: str
) -> tuple[MessageRoute, ...]:
    """Without a mail server there are no mails; lint says so."""
    mails = () if repository.settings.monitoring.mail is None else mail_routes(email)
    named = (MessageRoute(channel=each) for each in channels)
    return tuple(sorted({*mails, *named, *_broker_routes(repository, entity, cluster)}))


def _broker_routes(repository: Repository, entity: str, cluster: str) -> Iterator[MessageRoute]:
    found = repository.clusters.get(cluster)
    if found is not None and found.interfaces.messaging is not None:
        for topic in (f"FALCON.{entity}", TOPIC_OF_ALL) if entity else (TOPIC_OF_ALL,):
            yield MessageRoute(channel=f"{BROKER}{cluster}", recipient=topic)
