"""Azure account of a container, and its address and credentials."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from requests.auth import AuthBase

from toolkit.errors import InvalidInput
from toolkit.storage.cloud.extras import require
from toolkit.variables import Variables

if TYPE_CHECKING:
    from requests import PreparedRequest

    from toolkit.storage.port import StorageSpec

_VERSION = "2021-12-02"
_HOST = re.compile(
    r"(?P<account>[a-z0-9]{3,24})\.dfs\.(?P<cloud>core\.(?:windows\.net|chinacloudapi\.cn|usgovcloudapi\.net))"
)
"""Azure's own names: what proves who asks goes to no other, unless the operator names it."""
_CONTAINER = re.compile(r"[a-z0-9$](?:[a-z0-9-]{1,61}[a-z0-9])")
_CONNECTION = "AZURE_STORAGE_CONNECTION_STRING"
_KEY = "AZURE_STORAGE_ACCOUNT_KEY"
_SIGNED = (
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
)


class UnknownContainer(InvalidInput):
    """The container and its account cannot be told from the authority of a path.

    Args:
        authority: what was found.
    """

    def __init__(self, *, authority: str) -> None:
        self.authority = authority
        super().__init__(
            f"abfs://{authority} names no container of Azure; expected abfs://CONTAINER@ACCOUNT.dfs.core.windows.net "
            "or wasb://CONTAINER@ACCOUNT.blob.core.windows.net"
        )


class BadConnectionString(InvalidInput):
    """The operator's variable with the address and the key of an account cannot be used."""

    def __init__(self) -> None:
        super().__init__(
            f"{_CONNECTION} cannot be used; expected AccountName=NAME;AccountKey=KEY in it, perhaps with "
            "BlobEndpoint=URL, or unset it"
        )


@dataclass(frozen=True, kw_only=True)
class Account:
    """An account of Azure.

    Attributes:
        url: of the container.
        sign: proves who asks.
    """

    url: str
    sign: AuthBase


def account_of(spec: StorageSpec, environment: Variables) -> Account:
    """Return the account of a container, and what the environment has to prove who asks.

    Raises:
        InvalidInput: the container cannot be told, a variable cannot be used, or an extra is not installed.
    """
    container, _, host = spec.authority.partition("@")
    match = _HOST.fullmatch(host)
    if match is None or not _CONTAINER.fullmatch(container):
        raise UnknownContainer(authority=spec.authority)
    account = match["account"]
    url = f"https://{account}.blob.{match['cloud']}"
    known = _connection(environment)
    if known.get("accountname") == account:
        url = known.get("blobendpoint", url).rstrip("/")
        return Account(url=f"{url}/{container}", sign=SharedKey(account, known["accountkey"]))
    if key := environment.get(_KEY, ""):
        return Account(url=f"{url}/{container}", sign=SharedKey(account, key))
    require("azure.identity", scheme="abfs", extra="azure")
    return Account(url=f"{url}/{container}", sign=import_module("toolkit.storage.cloud.azure_tokens").AzureTokens())


def _connection(environment: Variables) -> dict[str, str]:
    text = environment.get(_CONNECTION, "")
    if not text:
        return {}
    pairs = (part.partition("=") for part in text.strip("; ").split(";"))
    found = {name.strip().lower(): value for name, _, value in pairs}
    if not {"accountname", "accountkey"} <= found.keys():
        raise BadConnectionString
    return found


class SharedKey(AuthBase):
    """Signs requests with the key of an account; the key itself is never sent.

    Raises:
        BadConnectionString: it is no key.
    """

    def __init__(self, account: str, key: str) -> None:
        self._account = account
        try:
            self._key = base64.b64decode(key, validate=True)
        except ValueError as error:
            raise BadConnectionString from error

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Sign a request as it is now; its headers and its query are part of the signature."""
        stamp(request)
        digest = hmac.new(self._key, self._text(request).encode(), hashlib.sha256).digest()
        request.headers["Authorization"] = f"SharedKey {self._account}:{base64.b64encode(digest).decode()}"
        return request

    def _text(self, request: PreparedRequest) -> str:
        headers = {name.lower(): value for name, value in request.headers.items()}
        if headers.get("content-length") == "0":
            del headers["content-length"]
        url = urlsplit(request.url or "")
        own = sorted((name, value) for name, value in headers.items() if name.startswith("x-ms-"))
        query = sorted((name.lower(), value) for name, value in parse_qsl(url.query, keep_blank_values=True))
        return "\n".join(
            [
                request.method or "",
                *(str(headers.get(name, "")) for name in _SIGNED),
                *(f"{name}:{value}" for name, value in own),
                f"/{self._account}{url.path}",
                *(f"{name}:{value}" for name, value in query),
            ]
        )


def stamp(request: PreparedRequest) -> None:
    """Set the headers that every request to Azure has."""
    request.headers["x-ms-version"] = _VERSION
    request.headers["x-ms-date"] = format_datetime(datetime.now(UTC), usegmt=True)
