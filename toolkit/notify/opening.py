"""Channels by their names in the outbox, as the config repo and the environment describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.entities.cluster import STOMP_ENDPOINT
from toolkit.entities.env_references import MissingVariable
from toolkit.entities.monitoring import ChannelType
from toolkit.entities.monitoring_formats import expand_webhook_url
from toolkit.errors import InvalidInput
from toolkit.notify.channel import Channel, ChannelSession, ChannelUnavailable
from toolkit.notify.command import CommandChannel
from toolkit.notify.mail import SmtpServer
from toolkit.notify.routing import BROKER, MAIL
from toolkit.notify.stomp import Broker
from toolkit.notify.webhook import Webhook

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.entities.cluster import Messaging
    from toolkit.entities.monitoring import ChannelSettings, MailServer


class NotStomp(InvalidInput):
    """The end point of a broker is of another protocol than the one that messages are sent by."""

    def __init__(self, *, endpoint: str) -> None:
        self.endpoint = endpoint
        super().__init__(
            f"the end point {endpoint} is none of STOMP; write the port of the broker's STOMP connector: "
            "stomp://HOST:61613, or stomp+ssl://HOST:PORT"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BadChannel(Channel):
    """A channel whose settings cannot be used; another process may have the variables that it needs.

    Attributes:
        why: what is wrong.
    """

    why: str

    @override
    def open(self) -> ChannelSession:
        raise ChannelUnavailable(why=self.why)


@dataclass(frozen=True, kw_only=True, slots=True)
class Channels:
    """The channels of a config repo.

    Attributes:
        repository: the config repo.
        variables: environment variables of the process, with the secrets of channels.
        environment: variables of the programs of channels.
    """

    repository: Repository
    variables: Mapping[str, str]
    environment: Mapping[str, str]

    def find(self, name: str) -> Channel | None:
        """Return the channel with a name; None: the config repo has none with it."""
        try:
            return self._find(name)
        except InvalidInput as error:
            return BadChannel(why=str(error))

    def _find(self, name: str) -> Channel | None:
        monitoring = self.repository.settings.monitoring
        if name == MAIL:
            return None if monitoring.mail is None else self._mail(monitoring.mail)
        if name.startswith(BROKER):
            cluster = self.repository.clusters.get(name.removeprefix(BROKER))
            messaging = None if cluster is None else cluster.interfaces.messaging
            return None if messaging is None else self._broker(messaging)
        return next((self._channel(each) for each in monitoring.channels if each.name == name), None)

    def _mail(self, server: MailServer) -> SmtpServer:
        login = server.credential
        return SmtpServer(
            host=server.host,
            port=server.port,
            tls=server.tls,
            sender=server.sender,
            user="" if login is None else login.user,
            password="" if login is None else self._variable(login.env),
        )

    def _broker(self, messaging: Messaging) -> Broker:
        found = STOMP_ENDPOINT.fullmatch(messaging.endpoint)
        if found is None:
            raise NotStomp(endpoint=messaging.endpoint)
        login = messaging.credential
        return Broker(
            host=found["address"] or found["host"],
            port=int(found["port"]),
            is_tls=found["tls"] is not None,
            user="" if login is None else login.user,
            password="" if login is None else self._variable(login.env),
        )

    def _channel(self, settings: ChannelSettings) -> Channel:
        if settings.type is ChannelType.COMMAND:
            return CommandChannel(arguments=settings.command, environment=self.environment)
        return Webhook(
            url=expand_webhook_url(settings.url or "", self.variables),
            allowed_hosts=self.repository.settings.monitoring.allowed_hosts,
            style=settings.format,
            secret="" if settings.secret is None else self._variable(settings.secret.env),
        )

    def _variable(self, name: str) -> str:
        if name not in self.variables:
            raise MissingVariable(name=name)
        return self.variables[name]
