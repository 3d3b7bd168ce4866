"""Tokens of Azure: of a service principal, a workload, or the machine, as Azure's own library finds them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.identity import DefaultAzureCredential
from requests.auth import AuthBase

from toolkit.storage.cloud.azure_account import stamp
from toolkit.storage.cloud.http import IdentityError

if TYPE_CHECKING:
    from azure.core.credentials import AccessToken
    from requests import PreparedRequest

_SCOPE = "https://storage.azure.com/.default"
_EARLIER_SECONDS = 300


class AzureTokens(AuthBase):
    """Sends a token with each request, and gets a new one in time."""

    def __init__(self) -> None:
        self._credential = DefaultAzureCredential()
        self._token: AccessToken | None = None
        self._lock = threading.Lock()

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Add the token.

        Raises:
            IdentityError: there is none to be had.
        """
        stamp(request)
        request.headers["Authorization"] = f"Bearer {self._current()}"
        return request

    def _current(self) -> str:
        with self._lock:
            if self._token is None or self._token.expires_on - _EARLIER_SECONDS < time.time():
                try:
                    self._token = self._credential.get_token(_SCOPE)
                except ClientAuthenticationError as error:
                    raise IdentityError(str(error)) from error
                except AzureError as error:
                    raise IdentityError(str(error), is_passing=True) from error
            return self._token.token
