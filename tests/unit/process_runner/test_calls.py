"""Arguments of a Spark application for its inputs and outputs, in the order of Falcon."""

from __future__ import annotations

from tests.unit.planning.entities import cluster, path_feed, process, table_feed
from toolkit.el import parse_instant
from toolkit.entities import Input, Output
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.calls import data_arguments
from toolkit.process_runner.resolution import resolve_instance

NOMINAL = parse_instant("2012-03-01T06:40Z")
READ = table_feed("clicks", "catalog:web:clicks#ds=${YEAR}-${MONTH}-${DAY}-${HOUR};region=us")
MADE = table_feed("counts", "catalog:sums:counts#ds=${YEAR}-${MONTH}-${DAY}-${HOUR};region=us")
PATHS = path_feed("shown", "/data/shown/${YEAR}-${MONTH}-${DAY}-${HOUR}")
TWO_HOURS = Input(feed="clicks", start="now(-1,0)", end="now(0,0)")


def reported(inputs: dict[str, Input], outputs: dict[str, Output]) -> tuple[str, ...]:
    feeds = {each.name: each for each in (READ, MADE, PATHS)}
    site = ProcessSite(process=process(inputs, outputs), cluster=cluster(), feeds=feeds)
    there = {parse_instant(f"2012-03-01T0{hour}:00Z") for hour in range(7)}
    return data_arguments(site, resolve_instance(site, NOMINAL, lambda _: there))


def test_an_input_and_an_output_over_tables_make_six_arguments() -> None:
    found = reported({"clicks": TWO_HOURS}, {"counts": Output(feed="counts", instance="now(0,0)")})
    assert found == (
        "(ds='2012-03-01-05' AND region='us') OR (ds='2012-03-01-06' AND region='us')",
        "clicks",
        "web",
        "ds='2012-03-01-06',region='us'",
        "counts",
        "sums",
    )


def test_inputs_come_before_outputs_and_paths_stay_one_argument() -> None:
    shown = Input(feed="shown", start="now(-1,0)", end="now(0,0)")
    found = reported({"shown": shown, "clicks": TWO_HOURS}, {"out": Output(feed="shown", instance="now(0,0)")})
    assert found[0] == "/data/shown/2012-03-01-05,/data/shown/2012-03-01-06"
    assert found[2:] == ("clicks", "web", "/data/shown/2012-03-01-06")
