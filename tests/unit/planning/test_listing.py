"""Instances for people: what a process instance reads and makes, in words where there is no place."""

from __future__ import annotations

from tests.unit.planning.entities import cluster, path_feed, process
from toolkit.el import parse_instant
from toolkit.entities import Input, Output
from toolkit.planning.listing import process_places
from toolkit.planning.process_io import ProcessSite

YOUNG = path_feed("feed2", "/d/${YEAR}-${MONTH}-${DAY}", "days(1)", start="2012-03-01T00:00Z")


def places(inputs: dict[str, Input], outputs: dict[str, Output]) -> list[tuple[str, str]]:
    site = ProcessSite(process=process(inputs, outputs), cluster=cluster(), feeds={"feed2": YOUNG})
    return [(place.role, place.place) for place in process_places(site, parse_instant("2012-03-01T06:40Z"))]


def test_what_is_read_and_made_has_its_path() -> None:
    read = {"in": Input(feed="feed2", start="today(0,0)", end="today(0,0)", partition="*/US")}
    found = places(read, {"out": Output(feed="feed2", instance="today(0,0)")})
    assert found == [("in", "/d/2012-03-01/*/US"), ("out", "/d/2012-03-01")]


def test_an_input_before_its_feed_begins_has_no_instance() -> None:
    found = places({"in": Input(feed="feed2", start="lastMonth(0,0,0)", end="lastMonth(1,0,0)")}, {})
    assert found == [("in", "no instance of feed2")]


def test_an_output_before_its_feed_begins_has_no_instance() -> None:
    found = places({}, {"out": Output(feed="feed2", instance="yesterday(0,0)")})
    assert found == [("out", "no instance of feed2 before 2012-03-01T00:00Z")]


def test_an_input_that_depends_on_availability_says_so() -> None:
    found = places({"in": Input(feed="feed2", start="latest(-1)", end="latest(0)")}, {})
    assert found == [("in", "latest(-1) to latest(0) of feed2, by availability")]
