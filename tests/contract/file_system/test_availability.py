"""Tests of what is said of instances is the same on every store."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

from tests.contract.file_system.stores import Store
from tests.unit.availability.requested import instances
from toolkit.availability import DataState


def test_instances_are_available_partial_empty_or_missing(store: Store) -> None:
    for name in ("00/_SUCCESS", "00/part", "01/part", "02/_SUCCESS", "03-old/part"):
        store.put(f"2026/03/01/{name}")
    store.put("2026/03/01/04/country=US/part", b"12")
    store.put("2026/03/01/04/_SUCCESS")
    data = f"{store.base.path}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"
    endpoint = f"{store.base.scheme}://{store.base.authority}/"
    found = instances(store.system, data=data, endpoint=endpoint)
    day = list(islice(iter(found.sequence), 25))
    some = ("available", "partial", "empty", "missing", "available", *["missing"] * 20)
    assert [each.state for each in found.look_at(day)] == list(map(DataState, some))
    assert [found.look(instant).state for instant in day[:6]] == list(map(DataState, some[:6]))
    counted = found.counted()
    assert [instant in counted for instant in day[:6]] == [True, False, True, False, True, False]
    assert day[0] + timedelta(days=400) not in counted
    without = instances(store.system, flag=None, data=data, endpoint=endpoint).counted()
    assert [instant in without for instant in day[:6]] == [True, True, True, False, True, False]
