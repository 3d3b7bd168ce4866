"""Each run's own view of the stores: one client for a store, and nobody is asked about another run's effects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.storage import ReadOnlyStorage, StorageSpec
from toolkit.storage.bound import SharedStores
from toolkit.storage.patient import PatientFileSystem

ONE, OTHER = CanonicalPath.parse("hdfs://one/a"), CanonicalPath.parse("hdfs://other/a")


def _shared(rate: float = float("inf")) -> SharedStores:
    return SharedStores(spec_of=lambda path: StorageSpec(scheme=path.scheme, authority=path.authority), rate=rate)


def _requested(log: list[str], name: str) -> Callable[[], None]:
    return lambda: log.append(name)


def test_only_the_run_whose_effect_it_is_is_asked(tmp_path: Path) -> None:
    log, shared = list[str](), _shared()
    first, second = (shared.bound(_requested(log, name)) for name in ("first", "second"))
    file = CanonicalPath.parse((tmp_path / "a").as_uri())
    first.of(file).write(file, [b"1"])
    assert set(log) == {"first"}
    log.clear()
    assert second.of(file).status(file).size == 1
    second.of(file).delete(file, below=file.parent)
    assert set(log) == {"second"}


def test_what_the_check_raises_stops_the_change(tmp_path: Path) -> None:
    def stop() -> None:
        raise StopRequested

    file = CanonicalPath.parse((tmp_path / "a").as_uri())
    with pytest.raises(StopRequested):
        _shared().bound(stop).of(file).write(file, [b"1"])
    assert list(tmp_path.iterdir()) == []


def test_a_view_for_reading_changes_nothing(tmp_path: Path) -> None:
    file = CanonicalPath.parse((tmp_path / "a").as_uri())
    with pytest.raises(ReadOnlyStorage):
        _shared().bound(lambda: None, read_only=True).of(file).write(file, [b"1"])


def test_a_run_opens_a_store_once_and_has_threads_of_its_own_for_it() -> None:
    shared = _shared()
    first, second = shared.bound(lambda: None), shared.bound(lambda: None)
    local = CanonicalPath.parse("file:///a")
    assert first.of(local) is first.of(CanonicalPath.parse("file:///b"))
    assert first.of(local) is not second.of(local)
    assert first.pool(local) is first.pool(local)
    assert first.pool(local) is not second.pool(local)


def test_a_closed_view_begins_nothing_more() -> None:
    bound, local = _shared().bound(lambda: None), CanonicalPath.parse("file:///a")
    pool = bound.pool(local)
    bound.close()
    assert pool.submit(threading.active_count).cancelled()


def test_runs_share_the_rate_of_a_store_and_each_is_asked_in_its_own_turn() -> None:
    log, shared = list[str](), _shared(rate=20)
    first, second = (shared.bound(_requested(log, name)) for name in ("first", "second"))
    assert shared.limiter(ONE) is shared.limiter(CanonicalPath.parse("hdfs://one/b"))
    assert shared.limiter(ONE) is not shared.limiter(OTHER)
    first.wait_for_rate(ONE)
    first.wait_for_rate(ONE)
    assert set(log) == {"first"}
    second.wait_for_rate(ONE)
    assert log[-1] == "second"


def test_a_disk_of_this_machine_is_not_spared() -> None:
    shared, local = _shared(rate=20), CanonicalPath.parse("file:///a")
    assert (shared.rate_of(local), shared.limiter(local), shared.rate_of(ONE)) == (float("inf"), None, 20)


def test_runs_share_the_silence_of_a_store() -> None:
    """Or each of many runs would wait for a dead store for minutes."""
    shared = _shared()
    assert shared.silence(ONE) is shared.silence(CanonicalPath.parse("hdfs://one/b"))
    assert shared.silence(ONE) is not shared.silence(OTHER)
    bucket = CanonicalPath.parse("s3://bucket/a")
    first, second = (shared.bound(lambda: None).of(bucket) for _ in range(2))
    assert isinstance(first, PatientFileSystem)
    assert isinstance(second, PatientFileSystem)
    assert first.silence is second.silence is shared.silence(bucket)
