"""The young instances come newest first, from every layout and in every zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.retention.feeds import FeedText, cluster
from tests.unit.retention.memory import MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from toolkit.el import parse_instant
from toolkit.planning.retention import Candidate
from toolkit.retention import RetentionResolver
from toolkit.retention.recent_scan import RecentScan
from toolkit.retention.targets import FeedTarget

LAYOUTS = [
    "/data/${YEAR}/${MONTH}/${DAY}/${HOUR}",
    "/data/${YEAR}-${MONTH}-${DAY}-${HOUR}",
    "/data/${HOUR}.${DAY}.${MONTH}.${YEAR}",
    "/data/${DAY}/${YEAR}-${MONTH}/${HOUR}",
    "/data/${YEAR}-${MONTH}/${region}/${DAY}-${HOUR}",
    "/data/${YEAR}/raw/${MONTH}-${DAY}/${HOUR}",
    "/data/${YEAR}-${MONTH}-${DAY}/${HOUR}/out",
]
# The horizon is 01:00 UTC, the hour in which clocks go back in Berlin; an hour before it they do in Lisbon.
NOMINAL = "2026-10-26T01:00Z"
AROUND = parse_instant("2026-10-25T01:00Z")
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]


def _target(layout: str, zone: str, system: MemoryFileSystem) -> FeedTarget:
    resolver = RetentionResolver(
        nominal_time=parse_instant(NOMINAL), keep_beyond_validity=True, holds=(), storage=lambda _: system
    )
    feed = FeedText(data=layout, frequency="hours(1)", path_timezone=zone, limit="hours(24)").feed()
    (target,) = resolver.resolve([(feed, cluster(default_fs="hdfs://ns1"))], must_all_work=True).to_do
    return target


def _walk(target: FeedTarget, system: MemoryFileSystem) -> Iterator[Candidate]:
    (location,) = target.locations
    return RecentScan(target=target, location=location, system=system, check=lambda: None).candidates()


@given(
    layout=st.sampled_from(LAYOUTS),
    zone=st.sampled_from(ZONES),
    offsets=st.lists(st.integers(-80, 80) | st.integers(-9000, 9000), max_size=30),
    keyed=st.booleans(),
)
def test_all_young_instances_come_and_the_newest_first(
    layout: str, zone: str, offsets: list[int], *, keyed: bool
) -> None:
    system = ObjectMemory() if keyed else MemoryFileSystem()
    target = _target(layout, zone, system)
    template = target.locations[0].template
    made = {template.render(AROUND + timedelta(hours=offset), {"region": "eu"}) for offset in offsets}
    system.put(*(f"{path}/part" for path in made), "/data/junk/x")
    found = list(_walk(target, system))
    ends = {path: period.end for path in made if (period := template.parse(path)) is not None}
    assert [each.end for each in found] == sorted((ends[each.path.path] for each in found), reverse=True)
    assert all(each.time >= target.policy.horizon for each in found)
    young = {path for path, end in ends.items() if end - timedelta(hours=1) >= target.policy.horizon}
    assert young <= {each.path.path for each in found}
    assert all(ends[each.path.path] > target.policy.horizon for each in found)


def test_no_more_is_listed_than_is_taken() -> None:
    system = MemoryFileSystem()
    system.put(*(f"/data/2026/{month}/{day:02d}/00/part" for month in (10, 11, 12) for day in range(1, 29)))
    walk = _walk(_target(LAYOUTS[0], "UTC", system), system)
    newest = [next(walk).path.path for _ in range(3)]
    assert newest == ["/data/2026/12/28/00", "/data/2026/12/27/00", "/data/2026/12/26/00"]
    assert system.listed == ["/data", "/data/2026", "/data/2026/12"] + [f"/data/2026/12/{day}" for day in (28, 27, 26)]


def test_the_end_of_the_calendar_is_no_obstacle() -> None:
    system, end = MemoryFileSystem(), datetime(9999, 12, 31, 23, tzinfo=UTC)
    target = _target(LAYOUTS[1], "UTC", system)
    system.put(f"/data/{end:%Y-%m-%d-%H}/part")
    assert [each.time for each in _walk(target, system)] == [end]


def test_instances_of_several_directories_are_in_one_order() -> None:
    system = MemoryFileSystem()
    regions = {"eu": (26, 28), "us": (27, 29)}
    system.put(*(f"/data/2026-10/{region}/{day}-00/part" for region, days in regions.items() for day in days))
    times = [each.time for each in _walk(_target(LAYOUTS[4], "UTC", system), system)]
    assert [each.day for each in times] == [29, 28, 27, 26]
    assert all(one >= other for one, other in pairwise(times))
