from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.el import ElError, Function, Weekday, parse_expression


@pytest.mark.parametrize(
    ("text", "function", "arguments"),
    [
        ("now(0,0)", Function.NOW, (0, 0)),
        ("today(-3,-20)", Function.TODAY, (-3, -20)),
        (" yesterday ( +24 ,\t30 ) ", Function.YESTERDAY, (24, 30)),
        ("currentWeek('MON',0,0)", Function.CURRENT_WEEK, (Weekday.MON, 0, 0)),
        ('lastWeek("SUN",0,0)', Function.LAST_WEEK, (Weekday.SUN, 0, 0)),
        ("lastWeek(SAT,1,2)", Function.LAST_WEEK, (Weekday.SAT, 1, 2)),
        ("currentMonth(3,2,40)", Function.CURRENT_MONTH, (3, 2, 40)),
        ("lastMonth(2,3,30)", Function.LAST_MONTH, (2, 3, 30)),
        ("currentYear(11,2,2,20)", Function.CURRENT_YEAR, (11, 2, 2, 20)),
        ("lastYear(4,2,2,20)", Function.LAST_YEAR, (4, 2, 2, 20)),
        ("latest(-2)", Function.LATEST, (-2,)),
        ("future(0,10)", Function.FUTURE, (0, 10)),
        ("instanceTime()", Function.INSTANCE_TIME, ()),
        ("instanceTime( )", Function.INSTANCE_TIME, ()),
    ],
)
def test_an_expression_is_a_function_and_its_arguments(
    text: str, function: Function, arguments: tuple[int, ...]
) -> None:
    expression = parse_expression(text)
    assert (expression.function, expression.arguments, str(expression)) == (function, arguments, text)


@pytest.mark.parametrize("name", [day.name for day in Weekday])
def test_week_days_are_numbered_as_dates_number_them(name: str) -> None:
    days = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
    assert parse_expression(f"currentWeek({name},0,0)").arguments[0] == days.index(name)


@pytest.mark.parametrize(
    ("text", "position", "found", "expected"),
    [
        ("", 0, "", "the name of a function, as in now(0,0)"),
        ("${now(0,0)}", 0, "${now(0,0)}", "the name of a function, as in now(0,0)"),
        ("now", 3, "", "'('"),
        ("now 0,0", 4, "0,0", "'('"),
        ("now(0,0", 7, "", "',' or ')'"),
        ("now(0 0)", 6, "0)", "',' or ')'"),
        ("now(0,0))", 8, ")", "nothing more after ')'"),
        ("now(0,0)..now(0,0)", 8, "..now(0,0)", "nothing more after ')'"),
        ("now(0,)", 6, ")", "an argument: a whole number or the name of a week day"),
        ("now(,0)", 4, ",0)", "an argument: a whole number or the name of a week day"),
        ("now(0)", 5, "1 argument", "now(hours, minutes)"),
        ("now()", 4, "0 arguments", "now(hours, minutes)"),
        ("now(0,0, 5)", 9, "3 arguments", "now(hours, minutes)"),
        ("instanceTime(0)", 13, "1 argument", "instanceTime()"),
        ("latest()", 7, "0 arguments", "latest(rank)"),
        ("now(0,x)", 6, "x", "a whole number of at most 9 digits for 'minutes' in now(hours, minutes)"),
        ("now(1.5,0)", 4, "1.5", "a whole number of at most 9 digits for 'hours' in now(hours, minutes)"),
        ("now('1',0)", 4, "'1'", "a whole number of at most 9 digits for 'hours' in now(hours, minutes)"),
        ("now(1234567890,0)", 4, "1234567890", "a whole number of at most 9 digits for 'hours' in now(hours, minutes)"),
        ("currentWeek('mon',0,0)", 12, "'mon'", "one of MON, TUE, WED, THU, FRI, SAT, SUN"),
        ("currentWeek(1,0,0)", 12, "1", "one of MON, TUE, WED, THU, FRI, SAT, SUN"),
        ("currentWeek('MON,0,0)", 12, "'MON,0,0)", "an argument: a whole number or the name of a week day"),
        ("future(-1,5)", 7, "-1", "0 or more for 'count' in future(count, limit)"),
        ("future(1,-5)", 9, "-5", "0 or more for 'limit' in future(count, limit)"),
    ],
)
def test_a_bad_expression_is_an_error_at_its_place(text: str, position: int, found: str, expected: str) -> None:
    with pytest.raises(ElError) as caught:
        parse_expression(text)
    assert (caught.value.position, caught.value.found, caught.value.expected) == (position, found, expected)


def test_latest_counts_back() -> None:
    with pytest.raises(ElError, match="at character 8: found '1', expected 0 or less"):
        parse_expression("latest(1)")


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("tody(0,0)", "today"), ("currentweek(MON,0,0)", "currentWeek"), ("NOW(0,0)", "now"), ("lastest(0)", "latest")],
)
def test_an_unknown_function_names_the_nearest_and_all(text: str, nearest: str) -> None:
    with pytest.raises(ElError) as caught:
        parse_expression(text)
    assert caught.value.expected.startswith(nearest)
    assert all(function in caught.value.expected for function in Function)


def test_a_function_like_no_other_names_all() -> None:
    with pytest.raises(ElError, match="expected one of now, today, yesterday"):
        parse_expression("xyzzy()")


def position_of_fault(text: str) -> int | None:
    """Return the position of the fault; -1: there is none."""
    try:
        parse_expression(text)
    except ElError as error:
        return error.position
    return -1


@given(text=st.text(alphabet="now latestMON(),'\"0123-+\u00e9\n$", max_size=30))
def test_any_text_is_an_expression_or_has_one_fault_within_it(text: str) -> None:
    position = position_of_fault(text)
    assert position is not None
    assert position <= len(text)
