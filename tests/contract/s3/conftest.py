"""Buckets for the tests of the S3 adapter."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.contract.s3.places import Place
from tests.testbed.fault_proxy import FaultProxy
from tests.testbed.fixtures import FaultyS3
from tests.testbed.s3 import S3Store
from toolkit.storage import StorageSpec


@dataclass(frozen=True, kw_only=True)
class FaultyPlace(Place):
    """A bucket that is reached through a proxy, which notes the requests."""

    proxy: FaultProxy


@pytest.fixture
def place(s3: S3Store, s3_bucket: str) -> Place:
    """A new bucket."""
    return Place(
        store=s3, bucket=s3_bucket, spec=StorageSpec(scheme="s3", authority=s3_bucket, hadoop_conf=s3.settings)
    )


@pytest.fixture
def faulty(s3: S3Store, s3_bucket: str, s3_faults: FaultyS3) -> FaultyPlace:
    """A new bucket behind a proxy."""
    spec = StorageSpec(scheme="s3", authority=s3_bucket, hadoop_conf=s3_faults.store.settings)
    return FaultyPlace(store=s3, bucket=s3_bucket, spec=spec, proxy=s3_faults.proxy)
