"""Properties of a workflow: the specification's worked configurations, and whose value a name has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.planning.entities import REGISTRY, cluster, path_feed, process, table_feed
from toolkit.el import ElError, parse_instant
from toolkit.entities import Feed, Input, Interface, Output, Properties
from toolkit.planning.process_io import ProcessSite
from toolkit.planning.process_properties import instance_properties

NOMINAL = parse_instant("2012-03-01T06:40Z")
FEED1 = path_feed("feed1", "/projects/bootcamp/feed1/${YEAR}-${MONTH}-${DAY}-${HOUR}")
FEED2 = path_feed("feed2", "/projects/bootcamp/feed2/${YEAR}-${MONTH}-${DAY}", frequency="days(1)")


def reported(
    *feeds: Feed,
    inputs: dict[str, Input] | None = None,
    outputs: dict[str, Output] | None = None,
    properties: Properties | None = None,
    of_cluster: Properties | None = None,
    nominal: str = "2012-03-01T06:40Z",
    timezone: str = "UTC",
) -> dict[str, str]:
    """The properties of an instance of which all inputs are there."""
    instant = parse_instant(nominal)
    site = ProcessSite(
        process=replace(process(inputs, outputs, timezone=timezone), properties=properties or {}),
        cluster=replace(cluster(), properties=of_cluster or {}),
        feeds={feed.name: feed for feed in feeds},
    )
    return dict(instance_properties(site, instant, site.inputs(instant), site.outputs(instant)))


def test_an_instance_over_paths_is_told_all_that_the_specification_names() -> None:
    found = reported(
        FEED1,
        FEED2,
        inputs={"input1": Input(feed="feed1", start="today(0,0)", end="today(1,0)", partition="*/US")},
        outputs={"output1": Output(feed="feed2", instance="today(0,0)")},
        properties={"queueName": "hadoopQueue", "jobPriority": "VERY_HIGH", "time": "${instanceTime()}"},
        of_cluster={"brokerImplClass": "org.apache.activemq.ActiveMQConnectionFactory"},
    )
    read = "/projects/bootcamp/feed1/2012-03-01-00/*/US,/projects/bootcamp/feed1/2012-03-01-01/*/US"
    assert found == {
        "brokerImplClass": "org.apache.activemq.ActiveMQConnectionFactory",
        "cluster.colo": "gs",
        "cluster.name": "primary",
        "entityName": "sample",
        "falconInPaths": read,
        "falconInputFeeds": "feed1",
        "falconInputNames": "input1",
        "falcon_input1_missing": "false",
        "falcon_input1_storage_type": "FILESYSTEM",
        "falcon_output1_storage_type": "FILESYSTEM",
        "feedInstancePaths": "/projects/bootcamp/feed2/2012-03-01",
        "feedNames": "feed2",
        "input1": read,
        "input1.stats": "/stats/2012",
        "jobPriority": "VERY_HIGH",
        "nameNode": "file:///",
        "nominalTime": "2012-03-01T06:40Z",
        "output1": "/projects/bootcamp/feed2/2012-03-01",
        "output1.stats": "/stats/2012",
        "queueName": "hadoopQueue",
        "time": "2012-03-01T06:40Z",
    }


def test_the_specifications_configuration_of_tables() -> None:
    found = reported(
        table_feed("clicks-raw-table", "catalog:falcon_db:input_table#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"),
        table_feed("clicks-summary-table", "catalog:falcon_db:output_table#ds=${YEAR}-${MONTH}-${DAY}-${HOUR}"),
        inputs={"input": Input(feed="clicks-raw-table", start="today(0,0)", end="today(0,0)")},
        outputs={"output": Output(feed="clicks-summary-table", instance="today(0,0)")},
        nominal="2012-04-21T06:40Z",
    )
    written_in_the_specification = {
        "falcon_input_database": "falcon_db",
        "falcon_input_table": "input_table",
        "falcon_input_catalog_url": REGISTRY,
        "falcon_input_storage_type": "TABLE",
        "falcon_input_partition_filter_java": "(ds='2012-04-21-00')",
        "falcon_input_partition_filter_hive": "(ds='2012-04-21-00')",
        "falcon_input_partition_filter_pig": "(ds=='2012-04-21-00')",
        "falcon_output_database": "falcon_db",
        "falcon_output_table": "output_table",
        "falcon_output_catalog_url": REGISTRY,
        "falcon_output_storage_type": "TABLE",
        "falcon_output_dataout_partitions": "'ds=2012-04-21-00'",
        "feedInstancePaths": "hcat://localhost:29083/falcon_db/output_table/ds=2012-04-21-00",
        "input_filter": "(ds='2012-04-21-00')",
    }
    assert found["output.ds"] == "2012-04-21-00"
    assert written_in_the_specification.items() <= found.items()


def test_the_job_tracker_is_told_where_the_cluster_has_one() -> None:
    interfaces = replace(cluster().interfaces, execute=Interface(endpoint="localhost:8021"))
    site = ProcessSite(process=process(), cluster=replace(cluster(), interfaces=interfaces), feeds={})
    assert instance_properties(site, NOMINAL, (), ())["jobTracker"] == "localhost:8021"


def test_lists_of_feeds_follow_the_order_of_the_process() -> None:
    reads = {
        "late": Input(feed="feed2", start="today(0,0)", end="today(0,0)"),
        "early": Input(feed="feed1", start="now(-1,0)", end="now(0,0)"),
    }
    outputs = {"a": Output(feed="feed2", instance="today(0,0)"), "b": Output(feed="feed1", instance="now(0,0)")}
    found = reported(FEED1, FEED2, inputs=reads, outputs=outputs)
    assert (found["falconInputNames"], found["falconInputFeeds"]) == ("late#early", "feed2#feed1")
    assert found["falconInPaths"] == f"{found['late']}#{found['early']}"
    assert (found["feedNames"], found["feedInstancePaths"]) == ("feed2,feed1", f"{found['a']},{found['b']}")


def test_an_undated_place_is_told_once_for_a_range_of_instances() -> None:
    locations = FEED1.locations
    assert locations is not None
    feed = replace(FEED1, locations=replace(locations, meta="/projects/falcon/clicksMetaData"))
    found = reported(feed, inputs={"input1": Input(feed="feed1", start="today(0,0)", end="today(5,0)")})
    assert found["input1.meta"] == "/projects/falcon/clicksMetaData"


def test_the_process_sets_a_property_of_its_cluster_anew() -> None:
    found = reported(properties={"queueName": "own"}, of_cluster={"queueName": "default", "codec": "gzip"})
    assert (found["queueName"], found["codec"]) == ("own", "gzip")


def test_what_feedctl_sets_cannot_be_replaced() -> None:
    hostile = {"nominalTime": "noon", "nameNode": "hdfs://other", "input1": "/other"}
    reads = {"input1": Input(feed="feed1", start="now(0,0)", end="now(0,0)")}
    found = reported(FEED1, inputs=reads, properties=hostile, of_cluster=hostile)
    assert [found[name] for name in hostile] == ["2012-03-01T06:40Z", "file:///", found["falconInPaths"]]


def test_functions_in_a_property_are_instants_of_the_process_and_other_texts_stay() -> None:
    text = "from ${today(0,0)} to ${ now(-1, 0) }, ${threshold}, $HOME, now(0,0)"
    found = reported(properties={"range": text, "fast": True}, timezone="Europe/Berlin")
    assert found["range"] == "from 2012-02-29T23:00Z to 2012-03-01T05:40Z, ${threshold}, $HOME, now(0,0)"
    assert found["fast"] == "true"


@pytest.mark.parametrize("value", ["${instancetime()}", "${latest(0)}", "${now(0)}"])
def test_a_call_that_has_no_value_is_an_error_and_not_a_text(value: str) -> None:
    with pytest.raises(ElError):
        reported(properties={"time": value})


@pytest.mark.parametrize(
    ("endpoint", "read"),
    [
        ("hdfs://Service1", "hdfs://Service1/projects/bootcamp/feed1/2012-03-01-00"),
        ("s3a://bucket/", "s3a://bucket/projects/bootcamp/feed1/2012-03-01-00"),
        ("file:///mnt/lake", "/mnt/lake/projects/bootcamp/feed1/2012-03-01-00"),
    ],
)
def test_paths_are_on_the_file_system_of_the_cluster_as_its_entity_writes_it(endpoint: str, read: str) -> None:
    interfaces = replace(cluster().interfaces, write=Interface(endpoint=endpoint))
    site = ProcessSite(process=process(), cluster=replace(cluster(), interfaces=interfaces), feeds={})
    assert site.qualified("/projects/bootcamp/feed1/2012-03-01-00") == read
    assert site.qualified("hdfs://other/a") == "hdfs://other/a"
