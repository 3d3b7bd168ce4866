from __future__ import annotations

import pytest

from toolkit.el import parse_instant
from toolkit.el.skipped_days import skipped_days


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Pacific/Apia", "2011-12-30"),
        ("Pacific/Fakaofo", "2011-12-30"),
        ("Pacific/Kiritimati", "1994-12-31"),
        ("Pacific/Kwajalein", "1993-08-21"),
        ("Asia/Manila", "1844-12-31"),
    ],
)
def test_a_zone_that_crossed_the_date_line_westward_skipped_one_day(zone: str, day: str) -> None:
    assert skipped_days(zone) == (parse_instant(f"{day}T00:00Z").replace(tzinfo=None),)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Los_Angeles", "America/Juneau", "Asia/Kolkata"])
def test_other_zones_skipped_none(zone: str) -> None:
    assert skipped_days(zone) == ()
