"""Runs that the ledger never saw: inferred from the entities where data is there that only they can have written."""

from __future__ import annotations

import pytest

from tests.contract.lineage.histories import History, named
from tests.unit.entities.config_repo import repository
from toolkit.ledger.vocabulary import EventKind
from toolkit.lineage.graph import LineageGraph
from toolkit.lineage.impact import impact
from toolkit.lineage.instance_lineage import InstanceId, instance_graph

pytestmark = pytest.mark.both_databases

FEED = """\
kind: feed
name: {name}
frequency: hours(1)
locations: {{data: "/data/{name}/${{YEAR}}/${{MONTH}}/${{DAY}}/${{HOUR}}"}}
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
"""
PROCESS = """\
kind: process
name: {name}
frequency: hours(1)
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2099-01-01T00:00Z}}}}]
inputs: {{{source}: {{feed: {source}, start: "now({ago},0)", end: "now(0,0)"}}}}
outputs: {{{target}: {{feed: {target}, instance: "now(0,0)"}}}}
workflow: {{engine: spark_sql, path: workflows/{name}.sql}}
"""
REPO = repository(
    {
        "processes/clicks_hourly.yaml": None,
        **{f"feeds/{each}.yaml": FEED.format(name=each) for each in "abc"},
        "processes/p.yaml": PROCESS.format(name="p", source="a", target="b", ago=-1),
        "processes/q.yaml": PROCESS.format(name="q", source="b", target="c", ago=0),
        "workflows/p.sql": "SELECT 1",
        "workflows/q.sql": "SELECT 1",
    }
)
HOUR = 5
A, B, C = (named(each, HOUR) for each in "abc")
BEFORE = named("a", HOUR - 1)
INFERRED = f"run:inferred/p@primary/{A.key}"


def graph_of(history: History, start: InstanceId) -> LineageGraph:
    return history.ledger.read(lambda tx: instance_graph(tx, REPO, start))


def pairs(graph: LineageGraph) -> set[tuple[str, str]]:
    return {(each.source, each.target) for each in graph.edges}


def test_a_run_is_inferred_from_its_output_and_has_the_inputs_of_its_process(history: History) -> None:
    reader = history.work("q", HOUR, [B], [C])
    wanted = {
        (BEFORE.vertex_id, INFERRED),
        (A.vertex_id, INFERRED),
        (INFERRED, B.vertex_id),
        (B.vertex_id, f"run:{reader}"),
        (f"run:{reader}", C.vertex_id),
    }
    assert pairs(graph_of(history, C)) == wanted
    assert graph_of(history, C).vertices[INFERRED].facts["inferred"] == "true"
    assert pairs(graph_of(history, A)) == wanted - {(BEFORE.vertex_id, INFERRED)}


def test_data_from_outside_that_a_process_makes_has_an_inferred_run(history: History) -> None:
    history.report(EventKind.AVAILABLE, B)
    assert (A.vertex_id, INFERRED) in pairs(graph_of(history, A))
    assert impact_of(history, A) == [("feedctl", "backfill", "p", "--start", A.key)]


def impact_of(history: History, start: InstanceId) -> list[tuple[str, ...]]:
    return [each[:5] for each in history.ledger.read(lambda tx: impact(tx, REPO, start)).commands]


def test_what_has_not_run_yet_is_not_inferred(history: History) -> None:
    history.report(EventKind.AVAILABLE, A)
    assert pairs(graph_of(history, A)) == set()


def test_a_run_that_the_ledger_has_is_not_inferred_too(history: History) -> None:
    history.kill(history.begin("p", HOUR, [A]))
    history.report(EventKind.AVAILABLE, B)
    assert pairs(graph_of(history, B)) == set()


def test_an_inferred_run_that_contradicts_the_history_is_left_out(history: History) -> None:
    history.work("q", HOUR, [B], [A])
    vertices = graph_of(history, A).vertices
    assert INFERRED not in vertices
    assert {A.vertex_id, B.vertex_id} <= set(vertices)
