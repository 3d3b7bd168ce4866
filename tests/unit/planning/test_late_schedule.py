"""When an instance is checked for late data, and what runs then."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.planning.entities import cluster, path_feed, process, table_feed
from toolkit.el import Frequency, format_instant, parse_instant
from toolkit.entities import Engine, Feed, Input, LateArrival, LatePolicy, LateProcess, Process, Step, Workflow
from toolkit.planning.late_schedule import LateSchedule, late_schedule, late_workflow, watched_inputs
from toolkit.planning.process_io import ProcessSite

NOMINAL = parse_instant("2012-03-01T06:40Z")


def feed(name: str, cut_off: str | None) -> Feed:
    made = path_feed(name, f"/data/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}")
    late = None if cut_off is None else LateArrival(cut_off=Frequency.parse(cut_off))
    return replace(made, late_arrival=late)


def late(policy: LatePolicy = LatePolicy.FINAL, delay: str | None = None, *names: str) -> LateProcess:
    paths = {name: f"workflows/{name}_late.sql" for name in names or ("input1",)}
    return LateProcess(policy=policy, delay=None if delay is None else Frequency.parse(delay), inputs=paths)


def reading(inputs: dict[str, Input], handling: LateProcess | None) -> Process:
    return replace(process(inputs), late_process=handling)


SAMPLE = {"input1": Input(feed="feed1", start="today(0,0)", end="today(1,0)")}
"""The specification's example; its feed has a cut-off of six hours."""


def schedule(policy: LatePolicy, delay: str | None = None) -> LateSchedule:
    """Return the schedule of an instance whose cut-off is 65 minutes after its nominal time."""
    return LateSchedule(
        nominal_time=NOMINAL, cut_off=NOMINAL + timedelta(minutes=65), late=late(policy, delay), timezone="UTC"
    )


def test_the_specifications_final_check_is_at_the_cut_off_of_the_feed() -> None:
    found = late_schedule(
        reading(SAMPLE, late()),
        {"feed1": feed("feed1", "hours(6)")},
        NOMINAL,
        {"input1": NOMINAL.replace(hour=1, minute=0)},
    )
    assert found is not None
    assert list(map(format_instant, found.checks())) == ["2012-03-01T07:00Z"]


def test_the_cut_off_is_the_latest_of_the_late_inputs() -> None:
    inputs = {name: Input(feed=name, start="now(-1,0)", end="now(-1,0)") for name in ("soon", "long")}
    feeds = {"soon": feed("soon", "hours(2)"), "long": feed("long", "days(1)")}
    ends = {"soon": NOMINAL - timedelta(hours=1), "long": NOMINAL - timedelta(hours=3)}
    found = late_schedule(reading(inputs, late(LatePolicy.FINAL, None, "soon", "long")), feeds, NOMINAL, ends)
    assert found is not None
    assert found.cut_off == NOMINAL + timedelta(hours=21)


@pytest.mark.parametrize(
    ("handling", "cut_off", "ends"),
    [
        (None, "hours(6)", {"input1": NOMINAL}),
        (late(), None, {"input1": NOMINAL}),
        (late(), "hours(6)", {}),
        (late(), "months(119988)", {"input1": NOMINAL}),
    ],
)
def test_without_handling_cut_off_or_data_nothing_is_checked(
    handling: LateProcess | None, cut_off: str | None, ends: dict[str, datetime]
) -> None:
    found = late_schedule(reading(SAMPLE, handling), {"feed1": feed("feed1", cut_off)}, NOMINAL, ends)
    assert found is None


def test_data_that_was_too_late_at_the_nominal_time_already_is_not_looked_for() -> None:
    over = replace(schedule(LatePolicy.PERIODIC, "minutes(10)"), cut_off=NOMINAL)
    assert (list(over.checks()), over.due(NOMINAL + timedelta(days=1), None)) == ([], None)


@pytest.mark.parametrize(
    ("policy", "minutes"),
    [
        (LatePolicy.PERIODIC, [10, 20, 30, 40, 50, 60, 65]),
        (LatePolicy.BACKOFF, [10, 30, 60, 65]),
        (LatePolicy.EXP_BACKOFF, [10, 30, 65]),
    ],
)
def test_checks_of_each_policy_are_counted_from_the_nominal_time(policy: LatePolicy, minutes: list[int]) -> None:
    found = schedule(policy, "minutes(10)")
    assert [(each - NOMINAL) // timedelta(minutes=1) for each in found.checks()] == minutes
    assert [found.is_last(each) for each in found.checks()] == [*[False] * (len(minutes) - 1), True]


def test_one_check_does_for_all_that_were_missed() -> None:
    found = schedule(LatePolicy.PERIODIC, "minutes(10)")
    assert found.due(NOMINAL + timedelta(minutes=9), None) is None
    newest = found.due(NOMINAL + timedelta(minutes=35), None)
    assert newest == NOMINAL + timedelta(minutes=30)
    assert found.due(NOMINAL + timedelta(minutes=39), newest) is None
    assert found.due(NOMINAL + timedelta(days=9), newest) == found.cut_off


@given(
    policy=st.sampled_from(LatePolicy),
    delay=st.integers(1, 500),
    cut_off=st.integers(-100, 2000),
    steps=st.lists(st.integers(0, 300), max_size=30),
)
def test_whenever_one_looks_each_check_is_made_at_most_once_and_the_last_never_missed(
    policy: LatePolicy, delay: int, cut_off: int, steps: list[int]
) -> None:
    found = LateSchedule(
        nominal_time=NOMINAL,
        cut_off=NOMINAL + timedelta(minutes=cut_off),
        late=late(policy, f"minutes({delay})"),
        timezone="UTC",
    )
    planned = list(found.checks())
    assert planned == sorted(set(planned))
    assert all(check > NOMINAL for check in planned)
    at, after, made = NOMINAL, None, []
    for step in [*steps, 100_000]:
        at += timedelta(minutes=step)
        check = found.due(at, after)
        if check is not None:
            assert check <= at
            made.append(check)
            after = check
    assert made == sorted(set(made))
    assert set(made) <= set(planned)
    assert made[-1:] == planned[-1:]


HOUR = "now(-1,0)"


def watched(inputs: dict[str, Input], there: set[str]) -> dict[str, list[str]]:
    """The hours of the instances that are watched, by input, when these hours of all feeds were there."""
    feeds = {
        "feed1": feed("feed1", "hours(6)"),
        "t": table_feed("t", "catalog:db:t#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"),
    }
    made = reading(inputs, late(LatePolicy.FINAL, None, *inputs))
    site = ProcessSite(process=made, cluster=cluster(), feeds=feeds)
    known = {parse_instant(f"2012-03-01T{hour}:00Z") for hour in there}
    read = {each.name: each for each in site.inputs(NOMINAL, {"feed1": known, "t": known})}
    found = watched_inputs(site, NOMINAL, read)
    return {each.name: [f"{instance.instant:%H}" for instance in each.instances] for each in found}


def test_of_an_optional_input_also_what_was_not_there_is_watched() -> None:
    optional = Input(feed="feed1", start="now(-2,0)", end="now(0,0)", optional=True)
    assert watched({"input1": optional}, {"05"}) == {"input1": ["04", "05", "06"]}


def test_what_was_counted_stays_as_it_was_counted() -> None:
    newest = Input(feed="feed1", start="latest(-1)", end="latest(0)")
    assert watched({"input1": newest}, {"02", "05"}) == {"input1": ["02", "05"]}


def test_tables_are_watched_and_inputs_that_nobody_named_are_not() -> None:
    inputs = {"input1": Input(feed="feed1", start=HOUR, end=HOUR), "t": Input(feed="t", start=HOUR, end=HOUR)}
    assert list(watched(inputs, {"05"})) == ["input1", "t"]
    site = ProcessSite(process=reading(inputs, None), cluster=cluster(), feeds={})
    assert watched_inputs(site, NOMINAL, {}) == []


def stepped(*steps: Step, handling: LateProcess) -> Process:
    return replace(process(), workflow=Workflow(steps=steps), late_process=handling)


def test_the_late_workflow_of_the_changed_input_takes_the_place_of_the_processs_own() -> None:
    made = replace(process(), late_process=late(LatePolicy.FINAL, None, "a", "b"))
    assert late_workflow(made, frozenset({"a"})) == replace(made.workflow, path="workflows/a_late.sql")


def test_several_late_workflows_cannot_both_run_so_that_the_own_does() -> None:
    made = replace(process(), late_process=late(LatePolicy.FINAL, None, "a", "b"))
    assert late_workflow(made, frozenset({"a", "b"})) == made.workflow
    same = LateProcess(policy=LatePolicy.FINAL, inputs={"a": "late.sql", "b": "late.sql"})
    assert late_workflow(replace(made, late_process=same), frozenset({"a", "b"})).path == "late.sql"


def test_of_a_workflow_of_steps_the_first_that_reads_the_input_says_with_what_the_late_one_runs() -> None:
    steps = (
        Step(name="shown", engine=Engine.COMMAND, path="shown.sh", inputs=("b",)),
        Step(name="clicks", engine=Engine.SPARK_SQL, path="clicks.sql", inputs=("a",), recoverable=False),
    )
    found = late_workflow(stepped(*steps, handling=late(LatePolicy.FINAL, None, "a")), frozenset({"a"}))
    assert found.steps == (Step(name="clicks", engine=Engine.SPARK_SQL, path="workflows/a_late.sql"),)
