"""The start that a finding names has no finding of its own, whatever a zone does with its clocks."""

from __future__ import annotations

import re

import pytest

from tests.unit.linter.repos import lint_texts
from toolkit.el import load_zone, parse_instant
from toolkit.el.zones import to_local
from toolkit.linter.findings import Finding

FEED = """
kind: feed
name: clicks_hourly
frequency: {frequency}
timezone: {zone}
path_timezone: {zone}
locations: {{data: "/data/clicks_hourly/${{YEAR}}-${{MONTH}}-${{DAY}}"}}
clusters:
  - name: primary
    validity: {{start: {start}, end: 2099-01-01T00:00Z}}
"""
ZONES = [
    "Africa/Cairo",  # summer time from midnight on, as in the next four
    "America/Santiago",
    "America/Asuncion",
    "Atlantic/Azores",
    "Asia/Beirut",
    "America/New_York",
    "America/Sao_Paulo",  # had no midnight on 2018-11-04
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",  # half an hour of summer time
    "Europe/London",
    "Pacific/Apia",  # had no 2011-12-30
    "Pacific/Kiritimati",
]


def _found(zone: str, start: str, frequency: str) -> list[Finding]:
    text = FEED.format(zone=zone, start=start, frequency=frequency)
    select = ("local-midnight", "clock-change-slot", "path-timezone")
    return list(lint_texts({"feeds/clicks_hourly.yaml": text}, select=select).findings)


@pytest.mark.parametrize("frequency", ["days(1)", "months(1)"])
@pytest.mark.parametrize("start", ["2026-01-01T00:00Z", "2026-01-31T00:00Z", "2018-11-04T00:00Z", "2011-12-30T00:00Z"])
@pytest.mark.parametrize("zone", ZONES)
def test_the_start_that_a_finding_names_has_no_finding(zone: str, start: str, frequency: str) -> None:
    starts = [
        named[1] for each in _found(zone, start, frequency) for named in re.finditer(r"^start: (\S+) is", each.hint)
    ]
    assert len(starts) <= 1
    assert [each.hint for named in starts for each in _found(zone, named, frequency)] == []


@pytest.mark.parametrize("zone", ZONES)
def test_midnight_is_one_also_on_the_day_after_one_without(zone: str) -> None:
    for start in ("2018-11-04T00:00Z", "2018-11-04T02:00Z", "2011-12-30T00:00Z"):
        for each in _found(zone, start, "days(1)"):
            if named := re.match(r"start: (\S+) is midnight", each.hint):
                local = to_local(parse_instant(named[1]), load_zone(zone))
                assert (local.hour, local.minute) == (0, 0)


def test_noon_is_named_where_midnight_is_no_time_to_begin() -> None:
    (found,) = _found("America/Santiago", "2026-01-01T00:00Z", "days(1)")
    assert found.hint == "start: 2026-01-01T15:00Z is noon in America/Santiago, whose clocks are changed at midnight"
