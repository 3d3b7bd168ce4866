"""Tests of what a change of a feed does to its data, in words and figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.planning.blast_radius.changes import HOURLY, pair, side
from toolkit.el import Frequency, parse_instant
from toolkit.entities import ExpiryAction, Hold, Locations, Protection, ProtectionName
from toolkit.entities.vocabulary import OnSourceDelete
from toolkit.planning.blast_radius import message_of
from toolkit.planning.blast_radius.before_after import FeedState
from toolkit.planning.blast_radius.feed_effects import retention_effects, template_effects

TIME = "2026-03-20T00:00Z"
AUDIT = Hold(
    feed="clicks", start=parse_instant("2026-01-10T00:00Z"), end=parse_instant("2026-01-20T00:00Z"), reason="audit"
)
WINDOW = Protection(name=ProtectionName.LATE_WINDOW, max_age=Frequency.parse("days(2)"))


def retention_words(before: FeedState, after: FeedState, time: str = TIME) -> list[str]:
    return [message_of(each) for each in retention_effects(pair(before, after, time))]


def template_words(before: FeedState, after: FeedState) -> list[str]:
    return [message_of(each) for each in template_effects(pair(before, after, TIME))]


def test_a_shorter_limit_makes_more_instances_evictable() -> None:
    assert retention_words(side(limit="days(30)"), side(limit="days(10)")) == [
        (
            "retention of clicks on primary 30d -> 10d: 480 more instances (2026-02-18 to 2026-03-10) become evictable"
            " at the next run"
        )
    ]


def test_one_instance_is_told_as_one() -> None:
    assert retention_words(side(limit="hours(2)"), side(limit="hours(1)")) == [
        (
            "retention of clicks on primary 2h -> 1h: 1 more instance (2026-03-19T22:00Z to 2026-03-19T23:00Z) becomes"
            " evictable at the next run"
        )
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            side(limit=None),
            side(limit="months(1)", keep_last=3),
            "none -> 1mo: 1,200 more instances (2026-01-01 to 2026-02-20)",
        ),
        (
            side(limit="hours(2)", cut_off="hours(8)"),
            side(limit="hours(2)", cut_off="hours(8)", protect=()),
            "protect late_window -> protect nothing: 5 more instances (2026-03-19T17:00Z to 2026-03-19T22:00Z)",
        ),
        (
            side(limit="hours(2)", cut_off="days(8)"),
            side(limit="hours(2)", cut_off="days(8)", protect=(WINDOW,)),
            "protect late_window -> protect late_window up to 2d: 143 more instances",
        ),
        (
            side(limit="hours(2)", cut_off="hours(8)"),
            side(limit="hours(2)"),
            "late cut-off 8h -> late cut-off none: 5 more instances",
        ),
        (
            side(end="2026-02-01T00:00Z"),
            side(end="2026-02-01T00:00Z", keep_beyond_validity=False),
            (
                "counted from the validity's end 2026-02-01 -> counted from the run: 240 more instances"
                " (2026-01-22 to 2026-02-01)"
            ),
        ),
        (
            side(end="2026-02-01T00:00Z"),
            side(end="2026-03-01T00:00Z"),
            "validity's end 2026-02-01 -> counted from the validity's end 2026-03-01: 240 more",
        ),
        (
            side("days(1)", "/d/${YEAR}-${MONTH}-${DAY}"),
            side("days(1)", "/d/${YEAR}-${MONTH}-${DAY}", limit="days(9)", keep_last=2),
            "10d, keep_last none -> 9d, keep_last 2: 1 more instance (2026-03-10 to 2026-03-11)",
        ),
    ],
)
def test_whatever_lets_instances_go_is_named(before: FeedState, after: FeedState, expected: str) -> None:
    (message,) = retention_words(before, after)
    assert expected in message


def test_what_a_hold_and_keep_last_kept_is_counted_for_them_alone() -> None:
    before = side(limit="days(30)", keep_last=24 * 20, holds=(AUDIT,))
    words = retention_words(before, side(limit="days(10)", keep_last=24))
    limit, keep_last, hold = (each.partition(" become")[0] for each in words)
    assert limit.startswith("retention of clicks on primary 30d, keep_last 480 -> 10d, keep_last 24:")
    assert limit.endswith(": 241 more instances (2026-02-18 to 2026-02-28T01:00Z)")
    assert keep_last.endswith(" 480 -> 24: 239 more instances (2026-02-28T01:00Z to 2026-03-10)")
    assert hold.endswith("(audit) -> none: 240 more instances (2026-01-10 to 2026-01-20)")


def test_instances_around_a_hold_have_a_gap() -> None:
    (message,) = retention_words(side(limit=None, holds=(AUDIT,)), side(holds=(AUDIT,)))
    assert "1,392 more instances (between 2026-01-01 and 2026-03-10)" in message


def test_a_new_hold_keeps_what_was_to_go() -> None:
    assert retention_words(side(), side(holds=(AUDIT,))) == [
        (
            "clicks on primary has a new hold: 240 instances (2026-01-10 to 2026-01-20) are no longer evictable"
            " at the next run"
        )
    ]


def test_a_longer_limit_and_no_limit_keep_more() -> None:
    assert retention_words(side(), side(limit="days(11)")) == [
        (
            "retention of clicks on primary 10d -> 11d: 24 instances (2026-03-09 to 2026-03-10) are no longer evictable"
            " at the next run"
        )
    ]
    assert retention_words(side(keep_last=3, holds=(AUDIT,)), side(limit=None)) == [
        "retention of clicks on primary 10d -> none: nothing is ever evicted there"
    ]


def test_another_action_is_told() -> None:
    before, after = side(), side()
    (on_primary,) = after.feed.clusters
    assert on_primary.retention is not None
    archived = replace(on_primary, retention=replace(on_primary.retention, action=ExpiryAction.ARCHIVE))
    after = replace(after, feed=replace(after.feed, clusters=(archived,)))
    assert retention_words(before, after) == ["retention of clicks on primary: action delete -> archive"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, OnSourceDelete.DELETE, "keep -> delete: directories that the source no longer has are removed"),
        (OnSourceDelete.DELETE, None, "delete -> keep: directories that the source no longer has stay"),
        (None, OnSourceDelete.KEEP, ""),
    ],
)
def test_what_a_replication_removes_is_told(
    before: OnSourceDelete | None, after: OnSourceDelete | None, expected: str
) -> None:
    found = retention_words(_copied(before), _copied(after))
    assert [f"on_source_delete of clicks on primary {expected}" in each for each in found] == [True] * bool(expected)


def _copied(on_source_delete: OnSourceDelete | None) -> FeedState:
    state = side()
    (on_primary,) = state.feed.clusters
    on_primary = replace(on_primary, on_source_delete=on_source_delete)
    return replace(state, feed=replace(state.feed, clusters=(on_primary,)))


def test_before_the_first_instance_nothing_happens() -> None:
    assert retention_words(side(limit="days(30)"), side(), "2025-12-01T00:00Z") == []


def test_the_millionth_instance_costs_what_the_first_does() -> None:
    sides = pair(
        side("minutes(1)", HOURLY + "/${MINUTE}", None), side("minutes(1)", HOURLY + "/${MINUTE}"), "2090-01-01T00:00Z"
    )
    assert len(sides.newly_evictable) > 33_000_000


def test_the_same_feed_has_no_effects() -> None:
    feed = side(holds=(AUDIT,), keep_last=3)
    assert [*retention_words(feed, feed), *template_words(feed, feed)] == []


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            "/data/views/${YEAR}/${MONTH}/${DAY}/${HOUR}",
            ["241 instances (2026-03-10 to 2026-03-20) are left behind"],
        ),
        ("/data/*/${YEAR}/${MONTH}/${DAY}/${HOUR}", ["is wider: /data/clicks/"]),
        ("/data/clicks/${YEAR}/${MONTH}/${DAY}", ["are left behind"]),
        ("/data/{views,x}/${YEAR}/${MONTH}/${DAY}/${HOUR}", ["are left behind", "is wider"]),
        ("/data/{clicks,x}/${YEAR}/${MONTH}/${DAY}/${HOUR}", ["is wider"]),
        ("file:///data/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}", []),
        ("/data/clicks", ["are left behind"]),
    ],
)
def test_a_template_leaves_data_behind_or_gets_wider(template: str, expected: list[str]) -> None:
    words = template_words(side(), side(template=template))
    assert len(words) == len(expected)
    assert all(part in message for part, message in zip(expected, words, strict=True))


def test_other_locations_are_compared_too() -> None:
    before, after = side(), side()
    assert before.feed.locations is not None
    stats = replace(before.feed, locations=replace(before.feed.locations, stats="/stats/${YEAR}", meta="/meta"))
    before = replace(before, feed=stats)
    assert template_words(before, after) == [
        (
            "stats template of clicks on primary /stats/${YEAR} -> none: 241 instances"
            " (2026-03-10 to 2026-03-20) are left behind: nothing reads or evicts them any more"
        ),
        "meta template of clicks on primary /meta -> none: what is there is left behind",
    ]
    assert [each.partition(":")[0] for each in template_words(after, before)] == [
        "stats template of clicks on primary is wider"
    ]


def test_partitions_frequency_and_zones_concern_what_is_there() -> None:
    before = side()
    changed = replace(
        before.feed, partitions=("country",), frequency=Frequency.parse("hours(2)"), path_timezone="Europe/Berlin"
    )
    there = "241 instances (2026-03-10 to 2026-03-20) there"
    assert template_words(before, replace(before, feed=changed)) == [
        f"path_timezone of clicks on primary UTC -> Europe/Berlin: names stand for other times: {there}",
        f"partitions of clicks on primary [] -> [country]: old instances have other sub-directories: {there}",
        f"frequency of clicks on primary hours(1) -> hours(2): old instances have other times: {there}",
    ]


def test_a_feed_without_a_place_has_no_figures() -> None:
    before = side()
    nowhere = replace(before, feed=replace(before.feed, locations=Locations()))
    assert list(retention_effects(pair(nowhere, side(limit="days(1)"), TIME))) == []
