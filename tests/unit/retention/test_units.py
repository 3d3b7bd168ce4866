"""How a plan is divided: no more is let through at once than goes within a second."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.retention.acting import capabilities, item
from toolkit.el import CanonicalPath
from toolkit.retention.batches import BatchPlan
from toolkit.storage import StorageSpec
from toolkit.storage.bound import SharedStores, side_by_side

_HDFS = CanonicalPath.parse("hdfs://nn/data/clicks")


def _stores(rate: float) -> SharedStores:
    return SharedStores(spec_of=lambda path: StorageSpec(scheme=path.scheme), rate=rate)


def _sizes(rate: float, base: CanonicalPath = _HDFS, parallel: int = 16) -> set[int]:
    named = (item(f"2025/01/{number:04d}") for number in range(8000))
    items = [replace(each, base=base, path=base.child(each.path.name)) for each in named]
    has = capabilities(parallel=parallel)
    batches = BatchPlan(items=items, subtrees=(), capabilities=lambda _: has, rate=_stores(rate).rate_of).batches()
    units = [unit for batch in batches for unit in batch.units]
    assert [at for unit in units for at in unit.positions] == list(range(8000))
    return {len(unit.positions) for unit in units}


@pytest.mark.parametrize(("rate", "threads"), [(0.5, 1), (1, 1), (10, 10), (100, 16), (10_000, 16)])
def test_what_waits_for_its_turn_goes_within_a_second(rate: float, threads: int) -> None:
    assert side_by_side(16, rate) == threads
    assert max(_sizes(rate)) * threads <= max(1, rate)


def test_a_high_rate_and_a_local_disk_divide_as_if_there_were_none() -> None:
    local = CanonicalPath.parse("file:///data/clicks")
    assert _sizes(10_000) == _sizes(1, local) == {10}
