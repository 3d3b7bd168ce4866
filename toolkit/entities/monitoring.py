"""Settings of monitoring (`monitoring:` of `repo.yaml`): alerts, mail, channels of messages, metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from toolkit.alert_vocabulary import AlertKind, AlertLevel
from toolkit.el import Frequency, Unit

_FOUR_HOURS = Frequency(unit=Unit.HOURS, count=4)
_TWO_DAYS = Frequency(unit=Unit.DAYS, count=2)


class GroupAlerts(StrEnum):
    """Alerts that one message tells together."""

    FEED = "feed"
    """All alerts of an entity."""
    CLUSTER = "cluster"
    """All alerts of a cluster."""
    DOMAIN = "domain"
    """All alerts of a business domain; an entity without a domain has a group of its own."""


class MailTls(StrEnum):
    """Encryption of the connection to a mail server."""

    STARTTLS = "starttls"
    """It begins in plain text and is encrypted before anything is said."""
    TLS = "tls"
    """It is encrypted from the first byte."""
    NONE = "none"
    """Plain text."""


class ChannelType(StrEnum):
    """Kind of a channel of messages."""

    WEBHOOK = "webhook"
    """An HTTP server that gets a POST."""
    COMMAND = "command"
    """A program that gets JSON on its standard input."""


class WebhookFormat(StrEnum):
    """Body of a webhook."""

    JSON = "json"
    """feedctl's own, signed with the secret."""
    SLACK = "slack"
    """An incoming webhook of Slack."""
    TEAMS = "teams"
    """A workflow of Teams, with an adaptive card."""
    PAGERDUTY = "pagerduty"
    """Events API v2 of PagerDuty; the secret is the routing key."""
    ALERTMANAGER = "alertmanager"
    """Alerts of Alertmanager, API v2."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MailLogin:
    """Login at a mail server; the password is in an environment variable."""

    user: str
    env: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MailServer:
    """The SMTP server that takes the mails.

    Attributes:
        sender: the address in the header ``From``.
        credential: None: no login.
    """

    host: str
    port: int = 587
    tls: MailTls = MailTls.STARTTLS
    sender: str
    credential: MailLogin | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookSecret:
    """A secret of a webhook, which is in an environment variable."""

    env: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelSettings:
    """A channel of messages besides mail and the brokers of clusters; filters that are absent let everything pass.

    Attributes:
        url: of a webhook; after the host, ``${env:FEEDCTL_WEBHOOK_...}`` stands for a secret.
        format: of the body of a webhook.
        secret: key of the signature of a webhook, or its routing key; None: it is not signed.
        command: a program and its arguments.
        kinds: kinds of alerts.
        clusters: names of clusters.
        owners: owners of entities.
        tags: an entity has all of them.
    """

    name: str
    type: ChannelType
    url: str | None = None
    format: WebhookFormat = WebhookFormat.JSON
    secret: WebhookSecret | None = None
    command: tuple[str, ...] = ()
    kinds: tuple[AlertKind, ...] = ()
    clusters: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricsSettings:
    """Settings of `feedctl metrics`.

    Attributes:
        push_gateway: URL of a Prometheus push gateway.
        statsd: ``HOST:PORT`` of a StatsD server.
        graphite: ``HOST:PORT`` of the plain text port of a Graphite server.
        max_series: most time series; what is beyond is counted together as ``other``.
    """

    push_gateway: str | None = None
    statsd: str | None = None
    graphite: str | None = None
    max_series: int = 10_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Monitoring:
    """Settings of monitoring.

    Attributes:
        remind: time between two messages about an open alert.
        group_by: alerts of one pass that a message tells together.
        storm_limit: more groups of a cluster than this, in one pass, are one message with the first of their alerts.
        expires: a message that could not be sent for so long is given up.
        tell: alerts from this level on are told.
        to: mail addresses for alerts of entities without a notification.
        digest: whether each owner gets one mail a day with all that is open.
        retention_overdue: retention is overdue when it has not succeeded for so many of its periods.
        replication_behind: a copy that comes later than so long after its time is behind; None: no such alert.
        allowed_hosts: hosts to which webhooks may be sent.
        mail: None: no mail is sent.
    """

    remind: Frequency = _FOUR_HOURS
    group_by: GroupAlerts = GroupAlerts.FEED
    storm_limit: int = 20
    expires: Frequency = _TWO_DAYS
    tell: AlertLevel = AlertLevel.HIGH
    to: tuple[str, ...] = ()
    digest: bool = False
    retention_overdue: int = 3
    replication_behind: Frequency | None = None
    allowed_hosts: tuple[str, ...] = ()
    mail: MailServer | None = None
    channels: tuple[ChannelSettings, ...] = ()
    metrics: MetricsSettings = MetricsSettings()
