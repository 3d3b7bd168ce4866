"""Webhooks: a POST with a signature to a host that the config repo allows; redirects are not followed."""

from __future__ import annotations

import hashlib
import hmac
import io
import re
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from http.cookiejar import DefaultCookiePolicy
from urllib.parse import unquote

import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException
from typing_extensions import override
from urllib3.connectionpool import ConnectionPool, HTTPConnectionPool
from urllib3.exceptions import HTTPError

from toolkit.entities.monitoring import WebhookFormat
from toolkit.entities.monitoring_formats import webhook_host
from toolkit.notify.answers import AnswerStream
from toolkit.notify.channel import Channel, ChannelSession, ChannelUnavailable, MessageRefused, visible
from toolkit.notify.message import Message
from toolkit.notify.webhook_formats import body_of

CONNECT_SECONDS, ANSWER_SECONDS = 5.0, 10.0
"""So long a server may take to be connected to, and for an answer as a whole."""
_LONGEST_READ = 1_000
_SEPARATORS = re.compile(r"[/?&=]")
_SHORTEST_KEY = 6
"""Parts of a URL that are shorter are no keys; without them a text could not be read."""
_REFUSALS = frozenset({400, 409, 411, 413, 414, 415, 422, 431})
"""Answers that are about this message: it would not be taken later either. All others are about the server."""


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
        self._webhook, self._requests = webhook, requests.Session()
        self._requests.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        for scheme in ("http://", "https://"):
            self._requests.mount(scheme, _LimitedAdapter())

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
                auth=_no_login,
            ) as response:
                status = response.status_code
                answer = response.raw.read(_LONGEST_READ, decode_content=False)  # a connection is used again after it
        except (RequestException, HTTPError, HTTPException, OSError, ValueError) as error:
            raise ChannelUnavailable(why=self._visible(_cause(error))) from error
        if status // 100 == 2:  # noqa: PLR2004 - a class of HTTP
            return
        if status // 100 == 3:  # noqa: PLR2004 - a class of HTTP
            raise ChannelUnavailable(why=f"the server answered {status}; redirects are not followed: correct the URL")
        why = f"the server answered {status} {self._visible(answer.decode(errors='replace').strip())}".rstrip()
        raise MessageRefused(why=why) if status in _REFUSALS else ChannelUnavailable(why=why)

    @override
    def close(self) -> None:
        self._requests.close()

    def _visible(self, answer: object) -> str:
        """Paths of such URLs are keys: neither the whole nor a long part of it is shown."""
        url = self._webhook.url
        parts = _SEPARATORS.split(url.partition("://")[2])[1:]
        long = {each for part in parts for each in (part, unquote(part)) if len(each) >= _SHORTEST_KEY}
        return visible(answer, (self._webhook.secret, url, *sorted(long, key=len, reverse=True))) if answer else ""


class _LimitedResponse(HTTPResponse):
    """Answer that has an end, in time and size."""

    def __init__(
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        self.fp.close()
        self.fp = io.BufferedReader(AnswerStream(sock, lambda: ANSWER_SECONDS))


class _LimitedAdapter(HTTPAdapter):
    """Connections whose answers have an end, to servers and to proxies."""

    @override
    def get_connection_with_tls_context(
        self,
        request: requests.PreparedRequest,
        verify: bool | str | None,
        proxies: Mapping[str, str] | None = None,
        cert: tuple[str, str] | str | None = None,
    ) -> ConnectionPool:
        pool = super().get_connection_with_tls_context(request, verify, proxies, cert)
        if isinstance(pool, HTTPConnectionPool):
            own = pool.ConnectionCls
            if getattr(own, "response_class", None) is not _LimitedResponse:
                pool.ConnectionCls = type(own.__name__, (own,), {"response_class": _LimitedResponse})
        return pool


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


def _no_login(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep the login of a `.netrc` out of requests: the config repo chooses the host."""
    return request


def _cause(error: Exception) -> object:
    """Return the text of the innermost error, which has no URL."""
    inner: BaseException = error
    while True:
        reason = getattr(inner, "reason", None)
        below = reason if isinstance(reason, BaseException) else inner.__cause__ or inner.__context__
        if below is None:
            return str(inner) or type(inner).__name__
        inner = below
