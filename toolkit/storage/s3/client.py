"""Botocore's client for one bucket: settings, deadlines, and the hook before each effect."""

from __future__ import annotations

import base64
import copy
import functools
import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import botocore.session
from botocore.config import Config
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError
from botocore.loaders import Loader, create_loader

from toolkit.el import CanonicalPath
from toolkit.errors import InvalidInput
from toolkit.storage.calls import CALL_SECONDS, BoundedCalls, Once
from toolkit.storage.hadoop_conf import refuse_secrets, without_secrets
from toolkit.storage.port import StorageSpec
from toolkit.storage.s3.errors import is_unanswered, translated
from toolkit.storage.s3.session import bound
from toolkit.storage.trusted_addresses import UntrustedEndpoint, is_trusted_endpoint
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client


_AWS = ".amazonaws.com"
_CENTRAL = "s3.amazonaws.com"


class BadS3Setting(InvalidInput):
    """A setting has a value that cannot be used.

    Args:
        key: the setting's name.
        value: what was found; who asks is left out of an address.
        expected: what would be right.
    """

    def __init__(self, *, key: str, value: str, expected: str) -> None:
        self.key, self.value, self.expected = key, without_secrets(value), expected
        super().__init__(f"{key} is {self.value!r}; expected {expected}")


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Settings:
    """Address and options of a bucket; empty values are left to botocore (AWS_ENDPOINT_URL and so on).

    Attributes:
        bucket: its name.
        endpoint: URL of the service; empty for Amazon's own.
        region: the bucket's region; empty: what botocore finds.
        path_style: the bucket is the first part of the path, not of the host's name.
    """

    bucket: str
    endpoint: str = ""
    region: str = ""
    path_style: bool = False

    @classmethod
    def of(cls, spec: StorageSpec) -> S3Settings:
        """The settings of a spec; those under ``fs.s3a.bucket.NAME.`` stand above the general ones.

        Raises:
            InvalidInput: a setting carries a secret, or has a value that cannot be used.
        """
        if spec.authority.endswith("--x-s3"):
            # Their listings are not sorted, and everything here relies on the order.
            raise BadS3Setting(key="the bucket", value=spec.authority, expected="a general purpose bucket")
        refuse_secrets(spec.hadoop_conf)
        endpoint = _endpoint(spec)
        return cls(
            bucket=spec.authority,
            endpoint=endpoint,
            region=_setting(spec, "endpoint.region")[1] or _region_of(endpoint),
            path_style=_flag(spec, "path.style.access", default=False),
        )


def _setting(spec: StorageSpec, name: str) -> tuple[str, str]:
    """The name under which a setting was found, and its value; empty when there is none."""
    keys = (f"fs.s3a.bucket.{spec.authority}.{name}", f"fs.s3a.{name}")
    found = (key for key in keys if key in spec.hadoop_conf)
    key = next(found, keys[-1])
    return key, spec.hadoop_conf.get(key, "").strip()


def _flag(spec: StorageSpec, name: str, *, default: bool) -> bool:
    key, value = _setting(spec, name)
    if value.lower() not in {"", "true", "false"}:
        raise BadS3Setting(key=key, value=value, expected="true or false")
    return value.lower() == "true" if value else default


def _endpoint(spec: StorageSpec) -> str:
    key, value = _setting(spec, "endpoint")
    if value in {"", _CENTRAL}:
        # The central end point is what botocore takes by itself, with the region's own name.
        return ""
    scheme = "https" if _flag(spec, "connection.ssl.enabled", default=True) else "http"
    url = value if "://" in value else f"{scheme}://{value}"
    split = urlsplit(url)
    if split.scheme not in {"http", "https"} or not split.hostname or "@" in url:
        raise BadS3Setting(key=key, value=value, expected="a host, host:port, or a URL with http or https")
    return url


def _region_of(endpoint: str) -> str:
    """The region that is part of the name of one of Amazon's end points, as s3a reads it."""
    host = urlsplit(endpoint).hostname or ""
    if not host.endswith(_AWS):
        return ""
    parts = host.removesuffix(_AWS).replace("s3-", "s3.", 1).split(".")
    return parts[-1] if parts[-1] not in {"s3", ""} else ""


_CONNECT_SECONDS = 5
_ATTEMPTS = 4
_CONNECTIONS = 48
_ANY_REGION = "us-east-1"
_REMOVALS = ("DeleteObject", "DeleteObjects")
_EFFECTS = ("PutObject", *_REMOVALS, "CreateMultipartUpload", "UploadPart")
_NOT_SENT = (EndpointConnectionError, ConnectTimeoutError)
_LAST_EFFECT = "CompleteMultipartUpload"


class ClientMaker:
    """Gives the client; credentials are looked for when it is first asked, which may call other services.

    Args:
        settings: where the bucket is.
        before_effect: called before each attempt of each request that changes something.
        seconds: so long one attempt may take.
    """

    def __init__(
        self, settings: S3Settings, before_effect: Callable[[], None], *, seconds: float = CALL_SECONDS
    ) -> None:
        self._settings, self._before_effect, self._seconds = settings, before_effect, seconds
        self._client = Once(self._made)
        self._asking = threading.local()

    def bound(self, before_effect: Callable[[], None]) -> ClientMaker:
        """The same client for who has another hook."""
        bound = copy.copy(self)
        bound._before_effect = before_effect  # noqa: SLF001 - its own class
        return bound

    def __call__(self) -> S3Client:
        """The one client.

        Raises:
            PermissionDenied: the profile or the credentials cannot be read.
            UntrustedEndpoint: a session token would go to an end point that only the config repo names.
        """
        # The caller sends its request next, in this thread; botocore repeats it there as well.
        self._asking.before_effect = self._before_effect
        with translated(CanonicalPath("s3", self._settings.bucket, "/")):
            return self._client()

    def sent(self) -> int:
        """Return the number of changing requests of this thread that were let through."""
        sent: int = getattr(self._asking, "sent", 0)
        return sent

    def _made(self) -> S3Client:
        session = botocore.session.Session()
        session.register_component("data_loader", _descriptions(session.get_config_variable("data_path")))
        self._refuse_untrusted(session)
        region = self._settings.region or session.get_config_variable("region") or _ANY_REGION
        client = cast(
            "S3Client",
            session.create_client(
                "s3",
                region_name=region,
                endpoint_url=self._settings.endpoint or None,
                config=_config(path_style=self._settings.path_style),
            ),
        )
        for operation in (*_EFFECTS, _LAST_EFFECT):
            # Here, and not before the call: botocore repeats requests, and each attempt is an effect. Nor behind the
            # signing: a signature is good for minutes, and a suspended run rests in the check for longer.
            client.meta.events.register_first(f"before-sign.s3.{operation}", self._check)
        for operation in _REMOVALS:
            answers = cast("Callable[..., None]", _never_if_unanswered)  # botocore asks those of this event
            client.meta.events.register_first(f"needs-retry.s3.{operation}", answers)
        bound(client, BoundedCalls(self._seconds, stuck=_CONNECTIONS))
        client.meta.events.register_last("before-call.s3.DeleteObjects", _with_md5)
        return client

    def _refuse_untrusted(self, session: botocore.session.Session) -> None:
        """Refuse to send a session token, whose header has it whole; of keys only a signature is sent."""
        endpoint = self._settings.endpoint
        if not endpoint or is_trusted_endpoint(endpoint, process_variables()):
            return
        credentials = session.get_credentials()
        if credentials is not None and credentials.get_frozen_credentials().token:
            raise UntrustedEndpoint(path=CanonicalPath("s3", self._settings.bucket, "/"), detail=endpoint)

    def _check(self, **_: object) -> None:
        self._asking.before_effect()
        self._asking.sent = self.sent() + 1


@functools.cache
def _descriptions(data_path: str | None) -> Loader:
    """Return the descriptions of services, kept for all buckets of a run: reading takes longer than making a client."""
    return create_loader(data_path)


def _config(*, path_style: bool) -> Config:
    settings = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=CALL_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        max_pool_connections=_CONNECTIONS,
        tcp_keepalive=True,
        # Other stores than Amazon's often don't know the newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return settings.merge(Config(s3={"addressing_style": "path"})) if path_style else settings


def _never_if_unanswered(
    response: tuple[object, Mapping[str, object]] | None, caught_exception: Exception | None, **_: object
) -> bool | None:
    """Return False, on which botocore sends a request once, if a removal that was sent may have happened.

    What is there by now may be new. None leaves it to botocore: the store has refused, or there was no connection.
    """
    if response is None:
        return None if isinstance(caught_exception, _NOT_SENT) else False
    return False if is_unanswered(response[1]) else None


def _with_md5(params: dict[str, dict[str, object]], **_: object) -> None:
    """A bulk removal must carry a checksum; Content-MD5 is the one that every store knows."""
    body = cast("bytes", params["body"])
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    params["headers"]["Content-MD5"] = base64.b64encode(digest).decode()
    params["context"].pop("checksum", None)
    params["headers"].pop("x-amz-sdk-checksum-algorithm", None)
