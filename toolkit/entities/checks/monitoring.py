"""SLAs, notifications and the settings of monitoring: what belongs together is there."""

from collections.abc import Collection, Iterator

from toolkit.entities.checks.context import duplicate_findings
from toolkit.entities.feed import Feed
from toolkit.entities.monitoring import ChannelSettings, ChannelType, MailTls, Monitoring, WebhookFormat
from toolkit.entities.monitoring_formats import webhook_host
from toolkit.entities.nearest import suggestion
from toolkit.entities.process import Process
from toolkit.entities.sla import FeedSla
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer

_MAIL = "mail"
_WEBHOOK_KEYS = ("url", "format", "secret")


def check_feed_slas(feed: Feed) -> Iterator[Violation]:
    """An SLA without a deadline has both limits."""
    for pointer, sla in _slas(feed):
        for key, value in (("low", sla.low), ("high", sla.high)) if sla.deadline is None else ():
            if value is None:
                yield Violation(
                    pointer=pointer,
                    rule="missing-key",
                    message=f"missing key {key!r} in {pointer[-1]!r}",
                    hint="without a deadline, low and high count from the instance's time, and both are required",
                    on_key=True,
                )


def check_notification(entity: Feed | Process) -> Iterator[Violation]:
    """A notification has a recipient."""
    notification = entity.notification
    if notification is not None and not notification.email and not notification.channels:
        yield Violation(
            pointer=("notification",),
            rule="missing-key",
            message="missing key 'email' in 'notification'",
            hint="name mail addresses, or channels of `monitoring.channels`",
            on_key=True,
        )


def monitoring_findings(settings: Monitoring, clusters: Collection[str]) -> Iterator[Violation]:
    """Yield the findings about `monitoring:` of `repo.yaml`.

    Args:
        settings: the section.
        clusters: names of all clusters, also of those that have problems of their own.
    """
    mail = settings.mail
    if mail is not None and mail.credential is not None and mail.tls is MailTls.NONE:
        yield Violation(
            pointer=("monitoring", "mail", "tls"),
            rule="plain-login",
            message="found tls: none with a credential, which would send the password in plain text",
            hint="use starttls or tls, or remove the credential",
        )
    yield from duplicate_findings((each.name for each in settings.channels), ("monitoring", "channels"))
    for index, channel in enumerate(settings.channels):
        pointer = ("monitoring", "channels", index)
        if channel.name == _MAIL:
            message = f"found the name {_MAIL!r}, which the channel of mails has"
            yield Violation(pointer=(*pointer, "name"), rule="bad-name", message=message, hint="choose another name")
        yield from _channel_findings(channel, pointer, settings.allowed_hosts)
        for position, name in enumerate(channel.clusters):
            if name not in clusters:
                message = f"found the cluster {name!r}, expected one under {Kind.CLUSTER.folder}/"
                hint = suggestion(name, clusters)
                place = (*pointer, "clusters", position)
                yield Violation(pointer=place, rule="unknown-cluster", message=message, hint=hint)


def _channel_findings(channel: ChannelSettings, pointer: Pointer, hosts: Collection[str]) -> Iterator[Violation]:
    is_webhook = channel.type is ChannelType.WEBHOOK
    given = {
        "url": channel.url is not None,
        "format": channel.format is not WebhookFormat.JSON,
        "secret": channel.secret is not None,
        "command": bool(channel.command),
    }
    required = ["url" if is_webhook else "command"]
    if channel.format is WebhookFormat.PAGERDUTY:
        required.append("secret")
    for key in required:
        if not given[key]:
            message = f"missing key {key!r} in the channel {channel.name}"
            hint = f"a channel of type {channel.type} needs it"
            yield Violation(pointer=pointer, rule="missing-key", message=message, hint=hint, on_key=True)
    for key in ("command",) if is_webhook else _WEBHOOK_KEYS:
        if given[key]:
            message = f"found {key}, which a channel of type {channel.type} does not have"
            hint = "remove it, or correct the type"
            yield Violation(pointer=(*pointer, key), rule="channel-key", message=message, hint=hint, on_key=True)
    host = "" if channel.url is None else webhook_host(channel.url)
    if is_webhook and host and host not in {each.lower() for each in hosts}:
        yield Violation(
            pointer=(*pointer, "url"),
            rule="webhook-host",
            message=f"found the host {host}, expected one of `monitoring.allowed_hosts`",
            hint=suggestion(host, hosts) or f"add {host} to allowed_hosts",
        )


def _slas(feed: Feed) -> Iterator[tuple[Pointer, FeedSla]]:
    if feed.sla is not None:
        yield ("sla",), feed.sla
    for index, each in enumerate(feed.clusters):
        if each.sla is not None:
            yield ("clusters", index, "sla"), each.sla


FEED_CHECKS = (check_feed_slas, check_notification)
PROCESS_CHECKS = (check_notification,)
