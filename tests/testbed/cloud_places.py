"""Buckets of Google Cloud Storage and Azure, reached through a proxy that notes the requests."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from tests.testbed.clouds import Azure, Cloud, Gcs
from tests.testbed.fault_proxy import FaultProxy, fault_proxy
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, StorageSpec
from toolkit.storage.cloud import file_system
from toolkit.storage.local.file_system import no_check


@dataclass(frozen=True, kw_only=True)
class CloudPlace:
    """An empty bucket.

    Attributes:
        cloud: where it is; not through the proxy.
        bucket: its name.
        spec: opens it, through the proxy.
        proxy: notes the requests.
    """

    cloud: Cloud
    bucket: str
    spec: StorageSpec
    proxy: FaultProxy

    def opened(self, before_effect: Callable[[], None] = no_check) -> FileSystem:
        """The adapter, without the waiting that `open_file_system` puts around it."""
        return file_system.opened(self.spec, before_effect)

    def at(self, key: str) -> CanonicalPath:
        return CanonicalPath(self.spec.scheme, self.spec.authority, f"/{key}")

    def put(self, *keys: str, content: bytes = b"1", metadata: Mapping[str, str] | None = None) -> None:
        """Objects; markers, which end with a slash, are empty."""
        for key in keys:
            self.cloud.put(self.bucket, key, b"" if key.endswith("/") else content, metadata)

    def keys(self) -> list[str]:
        return self.cloud.keys(self.bucket)


@contextmanager
def cloud_place(cloud: Gcs | Azure, monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudPlace]:
    """A new bucket; the test's environment leads to the proxy."""
    bucket = f"test-{secrets.token_hex(8)}"
    spec = cloud.make_bucket(bucket)
    with fault_proxy(cloud.port) as proxy:
        for name, value in replace(cloud, port=proxy.port).environment.items():
            monkeypatch.setenv(name, value)
        yield CloudPlace(cloud=cloud, bucket=bucket, spec=spec, proxy=proxy)
