"""An instance of a process, resolved against what is there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from tests.unit.planning.entities import cluster, path_feed, process
from toolkit.el import Availability, NotAnInstance, parse_instant
from toolkit.entities import Feed, Input, Output
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.resolution import ResolvedInstance, resolve_instance

NOMINAL = parse_instant("2012-03-01T06:40Z")
CLICKS = path_feed("clicks", "/data/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}")
SHOWN = path_feed("shown", "/data/shown/${YEAR}-${MONTH}-${DAY}-${HOUR}")
COUNTS = path_feed("counts", "/data/counts/${YEAR}-${MONTH}-${DAY}-${HOUR}")


def site(**inputs: Input) -> ProcessSite:
    made = process(inputs, {"counts": Output(feed="counts", instance="now(0,0)")})
    return ProcessSite(process=made, cluster=cluster(), feeds={each.name: each for each in (CLICKS, SHOWN, COUNTS)})


def having(**there: set[str]) -> Callable[[Feed], Availability]:
    """Return what is there, by the name of the feed: hours of the day."""
    return lambda feed: {parse_instant(f"2012-03-01T{hour}:00Z") for hour in there.get(feed.name, set())}


def resolved(on: ProcessSite, **there: set[str]) -> ResolvedInstance:
    return resolve_instance(on, NOMINAL, having(**there))


HOURS = Input(feed="clicks", start="now(-1,0)", end="now(0,0)")


def test_an_instance_whose_inputs_are_there_is_ready_with_its_paths() -> None:
    found = resolved(site(clicks=HOURS), clicks={"05", "06"})
    assert not found.missing
    assert found.properties["clicks"] == "/data/clicks/2012-03-01-05,/data/clicks/2012-03-01-06"
    assert found.properties["counts"] == "/data/counts/2012-03-01-06"
    assert (found.cluster, found.left_out) == ("primary", ())


def test_each_instance_that_a_compulsory_input_waits_for_is_named_with_its_place() -> None:
    found = resolved(site(clicks=HOURS), clicks={"06"})
    (missing,) = found.missing
    assert (missing.input, missing.feed, missing.instance_key) == ("clicks", "clicks", "2012-03-01T05:00Z")
    assert (missing.uri, missing.state) == ("file:///data/clicks/2012-03-01-05", "missing")
    assert found.properties == {}


def test_the_state_of_what_is_missing_is_asked_only_for_that() -> None:
    calls: list[datetime] = []

    def state_of(feed: Feed, instant: datetime) -> str:
        assert feed is CLICKS
        calls.append(instant)
        return "partial"

    found = resolve_instance(site(clicks=HOURS), NOMINAL, having(clicks={"06"}), state_of)
    assert [each.state for each in found.missing] == ["partial"]
    assert calls == [parse_instant("2012-03-01T05:00Z")]


def test_too_few_of_the_latest_wait_for_no_instance_in_particular() -> None:
    found = resolved(site(clicks=Input(feed="clicks", start="latest(-2)", end="latest(0)")), clicks={"03"})
    (missing,) = found.missing
    assert (missing.instance_key, missing.uri, missing.state) == ("", "", "too_few")
    assert "latest(-2) needs 3 available instances" in missing.reason


def test_what_is_there_of_an_optional_input_is_read_and_it_is_left_out_only_when_nothing_is() -> None:
    shown = Input(feed="shown", start="now(-1,0)", end="now(0,0)", optional=True)
    some = resolved(site(clicks=HOURS, shown=shown), clicks={"05", "06"}, shown={"06"})
    assert (some.properties["shown"], some.left_out) == ("/data/shown/2012-03-01-06", ())
    none = resolved(site(clicks=HOURS, shown=shown), clicks={"05", "06"})
    assert (none.missing, none.left_out, none.properties["falcon_shown_missing"]) == ((), ("shown",), "true")


def test_a_feed_that_two_inputs_read_is_looked_at_once() -> None:
    calls: list[str] = []

    def availability_of(feed: Feed) -> Availability:
        calls.append(feed.name)
        return {parse_instant("2012-03-01T06:00Z")}

    newest = Input(feed="clicks", start="latest(0)", end="latest(0)")
    resolve_instance(site(a=newest, b=newest), NOMINAL, availability_of)
    assert calls == ["clicks"]


def test_a_time_that_is_no_instance_of_the_process_is_refused() -> None:
    with pytest.raises(NotAnInstance):
        resolve_instance(site(), parse_instant("2012-03-01T06:41Z"), having())
