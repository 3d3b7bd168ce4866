"""Rules about recipients: addresses, mail servers, webhooks, and alerts without a recipient."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from toolkit.entities import ChannelSettings, Feed, Pointer, Process, Repository
from toolkit.entities.pointers import value_at
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext

_SECRET_NAMES = re.compile(r"(?i)(?:^|[._-])(?:token|key|sig|secret|code|signature|password|apikey)$")
_TOKEN = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[A-Za-z0-9_@%=.-]{20,}|[A-Z0-9]{8,}(?<=[0-9A-Z])")
"""A part of a path that is no word: long with digits in it, or capitals and digits as Slack's."""
_LETTERS_AND_DIGITS = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])")


def _addresses(repository: Repository) -> Iterator[tuple[str, Pointer, str]]:
    """Yield the file or entity, the place and the text of each mail address to which mails go."""
    monitoring = repository.settings.monitoring
    for index, address in enumerate(monitoring.to):
        yield REPO_FILE, ("monitoring", "to", index), address
    for entity in _notified(repository):
        for index, address in enumerate(entity.notification.email if entity.notification else ()):
            yield entity.name, ("notification", "email", index), address
        if monitoring.digest and entity.owner is not None and "@" in entity.owner:
            yield entity.name, ("owner",), entity.owner


def _notified(repository: Repository) -> Iterator[Feed | Process]:
    yield from repository.feeds.values()
    yield from repository.processes.values()


def mail_domain(context: LintContext) -> Iterator[Hit]:
    """Find mail addresses of domains that the repo does not allow."""
    allowed = {each.lower() for each in context.repository.settings.allowed_domains}
    for subject, pointer, address in _addresses(context.repository) if allowed else ():
        domain = address.rpartition("@")[2].lower()
        if domain not in allowed:
            message = f"the domain {domain} is none of allowed_domains: {', '.join(sorted(allowed))}"
            hint = f"correct the address, or add {domain} to allowed_domains in {REPO_FILE}"
            yield Hit(subject=subject, pointer=pointer, message=message, hint=hint)


def mail_without_server(context: LintContext) -> Iterator[Hit]:
    """Find mail addresses in a repo that names no mail server, in no environment either.

    An environment without a server, of a repo with one in another, is meant to send no mail.
    """
    repository = context.repository
    overlays = [each.repo for each in repository.environments.values()]
    if repository.settings.monitoring.mail or any(value_at(each, ("monitoring", "mail")) for each in overlays):
        return
    seen: set[str] = set()
    for subject, pointer, address in _addresses(repository):
        if subject not in seen:
            message = f"{address} gets no mail: {REPO_FILE} has no monitoring.mail"
            yield Hit(subject=subject, pointer=pointer, message=message, hint="name the mail server there")
        seen.add(subject)


def webhook_secret(context: LintContext) -> Iterator[Hit]:
    """Find URLs of webhooks with a secret in them."""
    for index, each in enumerate(context.repository.settings.monitoring.channels):
        if each.url is not None and (part := _secret_part(each.url)):
            yield Hit(
                subject=REPO_FILE,
                pointer=("monitoring", "channels", index, "url"),
                message=f"{part} of the URL of {each.name} looks like a secret, expected a reference",
                hint="write ${env:FEEDCTL_WEBHOOK_...} in its place, and change the secret: git keeps it",
            )


def _secret_part(url: str) -> str:
    """Return in words which part of a URL looks like a secret; empty: none does."""
    parts = urlsplit(url)
    for number, segment in enumerate(parts.path.split("/")[1:], start=1):
        if _TOKEN.fullmatch(segment) and _LETTERS_AND_DIGITS.search(segment):
            return f"part {number} of the path"
    for name, value in parse_qsl(parts.query):
        if _SECRET_NAMES.search(name) and "${" not in value:
            return f"the parameter {name}"
    return ""


def alert_without_recipient(context: LintContext) -> Iterator[Hit]:
    """Find SLAs whose alerts have no recipient."""
    repository = context.repository
    if repository.settings.monitoring.to:
        return
    for feed in repository.feeds.values():
        for place, own in (
            ((), feed.sla),
            *((("clusters", index), each.sla) for index, each in enumerate(feed.clusters)),
        ):
            where = [each.name for each in feed.clusters if feed.sla_on(each.name) is own]
            if own is not None and (own.high is not None or own.deadline is not None):
                yield from _without_recipient(repository, feed, (*place, "sla"), where)
    for process in repository.processes.values():
        for index, there in enumerate(process.clusters):
            bound = process.sla_on(there.name)
            if bound is not None and bound.should_end_in is not None:
                pointer = (*(("clusters", index) if there.sla else ()), "sla")
                yield from _without_recipient(repository, process, pointer, [there.name])


def _without_recipient(
    repository: Repository, entity: Feed | Process, pointer: Pointer, clusters: list[str]
) -> Iterator[Hit]:
    clusters_without = [each for each in clusters if not _has_recipient(repository, entity, each)]
    if clusters_without:
        message = f"no one gets the alert when {entity.name} is missing on {', '.join(clusters_without)}"
        hint = f"add notification to it, or monitoring.to or monitoring.channels to {REPO_FILE}"
        yield Hit(subject=entity.name, pointer=pointer, message=message, hint=hint, on_key=True)


def _has_recipient(repository: Repository, entity: Feed | Process, cluster: str) -> bool:
    there = repository.clusters.get(cluster)
    return (
        entity.notification is not None
        or (there is not None and there.interfaces.messaging is not None)
        or any(_takes(each, entity, cluster) for each in repository.settings.monitoring.channels)
    )


def _takes(channel: ChannelSettings, entity: Feed | Process, cluster: str) -> bool:
    """Return whether a channel gets alerts about the SLA of an entity on a cluster."""
    return (
        (not channel.kinds or any(each.startswith("sla") for each in channel.kinds))
        and (not channel.clusters or cluster in channel.clusters)
        and (not channel.owners or entity.owner in channel.owners)
        and all(entity.tags.get(key) == value for key, value in channel.tags.items())
    )


CHECKS: Mapping[str, Check] = {
    "mail-domain": mail_domain,
    "mail-without-server": mail_without_server,
    "webhook-secret": webhook_secret,
    "alert-without-recipient": alert_without_recipient,
}
