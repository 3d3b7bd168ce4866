"""Planning on stores that have keys: no directories of their own, and names that no path can have."""

from __future__ import annotations

import pytest

from tests.unit.retention.feeds import HOURLY, FeedText, days
from tests.unit.retention.object_memory import ObjectMemory
from tests.unit.retention.planned import paths, planned
from toolkit.el import CanonicalPath
from toolkit.retention.expired_scan import SeenTwice
from toolkit.retention.plan import FeedPlan
from toolkit.storage import FileKind

BUCKET = "s3a://bucket"


def _planned(*keys: str, feed: FeedText | None = None) -> FeedPlan:
    system = ObjectMemory()
    system.put(*keys)
    return planned(system, feed or FeedText(), default_fs=BUCKET)


def test_instances_are_found_and_none_goes_with_a_directory() -> None:
    plan = _planned(*days(1, 2, month="2025/01"), *days(1, 20))
    assert paths(plan) == ["/data/clicks/2025/01/01", "/data/clicks/2025/01/02", "/data/clicks/2026/03/01"]
    assert plan.detail.subtrees == ()
    assert str(plan.items[0].path) == "s3://bucket/data/clicks/2025/01/01"


def test_a_base_without_keys_is_absent_in_a_bucket_and_a_failure_without_one() -> None:
    plan = _planned("/other/x")
    assert (plan.failed, plan.notes) == (None, ("data: s3://bucket/data/clicks does not exist",))
    missing = _planned()
    assert missing.failed is not None
    assert (missing.failed.code, missing.items) == ("not_found", ())
    assert "s3://bucket/" in missing.failed.message
    assert "there is no such bucket" in missing.failed.message


def test_a_name_that_is_an_object_and_a_directory_is_one_instance() -> None:
    keys = ["/data/clicks/2025-01-01", "/data/clicks/2025-01-01-x", "/data/clicks/2025-01-01/part"]
    plan = _planned(*keys, feed=FeedText(data="/data/clicks/${YEAR}-${MONTH}-${DAY}"))
    assert paths(plan) == ["/data/clicks/2025-01-01"]
    assert [path for path, _ in plan.detail.unrecognized.sample] == ["s3://bucket/data/clicks/2025-01-01-x"]


def test_keys_that_no_path_can_name_are_counted_and_stop_nothing() -> None:
    keys = [
        "/data/clicks//x",
        "/data/clicks/2025/01//y",
        "/data/clicks/2025/../z",
        "/data/clicks/2025/./z",
        "/data/clicks/2025/01/01/part",
        "/data/clicks/2025/01/02//part",
    ]
    plan = _planned(*keys)
    assert paths(plan) == ["/data/clicks/2025/01/01", "/data/clicks/2025/01/02"]
    why = "holds a key with '//', '/./' or '/../', which no path can name"
    assert plan.detail.unrecognized.count == 4
    assert plan.detail.unrecognized.sample == (
        ("s3://bucket/data/clicks", why),
        ("s3://bucket/data/clicks/2025", why),
        ("s3://bucket/data/clicks/2025", why),
        ("s3://bucket/data/clicks/2025/01", why),
    )


@pytest.mark.parametrize("odd", ["..", ".", ""])
def test_a_variable_does_not_stand_for_a_name_that_no_path_can_have(odd: str) -> None:
    feed = FeedText(data="/data/${region}/${YEAR}/${MONTH}/${DAY}")
    plan = _planned(f"/data/{odd}/2025/01/01/part", "/data/eu/2025/01/01/part", feed=feed)
    assert paths(plan) == ["/data/eu/2025/01/01"]
    assert plan.detail.unrecognized.count == 1


def test_there_are_no_empty_directories_and_nothing_was_set_aside() -> None:
    keys = ["/data/clicks/2025/01/", "/data/clicks/2025/01/.feedctl-evicting-05/part", "/data/clicks/2025/02/01"]
    plan = _planned(*keys)
    assert paths(plan) == ["/data/clicks/2025/02/01"]
    assert plan.detail.unrecognized.count == 0


def test_an_object_beside_the_directory_of_the_same_name_is_a_stranger() -> None:
    plan = _planned("/data/clicks/2025", *days(1, month="2025/01"))
    assert paths(plan) == ["/data/clicks/2025/01/01"]
    assert [path for path, _ in plan.detail.unrecognized.sample] == ["s3://bucket/data/clicks/2025"]


def test_a_literal_name_may_be_an_object_as_well() -> None:
    feed = FeedText(data="/data/${YEAR}-${MONTH}-${DAY}/clicks/raw/${HOUR}", frequency="hours(1)")
    keys = ["/data/2025-01-01/clicks", "/data/2025-01-01/clicks/raw/05/part", "/data/2025-01-02/views/raw/05/part"]
    assert paths(_planned(*keys, feed=feed)) == ["/data/2025-01-01/clicks/raw/05"]


def test_an_object_in_the_place_of_a_literal_directory_is_a_stranger_and_stops_nothing() -> None:
    feed = FeedText(data="/data/${YEAR}-${MONTH}-${DAY}/raw/${HOUR}", frequency="hours(1)", keep_last=1)
    days_of_data = ("2025-01-02/raw/05/part", "2025-01-02/raw/06/part", "2025-01-01/raw", "2026-03-19/raw")
    plan = _planned(*(f"/data/{each}" for each in days_of_data), feed=feed)
    assert (paths(plan), plan.unreadable, plan.failed) == (["/data/2025-01-02/raw/05"], (), None)
    assert [path for path, _ in plan.detail.unrecognized.sample] == ["s3://bucket/data/2025-01-01/raw"]


def test_a_base_without_keys_does_not_exist() -> None:
    plan = _planned("/data/clicks_else/2025/01/01/part")
    assert plan.failed is None
    assert plan.notes == ("data: s3://bucket/data/clicks does not exist",)


def test_a_base_that_is_an_object_alone_holds_nothing() -> None:
    plan = _planned("/data/clicks")
    assert (plan.items, plan.failed) == ((), None)


def test_a_prefix_that_cannot_be_listed_is_reported_and_the_others_go() -> None:
    system = ObjectMemory()
    system.put(*days(1, month="2025/01"), *days(1, month="2025/02"))
    system.locked.add("/data/clicks/2025/01")
    plan = planned(system, FeedText(), default_fs=BUCKET)
    assert paths(plan) == ["/data/clicks/2025/02/01"]
    assert [each.item.path.path for each in plan.unreadable] == ["/data/clicks/2025/01"]


def test_dates_that_are_too_young_are_not_listed() -> None:
    system = ObjectMemory()
    system.put(*(f"/data/clicks/{year}/01/01/00/part" for year in range(2024, 2030)))
    planned(system, FeedText(data=HOURLY, frequency="hours(1)"), default_fs=BUCKET)
    assert not any("/202" in each and each > "/data/clicks/2026/02" for each in system.listed)


def test_objects_are_remembered_only_while_their_directory_can_come() -> None:
    seen_twice = SeenTwice()
    listing = [("a", FileKind.FILE), ("a-b", FileKind.FILE), ("a-b", FileKind.DIRECTORY), ("a.c", FileKind.FILE)]
    listing += [("a", FileKind.DIRECTORY), ("b", FileKind.DIRECTORY)]
    assert [seen_twice(*each) for each in listing] == [False, False, True, False, True, False]


def test_the_path_stands_for_both_kinds() -> None:
    plan = _planned("/data/clicks/2025/01/01", "/data/clicks/2025/01/01/part")
    assert [item.path for item in plan.items] == [CanonicalPath("s3", "bucket", "/data/clicks/2025/01/01")]
