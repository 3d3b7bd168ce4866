"""Polls of data that others write: when a change is announced, what it names, and which instances are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.unit.planning.entities import path_feed
from toolkit.el import Frequency, Unit, format_instant
from toolkit.entities import Feed, FeedSla, SlaDeadline
from toolkit.entities.feed import LateArrival
from toolkit.entities.trigger import Poll
from toolkit.entities.trigger_vocabulary import PollBy
from toolkit.planning.polls import (
    NEWEST_INSTANCES,
    SHOWN_FILES,
    Announcement,
    FileMark,
    PollFingerprint,
    PollState,
    difference,
    is_due,
    missing,
    next_step,
    polled_instances,
)

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
SETTLE = timedelta(minutes=2)
POLL = Poll(by=PollBy.LISTING)


def _minutes(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def _data(*names: str, by: PollBy = PollBy.LISTING, size: int = 1) -> PollFingerprint:
    return PollFingerprint.of(by, [FileMark(name, size, NOON, f"{size}") for name in names])


MISSING = missing(PollBy.LISTING)


def _announced(*looks: PollFingerprint | None, every: float = 1, state: PollState = PollState()) -> list[Announcement]:  # noqa: B008
    """Return the announcements of looks, each so many minutes after the one before."""
    found = []
    for number, look in enumerate(looks):
        step = next_step(state, look, _minutes(number * every), SETTLE)
        state = step.state
        found.append(step.announcement)
    return found


NO, YES, GONE = Announcement.NOTHING, Announcement.PRESENT, Announcement.VANISHED


def test_data_is_announced_once_after_it_was_the_same_for_as_long_as_it_settles() -> None:
    assert _announced(*[_data("a")] * 5) == [NO, NO, YES, NO, NO]
    assert _announced(*[_data("a")] * 3, every=2) == [NO, YES, NO]


def test_data_that_goes_on_changing_is_not_announced() -> None:
    growing = [_data("a", size=size) for size in range(1, 8)]
    assert _announced(*growing) == [NO] * 7
    assert _announced(*growing, *[growing[-1]] * 2) == [NO] * 8 + [YES]


def test_a_change_that_is_taken_back_before_it_settled_is_not_announced() -> None:
    state = PollState(announced=_data("a"))
    assert _announced(_data("a", "b"), _data("a"), _data("a", "b"), _data("a", "b"), state=state) == [NO] * 4


def test_data_that_is_being_written_starts_the_wait_anew() -> None:
    a = _data("a")
    assert _announced(a, None, a, a, a) == [NO, NO, NO, NO, YES]


def test_data_that_vanished_is_announced_once_and_only_if_it_was_announced() -> None:
    assert _announced(MISSING, MISSING, MISSING, MISSING) == [NO] * 4
    announced = PollState(announced=_data("a"))
    assert _announced(*[MISSING] * 5, state=announced) == [NO, NO, GONE, NO, NO]
    assert _announced(MISSING, _data("a"), MISSING, MISSING, state=announced) == [NO] * 4
    again = [_data("a")] * 3
    assert _announced(*[MISSING] * 3, *again, state=announced) == [NO, NO, GONE, NO, NO, YES]


def test_another_method_is_no_change_of_the_data() -> None:
    state = PollState(announced=_data("a"))
    digests = _data("a", by=PollBy.DIGEST, size=7)
    assert _announced(digests, digests, digests, state=state) == [NO] * 3
    step = next_step(state, digests, NOON, SETTLE)
    assert step.state.announced == digests


@pytest.mark.parametrize(
    "found", [_data("a", "b"), _data(*map(str, range(2000))), MISSING, _data("x", by=PollBy.MTIME)]
)
def test_a_fingerprint_is_read_as_it_was_written(found: PollFingerprint) -> None:
    assert PollFingerprint.from_json(found.to_json()) == found


def test_the_newest_change_alone_counts_by_mtime() -> None:
    marks = [FileMark("a", 1, NOON, ""), FileMark("b", 1, _minutes(1), "")]
    both, newest = PollFingerprint.of(PollBy.MTIME, marks), PollFingerprint.of(PollBy.MTIME, marks[1:])
    assert both.is_same(newest)
    assert not both.is_same(PollFingerprint.of(PollBy.MTIME, marks[:1]))


def test_the_difference_names_the_files_that_came_changed_and_went() -> None:
    before = PollFingerprint.of(PollBy.LISTING, [FileMark("a", 1, NOON, "1"), FileMark("b", 1, NOON, "1")])
    after = PollFingerprint.of(PollBy.LISTING, [FileMark("b", 5, NOON, "5"), FileMark("c", 2, NOON, "2")])
    assert difference(before, after) == {
        "by": "listing",
        "files": 2,
        "bytes": 7,
        "newest": "2026-03-20T12:00:00+00:00",
        "files_before": 2,
        "bytes_before": 2,
        "added": ["c"],
        "changed": ["b"],
        "removed": ["a"],
    }


def test_a_difference_of_many_files_names_some_and_counts_the_rest() -> None:
    found = difference(None, _data(*(f"{number:03}" for number in range(SHOWN_FILES + 5))))
    assert found["added"] == [f"{number:03}" for number in range(SHOWN_FILES)]
    assert found["added_not_shown"] == 5
    of_very_many = difference(None, _data(*map(str, range(1001))))
    assert of_very_many["files"] == 1001
    assert "added" not in of_very_many


def test_a_poll_is_due_when_so_many_minutes_have_begun() -> None:
    assert is_due(POLL, None, NOON)
    assert not is_due(POLL, _minutes(0.9), _minutes(4.99))
    assert is_due(POLL, _minutes(0.9), _minutes(5))  # cron starts some seconds sooner or later
    assert is_due(POLL, _minutes(10), NOON)  # a clock was wrong


def _hourly(cut_off: int | None = None) -> Feed:
    feed = path_feed("clicks", "/data/${YEAR}/${MONTH}/${DAY}/${HOUR}")
    late = None if cut_off is None else LateArrival(cut_off=Frequency(unit=Unit.HOURS, count=cut_off))
    return replace(feed, late_arrival=late)


def _hours_ago(keys: Sequence[str]) -> list[int]:
    hours = {format_instant(NOON - timedelta(hours=hour)): hour for hour in range(1000)}
    return [hours[key] for key in keys]


def _states(*hours: int, unsettled: bool = False) -> dict[str, PollState]:
    state = PollState(announced=_data("a"), seen=_data("b") if unsettled else None, seen_at=NOON)
    return {format_instant(NOON - timedelta(hours=hour)): state for hour in hours}


def _looked_at(feed: Feed, states: dict[str, PollState]) -> list[int]:
    return _hours_ago(polled_instances(feed, "primary", NOON, states).looked_at)


def test_instances_that_were_never_announced_are_looked_at_for_a_week() -> None:
    assert _looked_at(_hourly(), {}) == list(range(7 * 24 + 1))
    assert _looked_at(_hourly(cut_off=10 * 24), {}) == list(range(10 * 24 + 1))
    assert len(_looked_at(_hourly(cut_off=100 * 24), {})) == NEWEST_INSTANCES


def test_instances_are_looked_at_while_an_sla_expects_them() -> None:
    days = Frequency.parse("days(10)")
    limits = replace(_hourly(), sla=FeedSla(low=days, high=days))
    assert _looked_at(limits, {}) == list(range(10 * 24 + 1))
    deadline = SlaDeadline(cron="0 9 * * *", after=Frequency.parse("days(3)"))
    without_limits = replace(_hourly(), sla=FeedSla(deadline=deadline))
    assert _looked_at(without_limits, {}) == list(range((3 + 7) * 24 + 1))


def test_announced_instances_are_looked_at_within_the_cut_off_and_the_newest_always() -> None:
    announced = _states(*range(400))
    assert _looked_at(_hourly(), announced) == [0, 1]
    assert _looked_at(_hourly(cut_off=3), announced) == [0, 1, 2, 3]


def test_an_old_instance_whose_change_has_not_settled_is_looked_at() -> None:
    assert _looked_at(_hourly(), _states(*range(400)) | _states(900, unsettled=True)) == [0, 1, 900]


def test_rows_of_instances_that_are_too_old_are_removed_and_no_others() -> None:
    found = polled_instances(_hourly(), "primary", NOON, _states(*range(400)) | _states(900, unsettled=True))
    assert sorted(_hours_ago(found.over)) == list(range(7 * 24 + 1, 400))


def test_the_newest_instances_of_a_rare_feed_are_looked_at_however_old() -> None:
    monthly = path_feed("bills", "/data/${YEAR}/${MONTH}", frequency="months(1)")
    assert polled_instances(monthly, "primary", NOON, {}).looked_at == ["2026-03-01T00:00Z", "2026-02-01T00:00Z"]
    assert polled_instances(monthly, "primary", datetime(2009, 1, 1, tzinfo=UTC), {}).looked_at == ()
