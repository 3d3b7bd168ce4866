from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import Function, evaluate
from toolkit.el.functions import Parameter, Weekday
from toolkit.linter.durations import furthest_back, least_back

NOMINALS = st.integers(0, 70 * 366 * 24 * 60).map(
    lambda minutes: datetime(1990, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
FUNCTIONS = [each for each in Function if not each.needs_availability and each is not Function.INSTANCE_TIME]


@st.composite
def expressions(draw: st.DrawFn) -> str:
    function = draw(st.sampled_from(FUNCTIONS))
    arguments = [
        draw(st.sampled_from(Weekday)).name if each is Parameter.WEEKDAY else str(draw(st.integers(-100, 100)))
        for each in function.parameters
    ]
    return f"{function}({','.join(arguments)})"


@given(expressions(), NOMINALS, ZONES)
def test_no_run_means_an_instant_out_of_reach(expression: str, nominal: datetime, zone: str) -> None:
    back = nominal - evaluate(expression, nominal, zone)
    assert least_back(expression) <= back <= furthest_back(expression)


@pytest.mark.parametrize(
    ("expression", "least", "most"),
    [
        ("now(-1,0)", timedelta(hours=1), timedelta(hours=1)),
        ("now(0,20)", timedelta(minutes=-20), timedelta(minutes=-20)),
        ("yesterday(0,0)", timedelta(days=1, hours=-3), timedelta(days=2, hours=3)),
        ("currentYear(-999999999,0,0,0)", timedelta(days=280000000, hours=-3), timedelta(days=310000366, hours=3)),
    ],
)
def test_reach_is_exact_but_for_the_clocks(expression: str, least: timedelta, most: timedelta) -> None:
    assert (least_back(expression), furthest_back(expression)) == (least, most)
