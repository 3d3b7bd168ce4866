"""`feedctl el`."""

from __future__ import annotations

import pytest

from tests.unit.cli.running import Feedctl


def test_the_issues_own_expression(feedctl: Feedctl) -> None:
    ran = feedctl("el", "eval", "today(-3,-20)", "--time", "2010-01-02T01:30Z")
    assert (ran.code, ran.out, ran.err) == (0, "2010-01-01T20:40Z\n", "")


def test_days_begin_in_the_time_zone_that_is_given(feedctl: Feedctl) -> None:
    ran = feedctl("el", "eval", "today(0,0)", "--time", "2026-03-01T06:40Z", "--timezone", "America/Los_Angeles")
    assert ran.out == "2026-02-28T08:00Z\n"


def test_json_says_what_was_asked_too(feedctl: Feedctl) -> None:
    ran = feedctl("el", "eval", "now(0,0)", "--time", "2026-03-01T06:40:00+00:00", "--output", "json")
    assert ran.document == {
        "schema_version": 1,
        "expression": "now(0,0)",
        "nominal_time": "2026-03-01T06:40Z",
        "timezone": "UTC",
        "instant": "2026-03-01T06:40Z",
    }


@pytest.mark.parametrize(
    ("expression", "time", "zone", "message"),
    [
        ("todya(0,0)", "2026-03-01T06:40Z", "UTC", "at character 1: found 'todya', expected today"),
        ("today(0)", "2026-03-01T06:40Z", "UTC", "found 1 argument, expected today(hours"),
        ("today(0,0", "2026-03-01T06:40Z", "UTC", "at character 10: found the end, expected"),
        ("today(x,0)", "2026-03-01T06:40Z", "UTC", "at character 7: found 'x', expected a whole number"),
        ("latest(0)", "2026-03-01T06:40Z", "UTC", "latest"),
        ("today(0,0)", "2026-03-01T06:40", "UTC", "expected 'Z' or '+00:00'"),
        ("today(0,0)", "2026-02-30T06:40Z", "UTC", "found '30', expected a day from 01 to 28, which 2026-02 has"),
        ("today(0,0)", "2026-03-01T06:40Z", "Europe/Berln", "Europe/Berlin"),
        ("currentYear(99999999,0,0,0)", "2026-03-01T06:40Z", "UTC", "in the years 1 to 9999"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    feedctl: Feedctl, expression: str, time: str, zone: str, message: str
) -> None:
    ran = feedctl("el", "eval", expression, "--time", time, "--timezone", zone)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err
