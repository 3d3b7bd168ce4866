from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.linter.repos import lint_texts
from toolkit.el import Frequency, InstanceSequence, PathTemplate, parse_instant

START_DAY, TIME, END = "2026-03-10", parse_instant("2026-03-10T00:00Z"), "2027-03-01T00:00Z"
FREQUENCIES = ["minutes(45)", "hours(1)", "hours(5)", "hours(24)", "days(1)", "days(7)", "months(1)"]
TEMPLATES = ["/d/${YEAR}-${MONTH}", "/d/${YEAR}-${MONTH}-${DAY}", "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}"]
ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe"]


def is_found(frequency: str, template: str, start: str, zone: str, path_zone: str) -> bool:
    feed = f"""\
kind: feed
name: clicks
frequency: {frequency}
timezone: {zone}
path_timezone: {path_zone}
external: true
locations: {{data: "{template}"}}
clusters:
  - {{name: primary, validity: {{start: {start}, end: {END}}}}}
"""
    files = {"feeds/clicks.yaml": feed, "processes/hourly_job.yaml": None}
    return bool(lint_texts(files, select=("instances-share-path",), time=TIME).findings)


def is_shared(frequency: str, template: str, start: str, zone: str, path_zone: str) -> bool:
    """Return whether any two instances have one path, found by rendering them all."""
    instances = InstanceSequence(parse_instant(start), Frequency.parse(frequency), zone, parse_instant(END))
    named = PathTemplate(template, path_zone)
    return max(Counter(map(named.render, instances)).values()) > 1


@pytest.mark.extended
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(FREQUENCIES),
    st.sampled_from(TEMPLATES),
    st.integers(0, 23),
    st.sampled_from([0, 30]),
    st.sampled_from(ZONES),
    st.sampled_from(ZONES),
)
def test_what_is_found_is_what_rendering_every_instance_of_the_year_shows(
    frequency: str, template: str, hour: int, minute: int, zone: str, path_zone: str
) -> None:
    facts = (frequency, template, f"{START_DAY}T{hour:02}:{minute:02}Z", zone, path_zone)
    assert is_found(*facts) == is_shared(*facts)


def test_names_of_local_months_meet_where_the_offset_brings_the_first_into_the_month_before() -> None:
    facts = ("months(1)", "/d/${YEAR}-${MONTH}", "2026-02-28T22:30Z", "Europe/Berlin", "Atlantic/Azores")
    assert is_found(*facts) == is_shared(*facts)
