"""When a look at a source becomes the watermark of its table."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from tests.unit.ingest_job.scene import INSTANCES
from toolkit.ingest.port import WATERMARK_PROPERTY
from toolkit.ingest_job.watermark import AWAITED_PROPERTY, MOST_AWAITED, changed_watermark

CLOSE_AFTER = timedelta(minutes=10)


def changed(properties: dict[str, str], at: str, young: Collection[str] = ()) -> dict[str, str] | None:
    """Return the properties that change after a look at a time of 1 March."""
    looked = datetime.fromisoformat(f"2026-03-{at}:00").replace(tzinfo=UTC)
    found = changed_watermark(properties, looked, young, INSTANCES, CLOSE_AFTER)
    return None if found is None else found.properties


def test_it_moves_when_another_instance_may_close_and_never_back() -> None:
    old = {WATERMARK_PROPERTY: "2026-03-05T00:30Z"}
    assert changed({}, "05T00:30") == {**old, AWAITED_PROPERTY: ""}
    assert changed(old, "05T00:31") is None
    assert changed(old, "04T00:30") is None
    assert changed(old, "07T00:30") == {WATERMARK_PROPERTY: "2026-03-07T00:30Z", AWAITED_PROPERTY: ""}


def test_a_look_with_young_files_counts_once_none_of_them_is_young() -> None:
    old = {WATERMARK_PROPERTY: "2026-03-05T00:30Z"}
    waits = changed(old, "07T00:30", ["a", "b"])
    assert waits is not None
    assert WATERMARK_PROPERTY not in waits
    found = {**old, **waits}
    assert changed(found, "07T00:40", ["b", "c"]) is None
    assert changed(found, "07T00:50", ["c"]) == {WATERMARK_PROPERTY: "2026-03-07T00:30Z", AWAITED_PROPERTY: ""}
    assert changed(found, "07T00:50") == {WATERMARK_PROPERTY: "2026-03-07T00:50Z", AWAITED_PROPERTY: ""}


def test_an_old_look_that_closes_nothing_gives_way_to_a_new_one() -> None:
    waits = changed({WATERMARK_PROPERTY: "2026-03-05T00:30Z"}, "07T00:30", ["a"])
    assert waits is not None
    again = changed({WATERMARK_PROPERTY: "2026-03-07T00:40Z", **waits}, "09T00:30", ["b"])
    assert again is not None
    assert "2026-03-09T00:30Z" in again[AWAITED_PROPERTY]


def test_too_many_young_files_are_no_look() -> None:
    assert changed({}, "07T00:30", [str(each) for each in range(MOST_AWAITED + 1)]) is None
