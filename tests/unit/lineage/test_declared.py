"""Lineage that a program declares: feedctl's own form, and events of OpenLineage as its specification has them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.lineage.test_statements import found_in
from toolkit.foreign_json import BadJson
from toolkit.lineage.columns import Schemas
from toolkit.lineage.declared import declared_lineage

SCHEMAS = Schemas(paths={"/data/clicks": "clicks"})
CLICKS = {"namespace": "hdfs://nn:8020", "name": "/data/clicks/2026"}
WAREHOUSE = {"namespace": "hdfs://nn:8020", "name": "/warehouse/mart.db/report"}


def direct(column: str, subtype: str = "IDENTITY", kind: str = "DIRECT") -> dict[str, Any]:
    """An input field of a facet."""
    return {**CLICKS, "field": column, "transformations": [{"type": kind, "subtype": subtype, "masking": False}]}


EVENT: dict[str, Any] = {
    "eventTime": "2026-03-01T00:00:00Z",
    "eventType": "COMPLETE",
    "producer": "https://github.com/OpenLineage/OpenLineage/tree/1.40.0/integration/spark",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "01941908-0000-7000-8000-000000000000"},
    "job": {"namespace": "default", "name": "report.execute_insert_into"},
    "inputs": [CLICKS],
    "outputs": [
        {
            **WAREHOUSE,
            "facets": {
                "symlinks": {"identifiers": [{"namespace": "hive://ms:9083", "name": "Mart.Report", "type": "TABLE"}]},
                "columnLineage": {
                    "fields": {
                        "Page": {"inputFields": [direct("URL")]},
                        "n": {"inputFields": [direct("n", "AGGREGATION"), direct("kind", "CONDITIONAL", "INDIRECT")]},
                        "old": {"inputFields": [{**CLICKS, "field": "old"}]},
                    },
                    "dataset": [direct("url", "GROUP_BY", "INDIRECT")],
                },
            },
        }
    ],
}
FOUND = {
    ("clicks.url", "mart.report.page", "direct"),
    ("clicks.n", "mart.report.n", "aggregate"),
    ("clicks.kind", "mart.report.n", "condition"),
    ("clicks.old", "mart.report.old", "direct"),
    ("clicks.url", "mart.report", "condition"),
}


def lines(*events: object) -> bytes:
    return "\n".join(map(json.dumps, events)).encode()


def test_events_of_spark_give_the_columns_of_tables_and_feeds_once() -> None:
    start = {**EVENT, "eventType": "START", "outputs": [WAREHOUSE]}
    found, queries = declared_lineage(lines(start, EVENT, EVENT), SCHEMAS)

    assert found_in(tuple(found)) == FOUND
    assert (len(found), queries) == (1, [])


def test_the_events_that_spark_wrote_are_read() -> None:
    """The file is of Spark 4.1.4 and openlineage-spark 1.53.0.

    It has DataFrames, an INSERT by SQL, and a write that failed, of which the listener wrote START, FAIL and COMPLETE.
    """
    data = Path(__file__).with_name("spark_events.jsonl").read_bytes()
    paths = {"/site/data/clicks": "clicks", "/site/data/counts/2026": "counts"}
    found, queries = declared_lineage(data, Schemas(paths=paths))

    assert found_in(tuple(found)) == {
        ("clicks.url", "counts", "condition"),
        ("clicks.kind", "counts", "condition"),
        ("clicks.url", "counts.page", "direct"),
        ("clicks.n", "counts.n", "aggregate"),
        ("counts.n", "mart.report", "condition"),
        ("counts.page", "mart.report.page", "direct"),
        ("counts.n", "mart.report.total", "direct"),
        ("mart.report.page", "/site/data/sizes/2026.page", "direct"),
        ("mart.report.total", "/site/data/sizes/2026.size", "condition"),
    }
    assert (len(found), queries, {each.unknown for each in found}) == (3, [], {""})


@pytest.mark.parametrize("end", ["FAIL", "ABORT"])
def test_a_statement_that_failed_has_no_lineage_though_its_start_names_the_columns(end: str) -> None:
    start = {**EVENT, "eventType": "START"}
    other = {**EVENT, "run": {"runId": "01941908-0000-7000-8000-000000000001"}, "outputs": [WAREHOUSE]}

    assert declared_lineage(lines(start, {**EVENT, "eventType": end}), SCHEMAS) == ([], [])
    assert len(declared_lineage(lines(start, {**other, "eventType": end}), SCHEMAS)[0]) == 1


@pytest.mark.parametrize("value", [None, 1, [1], {"inputFields": [{}]}, {"inputFields": 3}])
def test_an_event_that_is_not_as_the_specification_has_it_is_refused(value: object) -> None:
    event = copy.deepcopy(EVENT)
    event["outputs"][0]["facets"]["columnLineage"]["fields"]["n"] = value

    with pytest.raises(BadJson, match="OpenLineage is not as its specification"):
        declared_lineage(lines(event), SCHEMAS)


def test_a_declaration_has_queries_and_columns_of_tables_and_paths() -> None:
    source = {"table": "hdfs://nn/data/clicks/x", "column": "N", "kind": "aggregate"}
    columns = [{"target": {"table": "Mart.Report", "column": "Total"}, "sources": [source]}]
    found, queries = declared_lineage(lines({"queries": ["SELECT 1"], "columns": columns}), SCHEMAS)

    assert found_in(tuple(found)) == {("clicks.n", "mart.report.total", "aggregate")}
    assert queries == ["SELECT 1"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"x",
        b"[]",
        b"{}",
        b'{"queries": [1]}',
        b'{"columns": [{"target": {"table": ""}, "sources": []}]}',
        b"[" * 9999,
    ],
)
def test_what_is_no_declaration_is_refused(text: bytes) -> None:
    if text:
        with pytest.raises(BadJson):
            declared_lineage(text, SCHEMAS)
    else:
        assert declared_lineage(text, SCHEMAS) == ([], [])


def test_an_error_about_a_declaration_has_no_text_of_it() -> None:
    with pytest.raises(BadJson, match="at queries: what is there is not of type") as error:
        declared_lineage(b'{"queries": "SELECT \'hunter2\'"}', SCHEMAS)
    assert "hunter2" not in str(error.value)
