"""Tokens of Google: of a service account, a workload, or the machine, as Google's own library finds them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import google.auth
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport.requests import Request
from requests.auth import AuthBase

from toolkit.storage.calls import Once
from toolkit.storage.cloud.http import IdentityError

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from requests import PreparedRequest

_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"


def _default() -> Credentials:
    credentials: Credentials = google.auth.default(scopes=[_SCOPE])[0]
    return credentials


class GoogleTokens(AuthBase):
    """Sends a token with each request, and gets a new one in time."""

    def __init__(self) -> None:
        self._credentials = Once(_default)
        self._lock = threading.Lock()

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Add the token.

        Raises:
            IdentityError: there is none to be had.
        """
        headers: dict[str, str] = {}
        try:
            with self._lock:
                prove = cast("Callable[..., None]", self._credentials().before_request)
                prove(Request(), request.method or "", request.url or "", headers)
        except TransportError as error:
            raise IdentityError(str(error), is_passing=True) from error
        except GoogleAuthError as error:
            raise IdentityError(str(error)) from error
        request.headers.update(headers)
        return request
