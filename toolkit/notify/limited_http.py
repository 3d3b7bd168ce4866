"""Sessions of HTTP whose answers are limited in time and size, for servers that the config repo chooses."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable, Mapping
from http.client import HTTPResponse
from http.cookiejar import DefaultCookiePolicy

import requests
from requests.adapters import HTTPAdapter
from typing_extensions import override
from urllib3.connectionpool import ConnectionPool, HTTPConnectionPool

from toolkit.notify.answers import AnswerStream

REFUSALS = frozenset({400, 409, 411, 413, 414, 415, 422, 431})
"""Answers that are about this message: it would not be taken later either. All others are about the server."""


def limited_session(seconds: Callable[[], float]) -> requests.Session:
    """Return a session without cookies and logins, whose answers have an end.

    Args:
        seconds: returns how long an answer may take as a whole.
    """
    session = requests.Session()
    session.auth = _no_login
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
    for scheme in ("http://", "https://"):
        session.mount(scheme, _LimitedAdapter(seconds))
    return session


class _LimitedAdapter(HTTPAdapter):
    """Connections whose answers have an end, to servers and to proxies."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        super().__init__()

        class LimitedResponse(HTTPResponse):
            def __init__(
                self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
            ) -> None:
                super().__init__(sock, debuglevel, method, url)
                self.fp.close()
                self.fp = io.BufferedReader(AnswerStream(sock, seconds))

        self._response = LimitedResponse

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
            if getattr(own, "response_class", None) is not self._response:
                pool.ConnectionCls = type(own.__name__, (own,), {"response_class": self._response})
        return pool


def _no_login(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Keep the login of a `.netrc` out of requests: the config repo chooses the host."""
    return request


def cause_of(error: Exception) -> object:
    """Return the text of the innermost error, which has no URL."""
    inner: BaseException = error
    while True:
        reason = getattr(inner, "reason", None)
        below = reason if isinstance(reason, BaseException) else inner.__cause__ or inner.__context__
        if below is None:
            return str(inner) or type(inner).__name__
        inner = below
