"""Inputs, outputs and properties of a process instance: the worked examples of the specification, exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.planning.entities import REGISTRY, cluster, path_feed, process, table_feed, validity
from toolkit.el import ElError, parse_instant
from toolkit.entities import Feed, FeedCluster, Input, LocationType, Output
from toolkit.entities.quality import Quality
from toolkit.entities.vocabulary import DataFormat
from toolkit.planning.process_io import Availabilities, PlannedInput, ProcessSite
from toolkit.planning.process_properties import FilterForm, input_properties, output_properties, partition_filter

NOMINAL = parse_instant("2012-03-01T06:40Z")
FEED1 = path_feed("feed1", "/projects/bootcamp/feed1/${YEAR}-${MONTH}-${DAY}-${HOUR}")
FEED2 = path_feed("feed2", "/projects/bootcamp/feed2/${YEAR}-${MONTH}-${DAY}", frequency="days(1)")
CLICKS = table_feed("clicks", "catalog:falcon_db:input_table#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}")


def planned(
    each: Input, feed: Feed, availabilities: Availabilities | None = None, nominal: str = "2012-03-01T06:40Z"
) -> PlannedInput:
    site = ProcessSite(process=process({"input1": each}), cluster=cluster(), feeds={feed.name: feed})
    (found,) = site.inputs(parse_instant(nominal), availabilities)
    return found


def test_the_specifications_input_paths_of_2012_03_01_06_40() -> None:
    found = planned(Input(feed="feed1", start="today(0,0)", end="today(1,0)", partition="*/US"), FEED1)
    paths = "/projects/bootcamp/feed1/2012-03-01-00/*/US,/projects/bootcamp/feed1/2012-03-01-01/*/US"
    assert input_properties(found)["input1"] == paths


def test_the_specifications_output_path_of_2012_03_01_06_40() -> None:
    outputs = {"output1": Output(feed="feed2", instance="today(0,0)")}
    site = ProcessSite(process=process(outputs=outputs), cluster=cluster(), feeds={"feed2": FEED2})
    (output,) = site.outputs(NOMINAL)
    assert output_properties(output)["output1"] == "/projects/bootcamp/feed2/2012-03-01"


def test_the_specifications_table_input() -> None:
    found = planned(Input(feed="clicks", start="today(0,0)", end="today(0,0)"), CLICKS, nominal="2012-04-21T06:40Z")
    assert input_properties(found, REGISTRY) == {
        "falcon_input1_storage_type": "TABLE",
        "falcon_input1_catalog_url": "thrift://localhost:29083",
        "falcon_input1_database": "falcon_db",
        "falcon_input1_table": "input_table",
        "falcon_input1_partition_filter_java": "(ds='2012-04-21-00')",
        "falcon_input1_partition_filter_hive": "(ds='2012-04-21-00')",
        "falcon_input1_partition_filter_pig": "(ds=='2012-04-21-00')",
        "input1_filter": "(ds='2012-04-21-00')",
        "falcon_input1_missing": "false",
    }


def test_the_specifications_table_output() -> None:
    feed = table_feed("summary", "catalog:falcon_db:output_table#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}", "days(1)")
    outputs = {"output": Output(feed="summary", instance="today(0,0)")}
    site = ProcessSite(process=process(outputs=outputs), cluster=cluster(), feeds={"summary": feed})
    (output,) = site.outputs(parse_instant("2012-04-21T06:40Z"))
    found = output_properties(output, REGISTRY)
    assert found["falcon_output_dataout_partitions"] == "'ds=2012-04-21-00'"
    assert (found["falcon_output_database"], found["falcon_output_table"]) == ("falcon_db", "output_table")
    assert site.uri(output.storage, output.instance) == "hcat://localhost:29083/falcon_db/output_table/ds=2012-04-21-00"


@pytest.mark.parametrize(
    ("of_feed", "own", "validation"),
    [
        ((), (), None),
        (("a",), (), ("a",)),
        (("a",), ("b", "a"), ("a", "b")),
        ((), ("b",), ("b",)),
    ],
)
def test_an_output_is_judged_by_its_suites_and_its_feeds_in_the_feeds_format(
    of_feed: tuple[str, ...], own: tuple[str, ...], validation: tuple[str, ...] | None
) -> None:
    feed = replace(FEED2, quality=Quality(suites=of_feed, format=DataFormat.CSV))
    outputs = {"output1": Output(feed="feed2", instance="today(0,0)", suites=own)}
    site = ProcessSite(process=process(outputs=outputs), cluster=cluster(), feeds={"feed2": feed})
    expected = None if validation is None else Quality(suites=validation, format=DataFormat.CSV)
    assert site.quality_of("output1") == expected


def test_partition_filters_join_keys_and_partitions() -> None:
    partitions = [{"ds": "A", "region": "us"}, {"ds": "B", "region": "us"}]
    assert partition_filter(partitions, FilterForm.HIVE) == "(ds='A' AND region='us') OR (ds='B' AND region='us')"
    assert partition_filter(partitions, FilterForm.PIG) == "(ds=='A' AND region=='us') OR (ds=='B' AND region=='us')"


def test_a_quote_in_a_partition_value_stays_inside_its_quotes() -> None:
    assert partition_filter([{"ds": "it's \\ 1"}], FilterForm.HIVE) == "(ds='it\\'s \\\\ 1')"


def test_both_ends_of_a_range_are_floored_to_instances_and_included() -> None:
    found = planned(Input(feed="feed1", start="now(-2,5)", end="now(0,-1)"), FEED1)
    assert [path[-13:] for path in found.paths()] == ["2012-03-01-04", "2012-03-01-05", "2012-03-01-06"]


def test_what_lies_before_the_feeds_validity_is_not_read() -> None:
    young = path_feed("feed1", "/d/${YEAR}-${MONTH}-${DAY}-${HOUR}", start="2012-03-01T05:00Z")
    found = planned(Input(feed="feed1", start="now(-9,0)", end="now(0,0)"), young)
    assert found.paths() == ("/d/2012-03-01-05", "/d/2012-03-01-06")


def test_a_compulsory_input_waits_for_what_is_missing() -> None:
    there = {parse_instant("2012-03-01T00:00Z")}
    found = planned(Input(feed="feed1", start="today(0,0)", end="today(1,0)"), FEED1, {"feed1": there})
    assert found.paths() == ()
    assert found.waiting is not None
    assert found.waiting.missing == (parse_instant("2012-03-01T01:00Z"),)


def test_an_optional_input_takes_what_is_there() -> None:
    there = {parse_instant("2012-03-01T00:00Z")}
    each = Input(feed="feed1", start="today(0,0)", end="today(1,0)", optional=True)
    found = planned(each, FEED1, {"feed1": there})
    assert (found.paths(), found.waiting) == (("/projects/bootcamp/feed1/2012-03-01-00",), None)


def test_a_missing_optional_input_is_an_empty_list_and_says_so() -> None:
    each = Input(feed="feed1", start="today(0,0)", end="today(1,0)", optional=True)
    properties = input_properties(planned(each, FEED1, {"feed1": set()}))
    assert (properties["input1"], properties["falcon_input1_missing"]) == ("", "true")


def test_the_newest_available_instances_are_read_oldest_first() -> None:
    there = {parse_instant(f"2012-03-01T0{hour}:00Z") for hour in (1, 2, 5, 6)}
    found = planned(Input(feed="feed1", start="latest(-2)", end="latest(0)"), FEED1, {"feed1": there})
    assert [path[-2:] for path in found.paths()] == ["02", "05", "06"]


@pytest.mark.parametrize("optional", [True, False])
def test_too_few_available_instances_wait_unless_the_input_is_optional(optional: bool) -> None:  # noqa: FBT001
    each = Input(feed="feed1", start="latest(-2)", end="latest(0)", optional=optional)
    found = planned(each, FEED1, {"feed1": {parse_instant("2012-03-01T01:00Z")}})
    assert (found.paths(), found.waiting is None) == ((), optional)


def test_side_locations_are_properties_of_their_own_without_the_partition() -> None:
    properties = input_properties(
        planned(Input(feed="feed1", start="now(0,0)", end="now(0,0)", partition="*/US"), FEED1)
    )
    assert properties["input1.stats"] == "/stats/2012"
    assert "input1.meta" not in properties


def test_a_path_feed_has_no_partitions_and_a_table_feed_no_paths() -> None:
    table = planned(Input(feed="clicks", start="now(0,0)", end="now(0,0)"), CLICKS)
    assert (table.paths(), table.partitions) == ((), ({"ds": "2012-03-01-06"},))
    path = planned(Input(feed="feed1", start="now(0,0)", end="now(0,0)"), FEED1)
    assert (path.paths(LocationType.META), path.partitions) == ((), ())


def test_an_output_before_the_feeds_first_instance_is_an_error() -> None:
    outputs = {"output1": Output(feed="feed2", instance="lastYear(0,0,0,0)")}
    young = path_feed("feed2", "/d/${YEAR}-${MONTH}-${DAY}", "days(1)", start="2012-01-01T00:00Z")
    site = ProcessSite(process=process(outputs=outputs), cluster=cluster(), feeds={"feed2": young})
    with pytest.raises(ElError, match="expected an instance from 2012-01-01T00:00Z on"):
        site.outputs(NOMINAL)


def ended_daily(end: str) -> Feed:
    feed = path_feed("feed2", "/d/${YEAR}-${MONTH}-${DAY}", "days(1)")
    return replace(feed, clusters=(FeedCluster(name="primary", validity=validity(end=end)),))


@pytest.mark.parametrize("instance", ["today(0,0)", "now(0,0)"])
def test_a_run_after_the_feeds_end_does_not_write_its_last_instance_again(instance: str) -> None:
    feeds = {"feed2": ended_daily("2012-03-01T00:00Z")}
    site = ProcessSite(
        process=process(outputs={"output1": Output(feed="feed2", instance=instance)}), cluster=cluster(), feeds=feeds
    )
    (before,) = site.outputs(parse_instant("2012-02-29T23:40Z"))
    assert before.instance.paths[LocationType.DATA] == "/d/2012-02-29"
    with pytest.raises(ElError, match="after the last instance of feed2, expected an instance up to 2012-02-29T00:00Z"):
        site.outputs(parse_instant("2012-03-01T00:40Z"))


def test_the_last_instance_is_written_until_the_next_one_would_begin() -> None:
    feeds = {"feed2": ended_daily("2012-02-29T12:00Z")}
    outputs = {"output1": Output(feed="feed2", instance="now(0,0)")}
    site = ProcessSite(process=process(outputs=outputs), cluster=cluster(), feeds=feeds)
    (output,) = site.outputs(parse_instant("2012-02-29T23:40Z"))
    assert output.instance.paths[LocationType.DATA] == "/d/2012-02-29"


def test_variables_in_the_partition_of_an_input_have_values() -> None:
    feed = replace(FEED1, properties={"fraud": "no"})
    found = planned(
        Input(feed="feed1", start="today(0,0)", end="today(0,0)", partition="${fraud}/${cluster.colo}"), feed
    )
    assert found.paths() == ("/projects/bootcamp/feed1/2012-03-01-00/no/gs",)


@pytest.mark.parametrize("partition", ["*/${region}", "*/${YEAR}"])
def test_a_partition_of_an_input_with_anything_unknown_is_refused(partition: str) -> None:
    with pytest.raises(ElError, match="the input input1 of sample"):
        planned(Input(feed="feed1", start="today(0,0)", end="today(0,0)", partition=partition), FEED1)
