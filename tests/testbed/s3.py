"""An S3 as tests see it."""

from __future__ import annotations

import functools
import http.client
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

import botocore.session
from botocore.config import Config

from tests.testbed.client import Testbed, TestbedFailed
from tests.testbed.s3_paths import FILL

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

REGION = "us-east-1"


@functools.cache
def _session() -> botocore.session.Session:
    """One for this process: it keeps the description of S3, which takes long to load."""
    return botocore.session.Session()


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Store:
    """An S3 on this machine that believes everybody.

    Args:
        port: of its server, or of a proxy before it.
    """

    port: int

    @classmethod
    def of(cls, testbed: Testbed) -> Self:
        """The test bed's.

        Raises:
            TestbedFailed: it did not start.
        """
        return cls(port=int(testbed.facts("s3")["port"]))

    @property
    def endpoint(self) -> str:
        """Its address; buckets are the first part of the path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> Mapping[str, str]:
        """Credentials, which are not checked, and nothing that asks the machine for others."""
        return {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    @property
    def settings(self) -> Mapping[str, str]:
        """The same as a cluster's hadoop_conf."""
        return {
            "fs.s3a.endpoint": self.endpoint,
            "fs.s3a.endpoint.region": REGION,
            "fs.s3a.path.style.access": "true",
            "fs.s3a.connection.ssl.enabled": "false",
        }

    def fill(self, bucket: str, keys: Iterable[str]) -> None:
        """Put an empty object at each key, quickly; not for a store behind a proxy, which would note it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request("POST", FILL, json.dumps({"bucket": bucket, "keys": list(keys)}))
            status = connection.getresponse().status
        finally:
            connection.close()
        if status != http.HTTPStatus.OK:
            raise TestbedFailed(server="s3", why=f"it answered {status} to a bucket {bucket} to be filled")

    @contextmanager
    def client(self) -> Iterator[S3Client]:
        """A client of its own, for what a test prepares and checks; it never asks twice."""
        client = _session().create_client(
            "s3",
            region_name=REGION,
            endpoint_url=self.endpoint,
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, max_pool_connections=32),
        )
        try:
            yield cast("S3Client", client)
        finally:
            client.close()
