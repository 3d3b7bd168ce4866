"""At the edges of the calendar figures may be off by a few instances; nothing fails."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from tests.unit.planning.blast_radius.changes import GRIDS, pair, side
from toolkit.el import parse_instant
from toolkit.entities import Hold, Validity
from toolkit.planning.blast_radius import message_of
from toolkit.planning.blast_radius.before_after import FeedState
from toolkit.planning.blast_radius.feed_effects import retention_effects, template_effects

FIRST, LAST = parse_instant("0001-01-01T00:00Z"), parse_instant("9999-12-31T23:59Z")
HOLD = Hold(feed="clicks", start=FIRST, end=LAST, reason="all")


def for_ever(of: FeedState, zone: str) -> FeedState:
    """The feed with the longest validity that there is, in a zone."""
    (on_primary,) = of.feed.clusters
    clusters = (replace(on_primary, validity=Validity(start=FIRST, end=LAST)),)
    return replace(of, feed=replace(of.feed, clusters=clusters, path_timezone=zone))


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"])
@pytest.mark.parametrize("time", [FIRST, parse_instant("2026-03-20T00:00Z"), LAST])
@pytest.mark.parametrize("frequency", sorted(GRIDS))
def test_nothing_fails(frequency: str, zone: str, time: datetime) -> None:
    before = for_ever(side(frequency, GRIDS[frequency], "months(40)", keep_last=9, cut_off="months(2)"), zone)
    after = for_ever(side(frequency, GRIDS[frequency].replace("/d/", "/*/"), "hours(1)", holds=(HOLD,)), "UTC")
    for sides in (pair(before, after, time), pair(after, before, time), pair(before, before, time)):
        found = [*retention_effects(sides), *template_effects(sides)]
        assert all(message_of(effect) for effect in found)


def test_an_undated_feed_is_never_evicted() -> None:
    undated = side(template="/data/clicks", holds=(HOLD,))
    effects = list(
        retention_effects(pair(undated, side(template="/data/clicks", limit="days(1)"), "2026-03-20T00:00Z"))
    )
    assert [effect.count for effect in effects] == [0]
