"""Buckets for the tests of the adapters of Google Cloud Storage and Azure."""

from __future__ import annotations

import pytest

from tests.testbed.cloud_places import CloudPlace


@pytest.fixture(params=["gcs", "azure"])
def place(request: pytest.FixtureRequest) -> CloudPlace:
    """A new bucket of each."""
    found: CloudPlace = request.getfixturevalue(f"on_{request.param}")
    return found
