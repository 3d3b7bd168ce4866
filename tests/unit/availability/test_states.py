"""Tests of what is there of an instance, by looking: one at a time, and many."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest

from tests.unit.availability.requested import HOURLY, CountingStore, instances
from tests.unit.planning.entities import cluster, table_feed
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from toolkit.availability import DataAccess, DataState, FoundInstance, NoRegistry
from toolkit.availability.path_instances import PAGE
from toolkit.el import parse_instant
from toolkit.entities.ingest import Ingest, RecordFormat, RecordType
from toolkit.errors import NotImplementedYet
from toolkit.storage import FileSystem, LocalFileSystem, PermissionDenied, SymlinkRefused

_DAY = "/data/clicks/2026/03/01"
_HOUR = timedelta(hours=1)


def at(hour: int) -> datetime:
    return parse_instant("2026-03-01T00:00Z") + hour * _HOUR


def state_of(system: FileSystem, hour: int = 5, *, flag: str | None = "_SUCCESS", data: str = HOURLY) -> FoundInstance:
    """Return what is said of one instance, which is the same when it is looked at alone and among others."""
    found = instances(system, flag=flag, data=data)
    alone = found.look(at(hour))
    (_, among, _) = found.look_at([at(hour - 1), at(hour), at(hour + 1)])
    assert among == alone
    assert found.is_ready(at(hour)) is alone.is_ready
    assert (at(hour) in found.counted()) is alone.is_ready
    return alone


def test_data_with_the_flag_is_available_and_without_it_partial(tmp_path: Path) -> None:
    for hour, names in (("05", ("part-0", "part-1", "_SUCCESS", ".feedctl-mark")), ("06", ("part-0",))):
        (tmp_path / hour).mkdir()
        for name in names:
            (tmp_path / hour / name).write_bytes(b"abc")
    data = f"{tmp_path}/${{HOUR}}#${{YEAR}}${{MONTH}}${{DAY}}"
    for hour in ("05", "06"):
        (tmp_path / hour).rename(tmp_path / f"{hour}#20260301")
    whole = state_of(LocalFileSystem(), 5, data=data)
    assert (whole.state, whole.is_ready, whole.files, whole.bytes) == (DataState.AVAILABLE, True, 2, 6)
    assert whole.uri == f"file://{tmp_path}/05#20260301"
    assert whole.modified is not None
    half = state_of(LocalFileSystem(), 6, data=data)
    assert (half.state, half.is_ready, half.files, half.bytes) == (DataState.PARTIAL, False, 1, 3)


def test_a_flag_alone_is_an_empty_instance_that_may_be_read() -> None:
    system = MemoryFileSystem()
    system.put(f"{_DAY}/05/_SUCCESS")
    system.make(f"{_DAY}/06")
    flagged, bare = state_of(system, 5), state_of(system, 6)
    assert (flagged.state, flagged.is_ready, flagged.files, flagged.bytes) == (DataState.EMPTY, True, 0, 0)
    assert (bare.state, bare.is_ready) == (DataState.EMPTY, False)


def test_without_a_flag_the_directory_itself_says_that_it_may_be_read() -> None:
    system = MemoryFileSystem()
    system.make(f"{_DAY}/05")
    system.put(f"{_DAY}/06/country=US/part-0", f"{_DAY}/07")
    empty, nested, single = (state_of(system, hour, flag=None) for hour in (5, 6, 7))
    assert (empty.state, empty.is_ready) == (DataState.EMPTY, True)
    assert (nested.state, nested.is_ready, nested.files, nested.bytes) == (DataState.AVAILABLE, True, None, None)
    assert (single.state, single.is_ready, single.files) == (DataState.AVAILABLE, True, 1)


def test_a_file_where_a_directory_with_a_flag_should_be_is_partial() -> None:
    system = MemoryFileSystem()
    system.put(f"{_DAY}/05")
    assert (state_of(system).state, state_of(system).is_ready) == (DataState.PARTIAL, False)


@pytest.mark.parametrize("there", [(), (f"{_DAY}/04/_SUCCESS",), ("/data/clicks/2026",)])
def test_what_is_not_there_is_missing_however_much_of_the_way_there_is(there: tuple[str, ...]) -> None:
    system = MemoryFileSystem()
    system.put(*there)
    assert state_of(system).state is DataState.MISSING


def test_a_feed_right_below_the_root_of_its_store_is_looked_at_too() -> None:
    system = MemoryFileSystem()
    system.put("/2026/03/01/05/_SUCCESS")
    data = "/${YEAR}/${MONTH}/${DAY}/${HOUR}"
    assert [state_of(system, hour, data=data).state for hour in (5, 6, 24)] == [
        DataState.EMPTY,
        DataState.MISSING,
        DataState.MISSING,
    ]


def test_keys_of_an_object_store_are_instances_too() -> None:
    system = ObjectMemory()
    system.put(f"{_DAY}/06-old/part-0", f"{_DAY}/05/part-0", f"{_DAY}/05/_SUCCESS", f"{_DAY}/06/part-0")
    assert [state_of(system, hour).state for hour in (5, 6, 7)] == [
        DataState.AVAILABLE,
        DataState.PARTIAL,
        DataState.MISSING,
    ]
    (*_, last) = instances(system).look_at([at(5), at(6)])  # the key of 06-old comes before that of 06
    assert last.state is DataState.PARTIAL


def test_an_error_of_the_store_is_never_a_missing_instance() -> None:
    system = MemoryFileSystem()
    system.put(f"{_DAY}/05/_SUCCESS", f"{_DAY}/06/_SUCCESS")
    system.locked.add(_DAY)
    with pytest.raises(PermissionDenied):
        list(instances(system).look_at([at(5), at(6)]))
    system.locked = {f"{_DAY}/05"}
    with pytest.raises(PermissionDenied):
        instances(system).look(at(5))


def test_a_link_is_no_instance_whatever_it_points_to() -> None:
    system = MemoryFileSystem()
    system.put(f"{_DAY}/04/part-0")
    system.links.add(f"{_DAY}/05")
    found = instances(system, flag=None)
    with pytest.raises(SymlinkRefused):
        found.look(at(5))
    with pytest.raises(SymlinkRefused):
        list(found.look_at([at(4), at(5)]))
    with pytest.raises(SymlinkRefused):
        found.is_ready(at(5))


def test_one_instance_costs_two_calls_at_most_however_many_files_it_has() -> None:
    system = MemoryFileSystem()
    system.put(*(f"{_DAY}/05/A-{number:05}" for number in range(PAGE + 1)), f"{_DAY}/05/_SUCCESS")
    store = CountingStore(system)
    found = instances(store).look(at(5))
    assert (found.state, found.is_ready, found.files) == (DataState.AVAILABLE, True, None)
    assert store.requested == [f"list {_DAY}/05", f"status {_DAY}/05/_SUCCESS"]


def test_a_range_costs_a_listing_a_day_and_one_for_each_instance_that_is_there() -> None:
    system = MemoryFileSystem()
    system.put(*(f"{_DAY}/{hour:02}/_SUCCESS" for hour in range(3)), "/data/clicks/2026/03/02/00/part-0")
    store = CountingStore(system)
    found = instances(store)
    states = [each.state for each in found.look_at(islice(iter(found.sequence), 31 * 24))]
    assert [states.count(each) for each in DataState] == [0, 1, 3, 31 * 24 - 4]
    days = {f"list /data/clicks/2026/03/{day:02}" for day in range(1, 32)}
    inside = {f"list {_DAY}/{hour:02}" for hour in range(3)} | {"list /data/clicks/2026/03/02/00"}
    assert {each for each in store.requested if each.startswith("list")} == days | inside


def test_years_without_data_cost_a_few_looks_for_each_window() -> None:
    system = MemoryFileSystem()
    system.put("/data/clicks/2027/01/01/00/_SUCCESS")
    store = CountingStore(system)
    found = instances(store)
    (*_, last) = found.look_at(islice(iter(found.sequence), 306 * 24 + 1))
    assert last.state is DataState.EMPTY
    assert len(store.requested) < 60


def test_a_table_on_a_cluster_without_a_metastore_and_globs_are_refused_aloud() -> None:
    feed = table_feed("clicks", "catalog:db:clicks#ds=${YEAR}-${MONTH}-${DAY}")
    with pytest.raises(NoRegistry, match="the cluster primary has no registry"):
        DataAccess(stores=lambda _: MemoryFileSystem()).instances_of(feed, cluster())
    with pytest.raises(NotImplementedYet, match="glob"):
        instances(MemoryFileSystem(), data="/data/${YEAR}${MONTH}${DAY}${HOUR}/*")


def test_the_table_of_a_feed_with_ingest_is_not_looked_for_in_the_hive_metastore() -> None:
    feed = table_feed("clicks", "catalog:db:clicks#ds=${YEAR}-${MONTH}-${DAY}")
    ingest = Ingest(format=RecordFormat(type=RecordType.JSON), columns=(), event_time="ts")
    ingested = replace(feed, clusters=tuple(replace(each, ingest=ingest) for each in feed.clusters))
    with pytest.raises(NotImplementedYet, match="feed clicks: a look at an ingested table on primary"):
        DataAccess(stores=lambda _: MemoryFileSystem()).instances_of(ingested, cluster())
