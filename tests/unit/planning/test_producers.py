"""Producers of a feed instance: the inverse of outputs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.planning.entities import path_feed, process, validity
from toolkit.el import NotAnInstance, parse_instant
from toolkit.entities import FeedCluster, Output, Process
from toolkit.planning.moving_ranges import Producer, producers

HOURLY = path_feed("feed1", "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}")
DAILY = path_feed("feed1", "/d/${YEAR}-${MONTH}-${DAY}", "days(1)")


def maker(instance: str, frequency: str = "hours(1)") -> Process:
    return process(None, {"out": Output(feed="feed1", instance=instance)}, frequency)


def found(instant: str, *processes: Process) -> list[Producer]:
    return list(producers(HOURLY, "primary", parse_instant(instant), processes))


def test_the_run_is_found_whose_output_the_instance_is() -> None:
    (producer,) = found("2012-03-01T01:00Z", maker("now(-1,0)"))
    nominal = parse_instant("2012-03-01T02:40Z")
    assert (producer.process, producer.output) == ("sample", "out")
    assert (producer.instances, producer.count) == ((nominal, nominal), 1)


def test_an_instance_between_the_outputs_of_a_slower_process_has_no_producer() -> None:
    assert found("2012-03-01T01:00Z", maker("today(0,0)", "days(1)")) == []


def test_all_runs_are_producers_that_make_the_same_instance() -> None:
    (producer,) = producers(DAILY, "primary", parse_instant("2012-03-01T00:00Z"), [maker("today(0,0)")])
    assert producer.count == 24
    assert producer.instances == (parse_instant("2012-03-01T00:40Z"), parse_instant("2012-03-01T23:40Z"))


def test_processes_that_make_other_feeds_are_passed_over() -> None:
    assert found("2012-03-01T01:00Z", process(None, {"out": Output(feed="feed2", instance="now(0,0)")})) == []


def test_a_time_that_is_no_instance_is_an_error() -> None:
    with pytest.raises(NotAnInstance):
        found("2012-03-01T01:30Z")


def test_runs_after_the_feeds_end_are_no_producers_of_its_last_instance() -> None:
    ended = replace(DAILY, clusters=(FeedCluster(name="primary", validity=validity(end="2012-03-02T00:00Z")),))
    (producer,) = producers(ended, "primary", parse_instant("2012-03-01T00:00Z"), [maker("now(0,0)")])
    assert producer.instances == (parse_instant("2012-03-01T00:40Z"), parse_instant("2012-03-01T23:40Z"))
