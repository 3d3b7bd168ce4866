"""The rate of a run is for its changes, and for nothing else."""

from __future__ import annotations

import time

from toolkit.bootstrap.storages import StoreChoice
from toolkit.el import CanonicalPath
from toolkit.storage.patient import PatientFileSystem


def test_threads_that_wait_for_a_silent_store_do_not_use_the_rate_up() -> None:
    calls = list[int]()
    stores = StoreChoice().shared(rate=0.1).bound(lambda: calls.append(1))
    system = stores.of(CanonicalPath.parse("s3a://bucket/data"))
    assert isinstance(system, PatientFileSystem)
    began = time.monotonic()
    for _ in range(5):
        system.pause(0.001)
    assert len(calls) == 5
    assert time.monotonic() - began < 30  # 50 s if each pause took from the rate
