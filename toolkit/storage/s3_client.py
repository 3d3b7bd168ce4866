"""Botocore's client for one bucket: made at the first request, shared by all threads."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import botocore.session
from botocore.config import Config

from toolkit.el import CanonicalPath
from toolkit.storage.begun import note_sent
from toolkit.storage.bounded import BoundedCalls
from toolkit.storage.deadlines import CALL_SECONDS
from toolkit.storage.once import OncePerProcess
from toolkit.storage.s3_deadline import bound
from toolkit.storage.s3_errors import translated
from toolkit.storage.s3_settings import S3Settings
from toolkit.storage.trusted_addresses import UntrustedEndpoint, is_trusted_endpoint

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

_CONNECT_SECONDS = 5
_ATTEMPTS = 4
_CONNECTIONS = 48
_ANY_REGION = "us-east-1"
_EFFECTS = ("PutObject", "DeleteObject", "DeleteObjects", "CreateMultipartUpload", "UploadPart")
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
        self._client = OncePerProcess(self._made)

    def __call__(self) -> S3Client:
        """The one client.

        Raises:
            PermissionDenied: the profile or the credentials cannot be read.
            UntrustedEndpoint: a session token would go to an end point that only the config repo names.
        """
        with translated(CanonicalPath("s3", self._settings.bucket, "/")):
            return self._client()

    def _made(self) -> S3Client:
        session = botocore.session.Session()
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
        bound(client, BoundedCalls(self._seconds, stuck=_CONNECTIONS))
        client.meta.events.register_last("before-call.s3.DeleteObjects", _with_md5)
        return client

    def _refuse_untrusted(self, session: botocore.session.Session) -> None:
        """Of keys only a signature is sent, but a session token goes whole, in a header."""
        endpoint = self._settings.endpoint
        if not endpoint or is_trusted_endpoint(endpoint):
            return
        credentials = session.get_credentials()
        if credentials is not None and credentials.get_frozen_credentials().token:
            raise UntrustedEndpoint(path=CanonicalPath("s3", self._settings.bucket, "/"), detail=endpoint)

    def _check(self, **_: object) -> None:
        self._before_effect()
        note_sent()


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


def _with_md5(params: dict[str, dict[str, object]], **_: object) -> None:
    """A bulk removal must carry a checksum; Content-MD5 is the one that every store knows."""
    body = cast("bytes", params["body"])
    digest = hashlib.md5(body, usedforsecurity=False).digest()
    params["headers"]["Content-MD5"] = base64.b64encode(digest).decode()
    params["context"].pop("checksum", None)
    params["headers"].pop("x-amz-sdk-checksum-algorithm", None)
