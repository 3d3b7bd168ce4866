"""Webhooks: a POST with a signature to a host that the config repo allows; redirects are not followed."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from urllib.parse import unquote

from requests.exceptions import RequestException
from typing_extensions import override
from urllib3.exceptions import HTTPError

from toolkit.entities.monitoring import WebhookFormat
from toolkit.entities.monitoring_formats import webhook_host
from toolkit.notify.channel import Channel, ChannelSession, ChannelUnavailable, MessageRefused, visible
from toolkit.notify.limited_http import REFUSALS, cause_of, limited_session
from toolkit.notify.message import Message
from toolkit.notify.webhook_formats import body_of

CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 10.0
"""So long a server may take to be connected to, and for an answer as a whole."""
_LONGEST_READ = 1_000
_SEPARATORS = re.compile(r"[/?&=]")
_SHORTEST_KEY = 6
"""Parts of a URL that are shorter are no keys; without them a text could not be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Webhook(Channel):
    """An HTTP server that gets messages.

    Attributes:
        url: where to; secret, since services have their keys in it.
        allowed_hosts: of the config repo.
        style: of the body.
        secret: key of the signature, or the routing key of PagerDuty; empty: not signed.
        now: seconds since 1970, for the signature.
    """

    url: str = field(repr=False)
    allowed_hosts: tuple[str, ...]
    style: WebhookFormat = WebhookFormat.JSON
    secret: str = field(default="", repr=False)
    now: Callable[[], float] = time.time

    @override
    def open(self) -> WebhookSession:
        host = webhook_host(self.url)
        if host not in {each.lower() for each in self.allowed_hosts}:
            raise ChannelUnavailable(why=f"the host {host!r} is not in monitoring.allowed_hosts of repo.yaml")
        return WebhookSession(self)


class WebhookSession(ChannelSession):
    """Requests that share a connection.

    Args:
        webhook: the other end.
    """

    def __init__(self, webhook: Webhook) -> None:
        self._webhook, self._requests = webhook, limited_session(lambda: ANSWER_SECONDS)

    @override
    def send(self, message: Message, recipient: str) -> None:
        """Post a message; a webhook has one recipient only."""
        webhook = self._webhook
        try:
            body = body_of(message, webhook.style, webhook.secret)
        except (ValueError, OverflowError) as error:  # a time that is none
            raise MessageRefused(why=f"the message has no such form: {visible(error)}") from error
        try:
            with self._requests.post(
                webhook.url,
                data=body,
                headers=_headers(webhook, message, body),
                timeout=(CONNECT_SECONDS, ANSWER_SECONDS),
                allow_redirects=False,
                stream=True,
            ) as response:
                status = response.status_code
                answer = response.raw.read(_LONGEST_READ, decode_content=False)  # a connection is used again after it
        except (RequestException, HTTPError, HTTPException, OSError, ValueError) as error:
            raise ChannelUnavailable(why=self._visible(cause_of(error))) from error
        if status // 100 == 2:  # noqa: PLR2004 - a class of HTTP
            return
        if status // 100 == 3:  # noqa: PLR2004 - a class of HTTP
            raise ChannelUnavailable(why=f"the server answered {status}; redirects are not followed: correct the URL")
        why = f"the server answered {status} {self._visible(answer.decode(errors='replace').strip())}".rstrip()
        raise MessageRefused(why=why) if status in REFUSALS else ChannelUnavailable(why=why)

    @override
    def close(self) -> None:
        self._requests.close()

    def _visible(self, answer: object) -> str:
        """Paths of such URLs are keys: neither the whole nor a long part of it is shown."""
        url = self._webhook.url
        parts = _SEPARATORS.split(url.partition("://")[2])[1:]
        long = {each for part in parts for each in (part, unquote(part)) if len(each) >= _SHORTEST_KEY}
        return visible(answer, (self._webhook.secret, url, *sorted(long, key=len, reverse=True))) if answer else ""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a body: HMAC with SHA-256 over the timestamp, a dot and the body, in hexadecimal."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def _headers(webhook: Webhook, message: Message, body: bytes) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "User-Agent": "feedctl"}
    headers["X-Feedctl-Message-Id"] = hashlib.sha256(message.message_id.encode(errors="replace")).hexdigest()[:32]
    if webhook.style is WebhookFormat.JSON:
        headers["X-Feedctl-Timestamp"] = timestamp = f"{webhook.now():.0f}"
        if webhook.secret:
            headers["X-Feedctl-Signature"] = f"sha256={signature(webhook.secret, timestamp, body)}"
    return headers
