"""Events and names of OpenLineage: valid by the specification, one dataset for each feed, whatever its names are."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.lineage_events.schemas import faults
from tests.unit.entities.config_repo import repository
from toolkit.el import CanonicalPath
from toolkit.entities import Repository
from toolkit.ledger.lineage import InstanceEdge
from toolkit.ledger.lineage_reports import ReportedColumn, RunReport
from toolkit.ledger.runs.rows import RunKey
from toolkit.ledger.validations import StoredFinding
from toolkit.ledger.vocabulary import LifeCycle, LineageDirection, LineageRelationKind, RunStatus
from toolkit.lineage.dataset_names import feed_dataset, path_dataset, topic_dataset
from toolkit.lineage.entity_lineage import entity_graph
from toolkit.lineage.openlineage import EventFactory, static_events
from toolkit.runs.recorder import RecordedRun

AT = datetime(2026, 3, 1, 12, 0, 0, 5000, tzinfo=UTC)
LONG = "validity: {start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}"
HDFS = """\
kind: cluster
name: {0}
interfaces:
  write: {{endpoint: "hdfs://nn.{0}.com"}}
  registry: {{endpoint: "thrift://hms.{0}.com"}}
  iceberg: {{type: hive, uri: "thrift://hms.{0}.com:9083", warehouse: /warehouse}}
"""
INGEST = """\
    ingest:
      source: {kafka: hits, group: feedctl, bootstrap: "kafka.example.com:9092, other:1"}
      format: {type: json}
      columns: [{name: at, type: timestamp}, {name: amount, type: "decimal(9,2)"}]
      event_time: at
"""
FILES: dict[str, str | None] = {
    "repo.yaml": "name: web\nowners: [data@example.com]\n",
    "clusters/primary.yaml": HDFS.format("primary"),
    "clusters/backup.yaml": HDFS.format("backup"),
    "feeds/clicks.yaml": "kind: feed\nname: clicks\nowner: web-team\nfrequency: hours(1)\n"
    'locations: {data: "/data/clicks/${YEAR}-${MONTH}-${DAY}/${HOUR}"}\n'
    f"clusters: [{{name: primary, type: source, {LONG}}}, {{name: backup, type: target, {LONG}}}]\n",
    "feeds/daily.yaml": "kind: feed\nname: daily\nfrequency: days(1)\n"
    'table: "catalog:web:daily#ds=${YEAR}-${MONTH}-${DAY}"\n'
    f"clusters: [{{name: primary, {LONG}}}]\n",
    "feeds/hits.yaml": "kind: feed\nname: hits\nfrequency: days(1)\n"
    'table: "catalog:web:hits#ds=${YEAR}-${MONTH}-${DAY}"\n'
    f"clusters:\n  - name: primary\n    {LONG}\n{INGEST}",
    "processes/clicks_hourly.yaml": None,
    "processes/sum.yaml": "kind: process\nname: sum\nowner: web-team\nfrequency: days(1)\n"
    f"clusters: [{{name: primary, {LONG}}}]\n"
    'inputs: {clicks: {feed: clicks, start: "today(0,0)", end: "today(23,0)"}}\n'
    'outputs: {daily: {feed: daily, instance: "today(0,0)"}}\nworkflow: {engine: spark_sql, path: sum.sql}\n',
}
KEY = RunKey(life_cycle=LifeCycle.EXECUTION, entity="sum", cluster="primary", instance_key="2026-02-28T00:00Z")
RUN = RecordedRun(key=KEY, run_id=7, attempt=2)
CALL = str(uuid.uuid4())


def factory_of(found: Repository, commit: str | None = None) -> EventFactory:
    return EventFactory(repository=found, commit=commit, action="process", call=CALL, ledger="f" * 32)


def edge(feed: str, key: str, uri: str | None = None, fingerprint: str | None = None) -> InstanceEdge:
    return InstanceEdge(
        run_id=7,
        direction=LineageDirection.INPUT,
        feed=feed,
        cluster="primary",
        instance_key=key,
        at=AT,
        uri=uri,
        fingerprint=fingerprint,
    )


@pytest.fixture(scope="module")
def web() -> Repository:
    return repository(FILES)


def hours(count: int) -> list[InstanceEdge]:
    return [edge("clicks", f"2026-02-28T{hour:02}:00Z", f"hdfs://nn/{hour:02}", "f" * 64) for hour in range(count)]


REPORT = RunReport(
    status=RunStatus.SUCCEEDED,
    reads=hours(24),
    writes=[edge("daily", "2026-02-28T00:00Z")],
    findings={
        ("daily", "primary"): [
            StoredFinding(
                suite="s",
                position=0,
                type="expect_column_values_to_not_be_null",
                column_name="amount",
                severity="critical",
                success=False,
                observed="3",
                rows=10,
                unexpected=3,
                examples=("secret",),
                error="",
                kwargs={},
            )
        ]
    },
    columns=[
        ReportedColumn("clicks", "amount", "web.daily", "total", LineageRelationKind.AGGREGATE),
        ReportedColumn("clicks", "country", "web.daily", "", LineageRelationKind.CONDITION),
        ReportedColumn("other.rates", "rate", "web.daily", "total", LineageRelationKind.DIRECT),
        ReportedColumn("/rates", "rate", "web.daily", "total", LineageRelationKind.DIRECT),
        ReportedColumn("clicks", "amount", "web.other", "x", LineageRelationKind.DIRECT),
    ],
)


def plain(facet: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facet.items() if not name.startswith("_")}


def test_all_instances_of_a_feed_are_one_dataset_with_their_keys_in_a_facet(web: Repository) -> None:
    event = factory_of(web).run_event("COMPLETE", RUN, AT, REPORT)
    assert faults(event) == []
    ((read,), (wrote,)) = event["inputs"], event["outputs"]
    assert (read["namespace"], read["name"]) == ("hdfs://nn.primary.com:8020", "/data/clicks")
    assert (wrote["namespace"], wrote["name"]) == ("hive://hms.primary.com:9083", "web.daily")
    instances = read["facets"]["feedctl_instances"]
    assert (instances["feed"], instances["count"], len(instances["instances"])) == ("clicks", 24, 24)
    assert instances["instances"][3] == {
        "instanceKey": "2026-02-28T03:00Z",
        "uri": "hdfs://nn/03",
        "fingerprint": "f" * 64,
    }
    assert [each["name"] for each in read["facets"]["ownership"]["owners"]] == ["web-team"]


def test_a_complete_event_has_the_gates_and_the_columns_and_never_a_value(web: Repository) -> None:
    event = factory_of(web).run_event("COMPLETE", RUN, AT, REPORT)
    facets = event["outputs"][0]["facets"]
    (assertion,) = facets["dataQualityAssertions"]["assertions"]
    assert assertion == {
        "assertion": "expect_column_values_to_not_be_null",
        "success": False,
        "column": "amount",
        "severity": "critical",
        "params": {},
    }
    assert "secret" not in json.dumps(event)
    lineage = facets["columnLineage"]
    fields = [
        (each["namespace"], each["name"], each["field"], each["transformations"][0]["subtype"])
        for each in lineage["fields"]["total"]["inputFields"]
    ]
    assert sorted(fields) == [
        ("hdfs://nn.primary.com:8020", "/data/clicks", "amount", "AGGREGATION"),
        ("hdfs://nn.primary.com:8020", "/rates", "rate", "TRANSFORMATION"),
        ("hive://hms.primary.com:9083", "other.rates", "rate", "TRANSFORMATION"),
    ]
    assert list(lineage["fields"]) == ["total"]
    assert [(each["field"], each["transformations"][0]["type"]) for each in lineage["dataset"]] == [
        ("country", "INDIRECT")
    ]


def test_run_and_job_have_nominal_time_parent_owner_commit_and_reason(web: Repository) -> None:
    factory = factory_of(web, "c0ffee")
    event = factory.run_event("FAIL", RUN, AT, reason="step main failed")
    assert faults(event) == []
    run, job = event["run"]["facets"], event["job"]["facets"]
    assert (event["eventTime"], event["job"]["namespace"], event["job"]["name"]) == (
        "2026-03-01T12:00:00.005Z",
        "web",
        "sum",
    )
    assert plain(run["nominalTime"]) == {
        "nominalStartTime": "2026-02-28T00:00:00.000Z",
        "nominalEndTime": "2026-03-01T00:00:00.000Z",
    }
    assert run["parent"]["run"]["runId"] == CALL
    assert run["errorMessage"]["message"] == "step main failed"
    assert {each["key"]: each["value"] for each in run["executionParameters"]["parameters"]} == {
        "cluster": "primary",
        "instance_key": "2026-02-28T00:00Z",
        "attempt": "2",
        "run_id": "7",
    }
    assert job["sourceCodeLocation"]["version"] == "c0ffee"
    assert job["sourceCodeLocation"]["path"] == "processes/sum.yaml"
    assert [each["name"] for each in job["ownership"]["owners"]] == ["web-team"]
    assert [each["name"] for each in event["outputs"]] == ["web.daily"]


def test_a_copy_reads_the_source_cluster_and_an_eviction_reads_and_writes_nothing(web: Repository) -> None:
    copied = replace(KEY, entity="clicks", cluster="backup", counterpart="primary", life_cycle=LifeCycle.REPLICATION)
    event = factory_of(web).run_event("START", replace(RUN, key=copied), AT)
    assert event["job"]["name"] == "clicks.replication"
    assert [each["namespace"] for each in (*event["inputs"], *event["outputs"])] == [
        "hdfs://nn.primary.com:8020",
        "hdfs://nn.backup.com:8020",
    ]
    evicted = replace(copied, counterpart="", life_cycle=LifeCycle.EVICTION)
    event = factory_of(web).run_event("COMPLETE", replace(RUN, key=evicted), AT)
    assert (event["inputs"], event["outputs"]) == ([], [])
    assert faults(event) == []


def test_an_ingest_reads_its_topic_and_its_dataset_has_the_schema(web: Repository) -> None:
    key = replace(KEY, entity="hits", life_cycle=LifeCycle.INGEST)
    factory = factory_of(web)
    event = factory.run_event("COMPLETE", replace(RUN, key=key), AT)
    assert [(each["namespace"], each["name"]) for each in event["inputs"]] == [
        ("kafka://kafka.example.com:9092", "hits")
    ]
    (dataset,) = factory.dataset_events([("hits", "primary")], AT)
    for each in (event["outputs"][0], dataset["dataset"]):
        fields = [(field["name"], field["type"]) for field in each["facets"]["schema"]["fields"]]
        assert fields == [("at", "timestamp"), ("amount", "decimal(9,2)")]
    assert faults(event) == faults(dataset) == []


def test_a_graph_is_an_event_for_each_process_and_each_dataset(web: Repository) -> None:
    events = static_events(entity_graph(web), web, AT)
    assert [fault for each in events for fault in faults(each)] == []
    assert [each["job"]["name"] for each in events if "job" in each] == ["sum"]
    assert [each["dataset"]["name"] for each in events if "dataset" in each] == [
        "/data/clicks",
        "/data/clicks",
        "web.daily",
        "web.hits",
    ]


HOSTILE = ['"</script>', "a\nb", "[x](y)", "\u202egnp", "x" * 10_000, "\0", "\ud800"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_values_of_one_line_of_json(web: Repository, text: str) -> None:
    """Keys, URIs and reasons come from ledgers and stores; names of entities cannot be so."""
    report = RunReport(reads=[edge("clicks", text, text)], writes=[edge(text, text, text)])
    key = replace(KEY, instance_key=text)
    event = factory_of(web).run_event("FAIL", replace(RUN, key=key), AT, report, text)
    line = json.dumps(event)
    assert ("\n" in line, json.loads(line)) == (False, event)
    assert faults(event) == []
    assert event["inputs"][0]["facets"]["feedctl_instances"]["instances"][0]["uri"] == text


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("/data/clicks/${YEAR}/${MONTH}", "/data/clicks"),
        ("/data/${YEAR}-${MONTH}/clicks", "/data/${YEAR}-${MONTH}/clicks"),
        ("/data/${YEAR}-${MONTH}/views", "/data/${YEAR}-${MONTH}/views"),
    ],
)
def test_a_feed_is_its_directory_unless_that_may_be_of_several(location: str, name: str) -> None:
    text = (FILES["feeds/clicks.yaml"] or "").replace("/data/clicks/${YEAR}-${MONTH}-${DAY}/${HOUR}", location)
    found = repository({**FILES, "feeds/clicks.yaml": text.replace("hours(1)", "months(1)")})
    assert feed_dataset(found.feeds["clicks"], found.clusters["primary"]).name == name


@pytest.mark.parametrize(
    ("uri", "namespace", "name"),
    [
        ("s3a://bucket/data/clicks", "s3://bucket", "data/clicks"),
        ("gs://bucket/data", "gs://bucket", "data"),
        ("abfss://box@account.dfs.core.windows.net/data", "abfss://box@account.dfs.core.windows.net", "data"),
        ("hdfs://nn.example.com:8020/data", "hdfs://nn.example.com:8020", "/data"),
        ("hdfs://nn.example.com:9000/data", "hdfs://nn.example.com:9000", "/data"),
        ("hdfs://nameservice1/data", "hdfs://nameservice1", "/data"),
        ("file:///data", "file", "/data"),
    ],
)
def test_a_path_is_named_by_its_store(uri: str, namespace: str, name: str) -> None:
    assert path_dataset(CanonicalPath.parse(uri)) == (namespace, name)


def test_a_topic_is_named_by_its_first_broker() -> None:
    assert topic_dataset("hits", "one:9093,two:9093") == ("kafka://one:9093", "hits")
