"""Validities, limits and expressions at the ends of the calendar: no rule falls over them."""

from __future__ import annotations

from datetime import datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.linter.repos import lint_texts
from toolkit.el import parse_instant
from toolkit.linter.rules import FAMILIES

STARTS = st.sampled_from(["0001-01-01T00:00Z", "1900-01-01T00:00Z", "2011-12-29T10:00Z", "9999-12-31T23:57Z"])
ENDS = st.sampled_from(["0001-01-01T00:01Z", "2026-07-01T00:00Z", "9999-12-31T23:59Z"])
STEPS = st.sampled_from(["minutes(1)", "hours(24)", "days(1)", "months(1)", "months(119988)", "days(3659634)"])
ZONES = st.sampled_from(["UTC", "Pacific/Apia", "Australia/Lord_Howe", "Africa/Monrovia", "Pacific/Kiritimati"])
CALLS = st.sampled_from(
    [
        "now(0,0)",
        "now(-999999999,-999999999)",
        "today(999999999,0)",
        "currentWeek(MON,0,0)",
        "currentYear(-999999999,0,0,0)",
        "lastYear(0,999999999,0,0)",
        "latest(-999999999)",
        "future(3,999999999)",
    ]
)
PATHS = st.sampled_from(["/d/${YEAR}", "/d/${YEAR}${MONTH}${DAY}${HOUR}${MINUTE}", "/*/${YEAR}"])
MOMENTS = st.sampled_from(["0001-01-01T00:00Z", "2026-03-10T12:00Z", "9999-12-31T23:59Z"]).map(parse_instant)


@st.composite
def feeds(draw: st.DrawFn, name: str) -> str:
    sides = "".join(
        f"  - {{name: {cluster}, type: {role}, delay: {draw(STEPS)}, retention: {{limit: {draw(STEPS)}, keep_last: 3}},"
        f" validity: {{start: {draw(STARTS)}, end: {draw(ENDS)}}}}}\n"
        for cluster, role in (("primary", "source"), ("backup", "target"))
    )
    return (
        f"kind: feed\nname: {name}\nfrequency: {draw(STEPS)}\ntimezone: {draw(ZONES)}\npath_timezone: {draw(ZONES)}\n"
        f'groups: [web]\nlate_arrival: {{cut_off: {draw(STEPS)}}}\nlocations: {{data: "{draw(PATHS)}"}}\n'
        f"clusters:\n{sides}"
    )


@st.composite
def processes(draw: st.DrawFn) -> str:
    calls = [draw(CALLS) for _ in range(4)]
    return f"""\
kind: process
name: hourly_job
frequency: {draw(STEPS)}
timezone: {draw(ZONES)}
timeout: {draw(STEPS)}
clusters:
  - {{name: primary, validity: {{start: {draw(STARTS)}, end: {draw(ENDS)}}}}}
inputs:
  one: {{feed: clicks, start: "{calls[0]}", end: "{calls[1]}"}}
  two: {{feed: clicks_hourly, start: "{calls[2]}", end: "{calls[3]}"}}
outputs:
  made: {{feed: clicks_hourly, instance: "now(0,0)"}}
  again: {{feed: clicks_hourly, instance: "{draw(CALLS)}"}}
workflow: {{engine: spark_sql, path: workflows/hourly.sql}}
late_process: {{policy: final, inputs: {{one: workflows/late.sql}}}}
"""


@settings(max_examples=60, deadline=None)
@given(feeds("clicks"), feeds("clicks_hourly"), processes(), MOMENTS)
def test_no_rule_about_references_and_times_falls_over_the_ends_of_the_calendar(
    one: str, other: str, process: str, moment: datetime
) -> None:
    texts = {
        "feeds/clicks.yaml": one,
        "feeds/clicks_hourly.yaml": other,
        "processes/hourly_job.yaml": process,
        "processes/daily_report.yaml": None,
    }
    select = tuple(rule.id for family in FAMILIES if family.name in {"references", "times"} for rule in family.rules)
    lint_texts(texts, select=select, time=moment)


def test_a_validity_from_year_1_has_no_midnight_in_a_zone_in_the_west() -> None:
    feed = """\
kind: feed
name: clicks
frequency: days(1)
path_timezone: Africa/Monrovia
locations: {data: "/d/${YEAR}"}
clusters:
  - {name: primary, type: source, validity: {start: 0001-01-01T00:00Z, end: 0001-01-01T00:01Z}}
  - {name: backup, type: target, validity: {start: 1900-01-01T00:00Z, end: 2026-07-01T00:00Z}}
"""
    (found,) = lint_texts({"feeds/clicks.yaml": feed}, select=("path-timezone",)).findings
    assert "1899-12-31" in found.message
